// API keys: minted, listed, revoked. Nobody mints more than they hold.
import { Type, type Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { plain } from '../../changes/columns.ts';
import { getEntity, requireVersion } from '../../changes/operations.ts';
import { shownProperties } from '../../contract/schemas.ts';
import type { Context } from '../../context.ts';
import { defineRoute } from '../../http/route.ts';
import { ApiError, invalidField, notFound } from '../../lib/errors.ts';
import { Closed, enumeration, named, nullable } from '../../lib/schema.ts';
import { readTime } from '../../lib/time.ts';
import { defineResource } from '../../resource/define.ts';
import { kindOf } from '../../resource/kind.ts';
import { allScopes } from '../../rights/scopes.ts';
import { apiKey } from './contract.ts';
import { mintToken } from './token.ts';

export const apiKeyKind = kindOf(apiKey, {
  table: 'api_keys',
  kept: { secretHash: plain<string>('secret_hash') },
  events: (before) => (before ? ['api_key.revoked'] : ['api_key.created']),
});

const scopeGiven = enumeration('Scope', allScopes, 'Such as `issues:read`; write implies read.');
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
    expiresAt: Type.Optional(
      nullable(
        Type.String({
          maxLength: 40,
          description: 'ISO 8601 time in the future; null or absent never expires.',
        }),
      ),
    ),
  }),
);
const ApiKeyMinted = named(
  'ApiKeyMinted',
  Closed({
    ...shownProperties(apiKey),
    key: Type.String({ description: 'The whole key. It is shown this once.' }),
  }),
);

export const apiKeys = defineResource(apiKey, apiKeyKind, {
  operations: { delete: revokeApiKey },
  routes: [
    defineRoute({
      method: 'POST',
      path: '/api/v1/api-keys',
      name: 'api-keys.create',
      summary: 'Mint an API key; the key is shown once',
      scope: 'api-keys:write',
      limit: 'write',
      body: ApiKeyCreate,
      example: { name: 'CI', scopes: ['issues:read', 'issues:write'] },
      errors: ['forbidden'],
      responses: { 201: ApiKeyMinted },
      secret: true,
      write: (ctx, { body }) => mintApiKey(ctx, body),
    }),
  ],
});

/** @returns the change that makes a key, and its text, which is nowhere else */
export function newKey(
  { ids, nowMs }: Pick<Context, 'ids' | 'nowMs'>,
  key: { name: string; scopes: readonly string[]; memberId: string; expiresAt: number | null },
) {
  const token = mintToken();
  const now = nowMs();
  const change = apiKeyKind.create({
    ...key,
    scopes: [...key.scopes],
    id: ids.next(apiKey.id),
    prefix: token.prefix,
    secretHash: token.hash,
    revokedAt: null,
    createdAt: now,
    updatedAt: now,
  });
  return { change, text: token.text };
}

/** @throws ApiError forbidden when a scope is asked that the minter lacks */
async function mintApiKey(ctx: Context, input: Static<typeof ApiKeyCreate>): Promise<ChangeSet> {
  const missing = input.scopes.filter((scope) => !ctx.scopes.has(scope));
  if (missing.length > 0)
    throw new ApiError('forbidden', `A key cannot have more than its minter: ${missing.join(', ')}.`);
  const { memberId } = ctx.actor;
  if (memberId === undefined) throw new ApiError('forbidden', 'Only a member can mint keys.');
  const now = ctx.nowMs();
  const expiresAt = input.expiresAt == null ? null : readTime(input.expiresAt, 'expiresAt');
  if (expiresAt !== null && expiresAt <= now)
    throw invalidField('expiresAt', 'too_small', 'Give a time in the future.');
  const { change, text } = newKey(ctx, { name: input.name, scopes: input.scopes, memberId, expiresAt });
  return {
    changes: [change],
    body: { ...apiKeyKind.wire(change.after, ctx), key: text },
    status: 201,
    location: `${ctx.baseUrl}/api/v1/api-keys/${change.id}`,
  };
}

/** Takes effect with the answer; a second time there is nothing left to revoke. Revoked keys stay listed, being part of who did what. */
async function revokeApiKey(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const key = await getEntity(ctx, apiKeyKind, id);
  if (key.revokedAt !== null) throw notFound();
  requireVersion(key, ifMatch);
  const change = apiKeyKind.update(key, { revokedAt: ctx.nowMs() }, ctx.nowMs());
  return { changes: change ? [change] : [], body: undefined };
}
