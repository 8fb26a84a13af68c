// Current rights of an authority. Deferred work (one-time jobs, actions, open proposals) checks the rights
// again when it runs and when it commits, so that it stops when its credential ends.
import { type Authority, commonRights, type Rights } from '../../kernel/rights/rights.ts';
import { rightsForApp } from '../../kernel/rights/roles.ts';
import { expandScopes } from '../../kernel/rights/table.ts';
import { systemStatement, tenantStatement } from '../../platform/store/statement.ts';
import { systemOp, tenantOp, type Op, type Scope, type Store } from '../../platform/store/store.ts';
import { clientIsThere } from '../oauth/index.ts';
import { membershipOf } from '../people/index.ts';
import { tableOf } from '../tables.ts';

const liveKey = tenantStatement<{ scopes_json: string }>(
  'api_keys.scopes_now',
  `SELECT scopes_json FROM api_keys WHERE workspace_id = :ws AND id = :id AND revoked_at IS NULL
     AND (expires_at IS NULL OR expires_at > :now)`,
);
const liveGrant = systemStatement<{ scopes_json: string }>(
  'grants.scopes_now',
  'the client of a grant can belong to the installation',
  `SELECT g.scopes_json FROM grants AS g WHERE g.workspace_id = :workspace AND g.id = :id AND g.client_id = :client
     AND g.revoked_at IS NULL AND ${clientIsThere('g')}`,
);
const liveMember = tableOf.members.select('there_now', ['id'], ['id'], 'AND deleted_at IS NULL');

const memberInRole = tableOf.members.select('in_role', ['id'], ['id', 'role'], 'AND deleted_at IS NULL');

/**
 * @returns null after the key, grant or membership has ended; the original rights of an authority without a
 * member
 */
export async function rightsNow(
  store: Store,
  scope: Scope,
  authority: Authority & { readonly rights: Rights },
  nowMs: number,
): Promise<Rights | null> {
  const { actor, rights: had } = authority;
  if (actor.kind === 'plugin' || actor.memberId === undefined) return had;
  const membership = await membershipOf(store, scope, actor.memberId);
  if (!membership) return null;
  const rights = commonRights(had, membership.rights);
  if (actor.kind === 'user') return rights;
  const credential =
    actor.kind === 'app'
      ? (await store.readSystem(liveGrant, grantParams(scope, authority)))[0]
      : await store.readOne(scope, liveKey, { id: actor.id, now: nowMs });
  if (!credential) return null;
  const current = commonRights(rights, {
    scopes: expandScopes(JSON.parse(credential.scopes_json) as string[]),
    narrowed: null,
  });
  return actor.kind === 'app' ? rightsForApp(current) : current;
}

/** Returns operations that fail the commit if the key, grant or membership has ended. */
export function authorityGuards(scope: Scope, authority: Authority, nowMs: number): Op[] {
  const { kind, id, memberId } = authority.actor;
  if (kind === 'plugin' || memberId === undefined) return [];
  const once = { expectRows: 1 } as const;
  const member = tenantOp(scope, liveMember.statement, { id: memberId }, once);
  if (kind === 'api_key') return [member, tenantOp(scope, liveKey, { id, now: nowMs }, once)];
  return kind === 'app' ? [member, systemOp(liveGrant, grantParams(scope, authority), once)] : [member];
}

/** Returns the operation that fails the commit if a member left or has another role. */
export const roleGuard = (scope: Scope, member: { readonly id: string; readonly role: string }): Op =>
  tenantOp(scope, memberInRole.statement, member, { expectRows: 1 });

const grantParams = ({ workspaceId }: Scope, { actor, grantId }: Authority) => ({
  workspace: workspaceId,
  id: grantId ?? '',
  client: actor.id,
});
