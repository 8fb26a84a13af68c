// Mints, lists and revokes API keys. Nobody mints more than they hold.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { listKind, type PageParameters } from '../../changes/list.ts';
import { getEntity, requireVersion } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { ApiError, invalidField, notFound } from '../../lib/errors.ts';
import { readTime } from '../../lib/time.ts';
import { apiKeyKind, type ApiKeyCreate } from './schema.ts';
import { mintToken } from './token.ts';

/** Revoked keys stay listed: they are part of who did what. */
export function listApiKeys(ctx: Context, page: PageParameters) {
  return listKind(ctx, apiKeyKind, page, { order: [{ sql: 'created_at', direction: 'desc' }] });
}

export async function getApiKey(ctx: Context, id: string) {
  return apiKeyKind.wire(await getEntity(ctx, apiKeyKind, id), ctx);
}

/** @throws ApiError forbidden when a scope is asked that the minter lacks */
export async function createApiKey(ctx: Context, input: Static<typeof ApiKeyCreate>): Promise<ChangeSet> {
  const missing = input.scopes.filter((scope) => !ctx.scopes.has(scope));
  if (missing.length > 0)
    throw new ApiError('forbidden', `A key cannot have more than its minter: ${missing.join(', ')}.`);
  const { memberId } = ctx.actor;
  if (memberId === undefined) throw new ApiError('forbidden', 'Only a member can mint keys.');
  const now = ctx.nowMs();
  const expiresAt = input.expiresAt == null ? null : readTime(input.expiresAt, 'expiresAt');
  if (expiresAt !== null && expiresAt <= now)
    throw invalidField('expiresAt', 'too_small', 'Give a time in the future.');
  const token = mintToken();
  const change = apiKeyKind.create({
    id: ctx.ids.next('apiKey'),
    name: input.name,
    prefix: token.prefix,
    secretHash: token.hash,
    scopes: input.scopes,
    memberId,
    expiresAt,
    revokedAt: null,
    createdAt: now,
    updatedAt: now,
  });
  return {
    changes: [change],
    body: { ...apiKeyKind.wire(change.after, ctx), key: token.text },
    status: 201,
    location: `${ctx.baseUrl}/api/v1/api-keys/${change.id}`,
  };
}

/** Revoking takes effect with the answer; a second time there is nothing left to revoke. */
export async function revokeApiKey(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const key = await getEntity(ctx, apiKeyKind, id);
  if (key.revokedAt !== null) throw notFound();
  requireVersion(key, ifMatch);
  const change = apiKeyKind.update(key, { revokedAt: ctx.nowMs() }, ctx.nowMs());
  return { changes: change ? [change] : [], body: undefined };
}
