// Keys that somebody else made for a member. Whoever made one may have it still: when the member rises to owner, those that no owner
// made end, or who made them would have risen as well.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { tenantStatement, type Row } from '../../store/statement.ts';
import { tenantOp, type Op } from '../../store/store.ts';
import { callingMember } from '../members/roles.ts';
import { apiKeyKind } from './kind.ts';

const handedKeys = tenantStatement<Row>(
  'api_keys.handed',
  `SELECT ${apiKeyKind.select} FROM api_keys WHERE workspace_id = :ws AND member_id = :member AND revoked_at IS NULL
   AND minted_by <> member_id AND NOT EXISTS (SELECT 1 FROM members AS m WHERE m.workspace_id = :ws AND m.id = api_keys.minted_by
     AND m.role = 'owner' AND m.deleted_at IS NULL)`,
);
const stillNoOwner = tenantStatement(
  'members.still_no_owner',
  "UPDATE members SET version = version WHERE workspace_id = :ws AND id = :id AND role <> 'owner'",
);

/** What ends them, for the commit by which the member becomes an owner. */
export async function endHandedKeys(ctx: Context, memberId: string): Promise<Change[]> {
  const now = ctx.nowMs();
  const rows = await ctx.store.read(ctx.scope, handedKeys, { member: memberId });
  return rows.flatMap((row) => apiKeyKind.update(apiKeyKind.fromRow(row), { revokedAt: now }, now) ?? []);
}

/** Goes with a key that is made. Where no owner makes it for another, it fails if that one has become an owner meanwhile. */
export async function handingOps(ctx: Context, memberId: string): Promise<Op[]> {
  if (memberId === ctx.authority.actor.memberId || (await callingMember(ctx))?.role === 'owner') return [];
  return [tenantOp(ctx.scope, stillNoOwner, { id: memberId }, { expectRows: 1 })];
}
