import { Type, type Static } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity, isoTime, requireVersion } from '../../kernel/changes/operations.ts';
import { idOrName } from '../../kernel/contract/field.ts';
import { responseProperties } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { invalidField, notFound, ApiError } from '../../platform/lib/errors/errors.ts';
import {
  Closed,
  described,
  enumeration,
  idOf,
  namedSchema,
  nullable,
  time,
} from '../../platform/lib/schema.ts';
import { hourMs, readTime } from '../../platform/lib/time/time.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { allScopes, holderOf } from '../../kernel/rights/table.ts';
import { member } from '../people/contract.ts';
import { isPresent, callingMember, isAdmin, makerOf, memberModel } from '../people/index.ts';
import { apiKey } from './contract.ts';
import { afterRevocation, handingOps } from './handed.ts';
import { apiKeyModel, newKey, graceHoursDefault, graceHoursMax, rollKey } from './model.ts';
import { requirePerson } from '../../kernel/rights/rights.ts';

const scopeInput = enumeration(
  'Scope',
  allScopes,
  'Scope such as `issues:read`. A write scope implies the read scope.',
);
const expiry = nullable(
  Type.String({
    maxLength: 40,
    description:
      'Expiry of the key: an ISO 8601 time in the future. Null or absent means that the key never expires.',
  }),
);
const ApiKeyCreate = namedSchema(
  'ApiKeyCreate',
  Closed({
    name: Type.Unsafe<string>(apiKey.fields.name.input),
    scopes: Type.Array(scopeInput, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Scopes of the key, at most those of the credential that creates it.',
    }),
    memberId: Type.Optional(
      described(
        idOrName(member),
        'Member that the key acts for; defaults to the caller. Only admins and owners create keys for others.',
      ),
    ),
    expiresAt: Type.Optional(expiry),
  }),
);
const ApiKeyRoll = namedSchema(
  'ApiKeyRoll',
  Closed({
    graceHours: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: graceHoursMax,
        description: `Hours for which the old key stays valid, default ${graceHoursDefault}; 0 revokes it immediately.`,
      }),
    ),
    expiresAt: Type.Optional(
      nullable(
        Type.String({
          maxLength: 40,
          description:
            'Expiry of the successor: an ISO 8601 time in the future, or null for never. Defaults to the lifetime of the old key.',
        }),
      ),
    ),
  }),
);
const minted = {
  ...responseProperties(apiKey),
  key: Type.String({ description: 'Complete key, shown only in this response.' }),
};
const ApiKeyMinted = namedSchema('ApiKeyMinted', Closed(minted));
const ApiKeyRolled = namedSchema(
  'ApiKeyRolled',
  Closed({
    ...minted,
    previous: Closed(
      { id: idOf(apiKey.id), expiresAt: nullable(time), revokedAt: nullable(time) },
      { description: 'Old key, with its new `expiresAt` or `revokedAt`.' },
    ),
  }),
);

export const apiKeys = defineResource(apiKey, apiKeyModel, {
  where: (ctx) =>
    seesOwnAlone(ctx)
      ? [{ sql: 'member_id = :memberId', params: { memberId: ctx.authority.actor.memberId ?? '' } }]
      : [],
  async admits(ctx, { memberId }) {
    if (seesOwnAlone(ctx) && memberId !== ctx.authority.actor.memberId) throw notFound();
  },
  operations: { delete: revokeApiKey },
  routes: [
    defineRoute({
      method: 'POST',
      path: '/api/v1/api-keys',
      name: 'api-keys.create',
      summary: 'Create an API key; the key is shown once',
      scope: 'api-keys:write',
      rows: 'member',
      limit: 'write',
      body: ApiKeyCreate,
      example: { name: 'CI', scopes: ['issues:read', 'issues:write'] },
      errors: ['forbidden'],
      responses: { 201: ApiKeyMinted },
      secret: true,
      write: (ctx, { body }) => mintApiKey(ctx, body),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/api-keys/{id}/roll',
      name: 'api-keys.roll',
      summary: 'Roll an API key; the successor is shown once',
      description:
        'Creates a successor with the same name, scopes and member. The old key stays valid for `graceHours`.',
      scope: 'api-keys:write',
      rows: 'member',
      limit: 'write',
      params: Closed({ id: idOf(apiKey.id) }),
      body: ApiKeyRoll,
      example: { graceHours: 2 },
      errors: ['forbidden'],
      responses: { 201: ApiKeyRolled },
      secret: true,
      write: (ctx, { params, body }) => rollApiKey(ctx, params.id, body),
    }),
  ],
});

const seesOwnAlone = ({ narrowed }: Context): boolean => narrowed?.get('api-keys:read')?.own ?? false;

/**
 * Members create, roll and revoke keys for themselves, admins also for others, and only owners for owners. A
 * key has the rights of its member, so a key for a member with a higher role would raise the rights of the
 * caller.
 * @throws ApiError forbidden
 */
