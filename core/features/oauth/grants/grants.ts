// Lists, narrows and revokes grants. No operation here can extend a grant beyond the consent.
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { getEntity, requireVersion, updated } from '../../../kernel/changes/operations.ts';
import type { Patch } from '../../../kernel/contract/contract.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError, invalidField, notFound } from '../../../platform/lib/errors/errors.ts';
import { defineResource } from '../../../kernel/resource/define.ts';
import type { Rules } from '../../../kernel/resource/operations.ts';
import { expandScopes } from '../../../kernel/rights/table.ts';
import type { Condition } from '../../../platform/store/page.ts';
import { callingMember, isAdmin } from '../../people/index.ts';
import { grant } from '../contract.ts';
import { grantModel, type Grant } from './model.ts';

const rules: Rules<typeof grant, Grant> = {
  admits: requireVisible,
  where: visibleWhere,
};
export const grants = defineResource(grant, grantModel, {
  ...rules,
  operations: { update: narrowGrant, delete: revokeGrant },
});

/** @throws ApiError forbidden for a caller that does not act for a member */
async function requireCaller(ctx: Context) {
  const caller = await callingMember(ctx);
  if (!caller)
    throw new ApiError('forbidden', 'Only members have grants. Use the API key or token of a member.');
  return caller;
}

async function visibleWhere(ctx: Context): Promise<Condition[]> {
  const caller = await requireCaller(ctx);
  return isAdmin(caller) ? [] : [{ sql: 'member_id = :caller', params: { caller: caller.id } }];
}

/** @throws ApiError forbidden; not_found for the grant of another member, so that its existence is not disclosed */
async function requireVisible(ctx: Context, { memberId }: Grant): Promise<void> {
  const caller = await requireCaller(ctx);
  if (memberId !== caller.id && !isAdmin(caller)) throw notFound();
}

function requireOwnOfApp({ authority: { actor } }: Context, { clientId, memberId }: Grant): void {
  if (actor.kind !== 'app' || (actor.id === clientId && actor.memberId === memberId)) return;
  throw new ApiError(
    'forbidden',
    'An app can change and revoke only its own grant. Use a session or an API key for other grants.',
  );
}

async function findLive(ctx: Context, id: string): Promise<Grant> {
  const found = await getEntity(ctx, grantModel, id);
  await requireVisible(ctx, found);
  requireOwnOfApp(ctx, found);
  return found;
}

/** @throws ApiError validation_failed for an update that would widen the grant; conflict for an ended grant */
async function narrowGrant(
  ctx: Context,
  id: string,
  patch: Patch<typeof grant>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const before = await findLive(ctx, id);
  if (before.revokedAt !== null)
    throw new ApiError('conflict', 'This grant has ended. The app must ask the member for consent again.');
  const { scopes = before.scopes, guarded = before.guarded } = patch;
  const grantedScopes = expandScopes(before.scopes);
  const more = scopes.findIndex((scope) => !grantedScopes.has(scope));
  if (more >= 0)
    throw invalidField(`scopes.${more}`, 'invalid_enum', {
      why: `The grant does not have ${scopes[more]}.`,
      fix: 'Give only scopes that the grant has. More scopes need a new consent of the member.',
    });
  const missing = before.guarded.filter((word) => !guarded.includes(word));
  if (missing.length > 0)
    throw invalidField('guarded', 'invalid_enum', {
      why: `The grant requires approval for: ${missing.join(', ')}.`,
      fix: 'Give these classes as well. The removal of a class needs a new consent of the member.',
    });
  return updated(ctx, grantModel, before, { scopes, guarded }, ifMatch);
}

/** Takes effect before the response; a second call throws not_found. */
async function revokeGrant(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const found = await findLive(ctx, id);
  if (found.revokedAt !== null) throw notFound();
  requireVersion(found, ifMatch);
  const change = grantModel.update(found, { revokedAt: ctx.nowMs() }, ctx.nowMs());
  return { changes: change ? [change] : [], body: undefined };
}
