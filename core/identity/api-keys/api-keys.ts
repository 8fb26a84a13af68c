// API keys: minted, listed, rolled, revoked. Nobody mints more than they hold.
import { Type, type Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity, isoTime, requireVersion } from '../../changes/operations.ts';
import { idOrName } from '../../contract/field.ts';
import { shownProperties } from '../../contract/schemas.ts';
import type { Context } from '../../context.ts';
import { defineRoute } from '../../http/route.ts';
import { invalidField, notFound } from '../../lib/errors.ts';
import { Closed, described, enumeration, idOf, named, nullable, time } from '../../lib/schema.ts';
import { hourMs, readTime } from '../../lib/time.ts';
import { defineResource } from '../../resource/define.ts';
import { allScopes } from '../../rights/scopes.ts';
import { lossOfKey } from '../losses.ts';
import { member } from '../members/contract.ts';
import { isPresent } from '../members/roles.ts';
import { apiKey } from './contract.ts';
import { handingOps, makerOf } from './handed.ts';
import { requireHeld, requireHolder, requireNotRolled } from './holders.ts';
import { apiKeyKind, newKey } from './kind.ts';
import { graceHoursDefault, graceHoursMax, rollKey } from './roll.ts';

const scopeGiven = enumeration('Scope', allScopes, 'Such as `issues:read`; write implies read.');
const expiry = nullable(
  Type.String({
    maxLength: 40,
    description: 'ISO 8601 time in the future; null or absent never expires.',
  }),
);
const ApiKeyCreate = named(
  'ApiKeyCreate',
  Closed({
    name: Type.Unsafe<string>(apiKey.fields.name.given),
    scopes: Type.Array(scopeGiven, {
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'What it may do: no more than the key that mints it.',
    }),
    memberId: Type.Optional(
      described(
        idOrName(member),
        'The member whom the key acts for; by default its minter. Only admins and owners mint for others.',
      ),
    ),
    expiresAt: Type.Optional(expiry),
  }),
);
const ApiKeyRoll = named(
  'ApiKeyRoll',
  Closed({
    graceHours: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: graceHoursMax,
        description: `How long the old key goes on: ${graceHoursDefault} hours by default; 0 revokes it at once.`,
      }),
    ),
    expiresAt: Type.Optional(
      nullable(
        Type.String({
          maxLength: 40,
          description:
            'When the successor expires: an ISO 8601 time in the future, or null for never. By default it lives as long as the old key was made to.',
        }),
      ),
    ),
  }),
);
const minted = {
  ...shownProperties(apiKey),
  key: Type.String({ description: 'The whole key. It is shown this once.' }),
};
const ApiKeyMinted = named('ApiKeyMinted', Closed(minted));
const ApiKeyRolled = named(
  'ApiKeyRolled',
  Closed({
    ...minted,
    previous: Closed(
      { id: idOf(apiKey.id), expiresAt: nullable(time), revokedAt: nullable(time) },
      { description: 'The old key, and when it ends.' },
    ),
  }),
);

export const apiKeys = defineResource(apiKey, apiKeyKind, {
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
      summary: 'Mint an API key; the key is shown once',
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
      summary: 'Replace an API key; its successor is shown once',
      description:
        'The successor has the same name, scopes and member. The old key goes on for the grace and ends then.',
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

/** @throws ApiError forbidden when a scope or a member is asked that the minter may not give */
async function mintApiKey(ctx: Context, input: Static<typeof ApiKeyCreate>): Promise<ChangeSet> {
  const { name, scopes } = input;
  await requireNotRolled(ctx);
  requireHeld(ctx, scopes);
  const memberId = input.memberId ?? ctx.actor.memberId ?? '';
  await requireHolder(ctx, memberId);
  if (!isPresent(ctx, memberId))
    throw invalidField(
      'memberId',
      'not_found',
      'Give the id of a member, as GET /api/v1/members lists them.',
    );
  const expiresAt = readExpiry(input.expiresAt ?? null);
  const { change, text: key } = newKey(ctx, { name, scopes, memberId, expiresAt, maker: makerOf(ctx) });
  return {
    changes: [change],
    ops: handingOps(ctx, memberId),
    body: { ...apiKeyKind.wire(change.after, ctx), key },
    status: 201,
    location: placeOf(ctx, change.id),
  };
}

/** @throws ApiError forbidden, conflict for a key that has ended, was rolled before, or whose member was removed */
async function rollApiKey(
  ctx: Context,
  id: string,
  { graceHours = graceHoursDefault, expiresAt }: Static<typeof ApiKeyRoll>,
): Promise<ChangeSet> {
  const key = await getEntity(ctx, apiKeyKind, id);
  await requireNotRolled(ctx, id);
  await requireHolder(ctx, key.memberId);
  requireHeld(ctx, key.scopes);
  const {
    changes,
    successor,
    old,
    text: shown,
  } = rollKey(ctx, key, {
    graceMs: Math.round(graceHours * hourMs),
    maker: makerOf(ctx),
    ...(expiresAt === undefined ? {} : { expiresAt: readExpiry(expiresAt) }),
  });
  const previous = { id, expiresAt: isoTime(old.expiresAt), revokedAt: isoTime(old.revokedAt) };
  return {
    changes,
    ops: handingOps(ctx, key.memberId),
    body: { ...apiKeyKind.wire(successor, ctx), key: shown, previous },
    status: 201,
    location: placeOf(ctx, successor.id),
  };
}

function placeOf({ baseUrl }: Context, id: string): string {
  return `${baseUrl}/api/v1/api-keys/${id}`;
}

/** @throws ApiError validation_failed */
function readExpiry(given: string | null): number | null {
  return given === null ? null : readTime(given, 'expiresAt');
}

/** Takes effect with the answer; a second time there is nothing left to revoke. Revoked keys stay listed, being part of who did what. */
async function revokeApiKey(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const key = await getEntity(ctx, apiKeyKind, id);
  if (key.revokedAt !== null) throw notFound();
  await requireNotRolled(ctx, id);
  await requireHolder(ctx, key.memberId);
  requireVersion(key, ifMatch);
  const change = apiKeyKind.update(key, { revokedAt: ctx.nowMs() }, ctx.nowMs());
  if (!change) return { changes: [], body: undefined };
  const { changes, ops } = await lossOfKey(ctx, key);
  return { changes: [change, ...changes], ops, body: undefined };
}
