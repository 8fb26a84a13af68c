// Operations on members. A removed member stays assigned to issues. The last owner cannot be removed.
import type { ChangeSet } from '../../kernel/changes/change.ts';
import type { RevocationEffects } from '../../kernel/changes/delegation.ts';
import { getEntity } from '../../kernel/changes/operations.ts';
import type { Context, Directory } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { addressAdvice, addressKey } from '../../platform/lib/address.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { idByName } from '../../kernel/resource/input.ts';
import { plainOperations, type Rules } from '../../kernel/resource/operations.ts';
import type { Role } from '../../kernel/rights/roles.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp, type Op } from '../../platform/store/store.ts';
import { removeMembershipOp } from './accounts.ts';
import { withdrawOp } from './invitations.ts';
import { team } from '../teams/contract.ts';
import { invitationRoutes } from './inviting.ts';
import { endDelegated, endHandedToOwner, stillMayOp } from './delegation.ts';
import { member, roles } from './contract.ts';
import { memberModel, type Member } from './model.ts';
import { nameProblem, requireMayChange } from './roles.ts';
import { memberTable } from './tables.ts';

const byEmail = memberTable.select('by_email', ['id'], ['email_key'], 'AND deleted_at IS NULL');
const otherOwners = tenantStatement<{ id: string }>(
  'members.other_owners',
  "SELECT id FROM members WHERE workspace_id = :ws AND role = 'owner' AND deleted_at IS NULL AND id <> :id LIMIT 1",
);

/** Fails a commit that would leave no owner, also if concurrent commits each remove one. */
const ownerRemains = tenantStatement(
  'members.owner_remains',
  `UPDATE members SET version = version WHERE workspace_id = :ws AND id =
     (SELECT id FROM members WHERE workspace_id = :ws AND role = 'owner' AND deleted_at IS NULL LIMIT 1)`,
);

const rules: Rules<typeof member, Member> = {
  sets: ({ directory }, { teams }) => (teams === undefined ? {} : { teams: teamIds(directory, teams) }),
  follows({ directory }, { teams, role }) {
    if (teams !== undefined) return { teams: teamIds(directory, teams) };
    // A member who is no longer a guest sees all teams.
    return role === undefined || role === 'guest' ? {} : { teams: [] };
  },
  async check(ctx, after, before) {
    await requireMayChange(ctx, before, after);
    if (after.role !== 'guest' && after.teams.length > 0)
      throw invalidField('teams', 'conflict', {
        why: `A member with the role ${after.role} sees all teams.`,
        fix: 'Leave `teams` out, or make the member a guest.',
      });
    requireOwnName(ctx, after, before);
    const { id, email } = after;
    if (email === null || email === before?.email) return;
    const key = addressKey(email);
    if (key === null)
      throw invalidField('email', 'invalid_format', {
        why: 'This address is invalid, or contains characters that can be mistaken for others.',
        fix: addressAdvice,
      });
    const holder = await byEmail.one(ctx.store, ctx.scope, { email_key: key });
    if (holder && holder.id !== id)
      throw invalidField('email', 'already_exists', {
        why: 'Another member has this address.',
        fix: 'Give another address, or omit `email`.',
      });
  },
};
const plain = plainOperations(member, memberModel, rules);

export const members = defineResource(member, memberModel, {
  ...rules,
  routes: invitationRoutes,
  operations: {
    async create(ctx, body, parentId) {
      return withOps(await plain.create(ctx, body, parentId), [stillMayOp(ctx)]);
    },
    async update(ctx, id, patch, ifMatch) {
      const before = await getEntity(ctx, memberModel, id);
      const { role = before.role, email = before.email } = patch;
      const plainSet = await plain.update(ctx, id, patch, ifMatch);
      const endsInvitation = before.joinedAt === null && (role !== before.role || email !== before.email);
      const set = endsInvitation ? withOps(plainSet, [withdrawOp(ctx.scope, id)]) : plainSet;
      const rise = roles.indexOf(role) - roles.indexOf(before.role);
      if (rise < 0) return withRemainingOwner(ctx, before, ending(set, await afterLoss(ctx, before, role)));
      if (role === before.role && patch.teams === undefined) return set;
      if (rise === 0 || role !== 'owner') return withOps(set, [stillMayOp(ctx)]);
      // An admin may have a key of this member, which would get the rights of an owner.
      return withOps(ending(set, await endHandedToOwner(ctx, id)), [stillMayOp(ctx)]);
    },
    async delete(ctx, id, ifMatch) {
      const before = await getEntity(ctx, memberModel, id);
      await requireMayChange(ctx, before, null);
      const set = await plain.delete(ctx, id, ifMatch);
      const gone = ending(set, await afterLoss(ctx, before, null));
      const left = withOps(gone, [removeMembershipOp(ctx.scope, id), withdrawOp(ctx.scope, id)]);
      return withRemainingOwner(ctx, before, left);
    },
  },
});

function withOps(set: ChangeSet, ops: readonly Op[]): ChangeSet {
  return { ...set, ops: [...(set.ops ?? []), ...ops] };
}

/** @param role new role; null for a removed member */
function afterLoss(ctx: Context, { id, name }: Member, role: Role | null): Promise<RevocationEffects> {
  return endDelegated(ctx, { member: { id, name, role }, name, keyIds: [] });
}

function ending(set: ChangeSet, { changes, ops }: RevocationEffects): ChangeSet {
  return withOps({ ...set, changes: [...set.changes, ...changes] }, ops);
}

/** @throws ApiError validation_failed */
function requireOwnName(
  ctx: Context,
  after: { readonly id: string; readonly name: string },
  before: Member | null,
): void {
  if (after.name === before?.name) return;
  // Members cannot take the name of an admin. An admin may give that name to another member.
  const others = after.id === ctx.actor.memberId ? ctx.directory.members : null;
  const problem = nameProblem(after, others);
  if (problem) throw invalidField('name', problem.code, { why: problem.why, fix: problem.fix });
}

/** @throws ApiError validation_failed */
function teamIds(directory: Directory, names: readonly string[]): string[] {
  return [...new Set(names.map((name, index) => idByName(directory, team, name, `teams.${index}`)))];
}

/** @throws ApiError conflict */
async function withRemainingOwner(ctx: Context, { id, role }: Member, set: ChangeSet): Promise<ChangeSet> {
  if (role !== 'owner') return set;
  if (!(await ctx.store.readOne(ctx.scope, otherOwners, { id })))
    throw new ApiError('conflict', 'This is the last owner. Make another member an owner first.');
  return withOps(set, [tenantOp(ctx.scope, ownerRemains, {}, { expectRows: 1 })]);
}
