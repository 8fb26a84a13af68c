// Adds, changes and removes members. A removed member keeps the issues; only the last owner cannot be removed.
import type { Static } from 'typebox';
import type { ChangeSet } from '../../changes/change.ts';
import { created, getEntity, removed, updated } from '../../changes/operations.ts';
import { listKind, notDeleted, type PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { tenantStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import { memberKind, type Member, type MemberCreate, type MemberUpdate } from './schema.ts';

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

export function listMembers(ctx: Context, page: PageParameters) {
  return listKind(ctx, memberKind, page, { where: [notDeleted] });
}

export async function getMember(ctx: Context, id: string) {
  return memberKind.wire(await getEntity(ctx, memberKind, id), ctx);
}

export async function createMember(ctx: Context, input: Static<typeof MemberCreate>): Promise<ChangeSet> {
  await requireFreeEmail(ctx, input.email ?? null, null);
  const now = ctx.nowMs();
  return created(
    ctx,
    memberKind,
    {
      id: ctx.ids.next('member'),
      name: input.name,
      email: input.email ?? null,
      role: input.role ?? 'member',
      createdAt: now,
      updatedAt: now,
      deletedAt: null,
    },
    'members',
  );
}

export async function updateMember(
  ctx: Context,
  id: string,
  patch: Static<typeof MemberUpdate>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const member = await getEntity(ctx, memberKind, id);
  if (patch.email !== undefined) await requireFreeEmail(ctx, patch.email, id);
  const set = updated(ctx, memberKind, member, patch, ifMatch);
  return patch.role === undefined || patch.role === 'owner' ? set : keepingAnOwner(ctx, member, set);
}

export async function removeMember(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const member = await getEntity(ctx, memberKind, id);
  return keepingAnOwner(ctx, member, removed(ctx, memberKind, member, ifMatch));
}

async function requireFreeEmail(ctx: Context, email: string | null, id: string | null): Promise<void> {
  const holder = email === null ? undefined : await ctx.store.readOne(ctx.scope, byEmail, { email });
  if (holder && holder.id !== id)
    throw invalidField('email', 'already_exists', 'Another member has this address.');
}

/** @throws ApiError conflict */
async function keepingAnOwner(ctx: Context, { id, role }: Member, set: ChangeSet): Promise<ChangeSet> {
  if (role !== 'owner') return set;
  if (!(await ctx.store.readOne(ctx.scope, otherOwners, { id })))
    throw new ApiError('conflict', 'This is the last owner. Make another member an owner first.');
  return { ...set, ops: [tenantOp(ctx.scope, ownerRemains, {}, { expectRows: 1 })] };
}
