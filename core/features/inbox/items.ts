// Creates inbox items, one for each recipient, and archives or redacts those about a proposal.
import type { Change } from '../../kernel/changes/change.ts';
import type { Directory, Context } from '../../kernel/context.ts';
import { type Ids, firstIdOf } from '../../platform/lib/ids.ts';
import { inboxItem } from './contract.ts';
import { inboxItemModel, type InboxItem, type InboxItemResponse } from './model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import type { Op } from '../../platform/store/store.ts';
import { inboxItemTable } from './tables.ts';

interface Making {
  readonly ids: Ids;
  readonly nowMs: number;
}

export type InboxItemInput = Pick<
  InboxItem,
  'memberId' | 'reason' | 'kind' | 'title' | 'body' | 'target' | 'issueId' | 'issue'
> &
  Pick<InboxItem, 'actorKind' | 'actorId' | 'actorName'>;

export function newItem(input: InboxItemInput, { ids, nowMs }: Making): Change {
  return inboxItemModel.create({
    id: ids.next(inboxItem.id),
    ...input,
    count: 1,
    happenedAt: nowMs,
    readAt: null,
    archivedAt: null,
    snoozedUntil: null,
    createdAt: nowMs,
    updatedAt: nowMs,
  });
}

const nobody = { actorKind: null, actorId: null, actorName: null } as const;

type Item = Pick<InboxItemResponse, 'kind' | 'title' | 'body' | 'target'> & {
  readonly reason: 'webhook' | 'plugin' | 'system' | 'proposal';
};

/** Returns changes that notify admins and owners of a system action. Must be committed with that action. */
export function itemsForAdmins(
  item: Item,
  { directory, ...at }: Making & { readonly directory: Directory },
): Change[] {
  return itemsFor(adminsOf(directory), item, at);
}

export function itemsFor(memberIds: readonly string[], item: Item, at: Making): Change[] {
  const input = { ...item, issueId: null, issue: null, ...nobody };
  return memberIds.map((memberId) => newItem({ ...input, memberId }, at));
}

export function adminsOf({ members }: Directory): string[] {
  return [...members.values()]
    .filter(({ removed, role }) => !removed && (role === 'owner' || role === 'admin'))
    .map(({ id }) => id);
}

const ofTarget = tenantStatement<{ id: string }>(
  'inbox_items.of_proposal',
  `SELECT id FROM inbox_items INDEXED BY inbox_items_proposal
   WHERE workspace_id = :ws AND target_json = :target AND reason = 'proposal' AND archived_at IS NULL`,
);

/**
 * Finds archived items as well. Items are created within a minute of their proposal, so a range of ids
 * contains them all.
 */
const allOfTarget = tenantStatement<{ id: string }>(
  'inbox_items.all_of_proposal',
  `SELECT id FROM inbox_items WHERE workspace_id = :ws AND id > :first AND id < :last AND target_json = :target
     AND reason = 'proposal'`,
);
const createdWithinMs = 60_000;
const say = inboxItemTable.update('say', ['body'], ['id']);

/**
 * Returns statements that replace the body of every item about a proposal whose text is purged, archived ones
 * included.
 */
export async function withoutTextOfItems(
  ctx: Context,
  { target, createdAt }: { readonly target: InboxItem['target']; readonly createdAt: number },
  body: string,
): Promise<Op[]> {
  const [first, last] = [createdAt, createdAt + createdWithinMs].map((at) => firstIdOf(inboxItem.id, at));
  const rows = await ctx.store.read(ctx.scope, allOfTarget, {
    first: first!,
    last: last!,
    target: JSON.stringify(target),
  });
  return rows.map(({ id }) => say(ctx.scope, { id, body }));
}

/**
 * Archives the items about a decided proposal. The changes must be committed in the batch that decides it.
 */
export async function archiveItemsAbout(ctx: Context, target: InboxItem['target']): Promise<Change[]> {
  const rows = await ctx.store.read(ctx.scope, ofTarget, { target: JSON.stringify(target) });
  const items = await inboxItemModel.findMany(
    ctx,
    rows.map(({ id }) => id),
  );
  const now = ctx.nowMs();
  const put = { archivedAt: now, snoozedUntil: null };
  return items.flatMap(
    (item) => inboxItemModel.update(item, { ...put, readAt: item.readAt ?? now }, now) ?? [],
  );
}