async function requireHolder(ctx: Context, memberId: string): Promise<void> {
  requirePerson(ctx, 'create, roll or revoke keys');
  const { memberId: callerId } = ctx.authority.actor;
  if (callerId === undefined)
    throw new ApiError(
      'forbidden',
      'Only a member can create, roll or revoke keys. Use the API key or token of a member.',
    );
  if (callerId === memberId) return;
  const [caller, holder] = await Promise.all([callingMember(ctx), memberModel.find(ctx, memberId)]);
  if (!isAdmin(caller))
    throw new ApiError(
      'forbidden',
      'Only an admin or an owner can create, roll or revoke the keys of another member. Ask one of them.',
    );
  if (holder?.role === 'owner' && caller?.role !== 'owner')
    throw new ApiError(
      'forbidden',
      'Only an owner can create, roll or revoke the keys of an owner. Ask an owner.',
    );
}

/**
 * A rolled key may only revoke or roll itself: it may have been rolled because it leaked, and must not create
 * keys that outlive it.
 * @param keyId key to revoke or roll; absent for a new key
 * @throws ApiError forbidden
 */
async function requireNotRolled(ctx: Context, keyId?: string): Promise<void> {
  const { kind, id } = ctx.authority.actor;
  if (kind !== 'api_key' || id === keyId) return;
  const caller = await apiKeyModel.find(ctx, id);
  if (caller && caller.replacedBy !== null)
    throw new ApiError(
      'forbidden',
      `This key was rolled and cannot create, roll or revoke other keys. Use its successor ${caller.replacedBy}.`,
    );
}

/** @throws ApiError forbidden for a scope that the caller does not have */
function requireCallerScopes(ctx: Context, scopes: readonly string[]): void {
  // The role of the member narrows the scope of the new key in the same way.
  const missing = scopes.filter((scope) => !ctx.scopes.has(scope) && !ctx.narrowed?.has(scope));
  const [first] = missing;
  if (first !== undefined)
    throw new ApiError(
      'forbidden',
      `A key cannot have more scopes than its creator: ${holderOf(ctx, first)} does not have ${missing.join(', ')}. Leave these scopes out.`,
    );
}

/** @throws ApiError forbidden for a scope or member that the caller may not give to a key */
async function mintApiKey(ctx: Context, input: Static<typeof ApiKeyCreate>): Promise<ChangeSet> {
  const { name, scopes } = input;
  await requireNotRolled(ctx);
  requireCallerScopes(ctx, scopes);
  const memberId = input.memberId ?? ctx.actor.memberId ?? '';
  await requireHolder(ctx, memberId);
  if (!isPresent(ctx, memberId))
    throw invalidField('memberId', 'not_found', 'Give the id of a member; GET /api/v1/members lists them.');
  const expiresAt = readExpiry(input.expiresAt ?? null);
  const { change, text: key } = newKey(ctx, { name, scopes, memberId, expiresAt, maker: makerOf(ctx) });
  return {
    changes: [change],
    ops: handingOps(ctx, memberId),
    body: { ...apiKeyModel.toResponse(change.after, ctx), key },
    status: 201,
    location: locationOf(ctx, change.id),
  };
}

/** @throws ApiError forbidden; conflict if the key has ended or was rolled before, or its member was removed */
async function rollApiKey(
  ctx: Context,
  id: string,
  { graceHours = graceHoursDefault, expiresAt }: Static<typeof ApiKeyRoll>,
): Promise<ChangeSet> {
  const key = await getEntity(ctx, apiKeyModel, id);
  await requireNotRolled(ctx, id);
  await requireHolder(ctx, key.memberId);
  requireCallerScopes(ctx, key.scopes);
  const {
    changes,
    successor,
    old,
    text: keyText,
  } = rollKey(ctx, key, {
    graceMs: Math.round(graceHours * hourMs),
    maker: makerOf(ctx),
    ...(expiresAt === undefined ? {} : { expiresAt: readExpiry(expiresAt) }),
  });
  const previous = { id, expiresAt: isoTime(old.expiresAt), revokedAt: isoTime(old.revokedAt) };
  return {
    changes,
    ops: handingOps(ctx, key.memberId),
    body: { ...apiKeyModel.toResponse(successor, ctx), key: keyText, previous },
    status: 201,
    location: locationOf(ctx, successor.id),
  };
}

function locationOf({ baseUrl }: Context, id: string): string {
  return `${baseUrl}/api/v1/api-keys/${id}`;
}

/** @throws ApiError validation_failed */
function readExpiry(text: string | null): number | null {
  return text === null ? null : readTime(text, 'expiresAt');
}

/**
 * Takes effect before the response; a second call throws not_found. Revoked keys stay listed, because the
 * audit log refers to them.
 */
async function revokeApiKey(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const key = await getEntity(ctx, apiKeyModel, id);
  if (key.revokedAt !== null) throw notFound();
  await requireNotRolled(ctx, id);
  await requireHolder(ctx, key.memberId);
  requireVersion(key, ifMatch);
  const change = apiKeyModel.update(key, { revokedAt: ctx.nowMs() }, ctx.nowMs());
  if (!change) return { changes: [], body: undefined };
  const { changes, ops } = await afterRevocation(ctx, key);
  return { changes: [change, ...changes], ops, body: undefined };
}
