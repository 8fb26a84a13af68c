// Members. A removed member keeps the issues; only the last owner cannot be removed.
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { defineResource } from '../../resource/define.ts';
import { kindOf } from '../../resource/kind.ts';
import { plainOperations, type Rules } from '../../resource/operations.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import { member } from './contract.ts';

const byEmail = tenantStatement<{ id: string }>(
  'members.by_email',
  'SELECT id FROM members WHERE workspace_id = :ws AND lower(email) = lower(:email) AND email IS NOT NULL AND deleted_at IS NULL',
);
const otherOwners = tenantStatement<{ id: string }>(
  'members.other_owners',
  "SELECT id FROM members WHERE workspace_id = :ws AND role = 'owner' AND deleted_at IS NULL AND id <> :id LIMIT 1",
);

/** Fails the batch that would leave no owner, whatever else commits at the same time. */
const ownerRemains = tenantStatement(
  'members.owner_remains',
  `UPDATE members SET version = version WHERE workspace_id = :ws AND id =
     (SELECT id FROM members WHERE workspace_id = :ws AND role = 'owner' AND deleted_at IS NULL LIMIT 1)`,
);

export const memberKind = kindOf(member);
type Member = NonNullable<Awaited<ReturnType<typeof memberKind.find>>>;

const rules: Rules<typeof member, Member> = {
  async check(ctx, { id, email }, before) {
    if (email === null || email === before?.email) return;
    const holder = await ctx.store.readOne(ctx.scope, byEmail, { email });
    if (holder && holder.id !== id)
      throw invalidField('email', 'already_exists', {
        why: 'Another member has this address.',
        fix: 'Give another one, or leave it out.',
      });
  },
};
const plain = plainOperations(member, memberKind, rules);

export const members = defineResource(member, memberKind, {
  ...rules,
  operations: {
    async update(ctx, id, patch, ifMatch) {
      const set = await plain.update(ctx, id, patch, ifMatch);
      return patch.role === undefined || patch.role === 'owner' ? set : keepingAnOwner(ctx, id, set);
    },
    delete: async (ctx, id, ifMatch) => keepingAnOwner(ctx, id, await plain.delete(ctx, id, ifMatch)),
  },
});

/** @throws ApiError conflict */
async function keepingAnOwner(ctx: Context, id: string, set: ChangeSet): Promise<ChangeSet> {
  const { role } = await getEntity(ctx, memberKind, id);
  if (role !== 'owner') return set;
  if (!(await ctx.store.readOne(ctx.scope, otherOwners, { id })))
    throw new ApiError('conflict', 'This is the last owner. Make another member an owner first.');
  return { ...set, ops: [tenantOp(ctx.scope, ownerRemains, {}, { expectRows: 1 })] };
}
