// Grants: their model, their creation by consent, and the operations on them. No operation can extend a grant
// beyond the consent.
import { lastUsedIn, type CreationDeps, callingMember, isAdmin } from '../people/index.ts';
import { flag, plain, getEntity, requireVersion, updated } from '../../kernel/changes/operations.ts';
import type { Change, ChangeSet } from '../../kernel/changes/change.ts';
import type { GuardedClass } from '../../platform/lib/guarded-classes.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { systemOp } from '../../platform/store/store.ts';
import { grant, type ClientType } from './contract.ts';
import type { Patch } from '../../kernel/contract/contract.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError, invalidField, notFound } from '../../platform/lib/errors/errors.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import type { Rules } from '../../kernel/resource/operations.ts';
import { expandScopes } from '../../kernel/rights/table.ts';
import type { Condition } from '../../platform/store/page.ts';

/**
 * Returns a SQL condition that is true if the client of a grant exists. Every look-up of a grant for a token
 * uses the condition, so that the grants of a deleted client are invalid from the commit of the deletion,
 * before `grant-ending.ts` revokes them.
 * @param grants alias of the table in the statement
 */
export function clientIsThere(grants: string): string {
  return `CASE ${grants}.client_kind
    WHEN 'app' THEN substr(${grants}.client_id, 1, 4) <> 'app_'
      OR EXISTS (SELECT 1 FROM oauth_apps AS a WHERE a.id = ${grants}.client_id AND a.deleted_at IS NULL)
    WHEN 'registered' THEN EXISTS (SELECT 1 FROM oauth_clients AS c WHERE c.id = ${grants}.client_id)
    ELSE 1 END`;
}

export const setGrantUsed = lastUsedIn('grants');

const stored = {
  clientId: plain<string>('client_id'),
  clientName: plain<string>('client_name'),
  clientKind: plain<ClientType>('client_kind'),
  clientVerified: flag('client_verified'),
};
type Grant = EntityOf<typeof grant, typeof stored>;

const markUsed = systemStatement(
  'oauth_clients.mark_used',
  'a client that registered itself belongs to the installation',
  'UPDATE oauth_clients SET used = 1 WHERE id = :id',
);

export const grantModel = modelOf(grant, {
  table: 'grants',
  stored,
  shows: {
    client: ({ clientId, clientName, clientKind, clientVerified }) => ({
      id: clientId,
      name: clientName,
      kind: clientKind,
      verified: clientVerified,
    }),
  },
  events(before, after) {
    if (!before) return ['grant.created'];
    return [before.revokedAt === after.revokedAt ? 'grant.updated' : 'grant.revoked'];
  },
  // Marks a self-registered client as used, so that it is not removed.
  related: (_, before, { clientKind, clientId }) =>
    before || clientKind !== 'registered' ? {} : { last: [systemOp(markUsed, { id: clientId })] },
});

export interface GrantTerms {
  readonly memberId: string;
  readonly client: {
    readonly id: string;
    readonly name: string;
    readonly kind: ClientType;
    /** True if an admin of this workspace registered the client, or the client is built in. */
    readonly verified: boolean;
  };
  /** Host or private-use scheme of the redirect URI; null for the device flow. */
  readonly redirectHost: string | null;
  readonly resource: 'api' | 'mcp';
  readonly scopes: readonly string[];
  readonly guarded: readonly GuardedClass[];
}

/**
 * Returns the change that creates a grant. Only the consent page may commit it, for a person who is signed in
 * as the member.
 */
export function newGrant(
  { ids, nowMs }: CreationDeps,
  { memberId, client, redirectHost, resource, scopes, guarded }: GrantTerms,
): Change & { readonly after: Grant } {
  const now = nowMs();
  return grantModel.create({
    id: ids.next(grant.id),
    memberId,
    redirectHost,
    resource,
    clientId: client.id,
    clientName: client.name,
    clientKind: client.kind,
    clientVerified: client.verified,
    scopes: [...new Set(scopes)],
    guarded: [...new Set(guarded)],
    lastUsedAt: null,
    revokedAt: null,
    createdAt: now,
    updatedAt: now,
  });
}

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
