// Storage and events of inbox items. The timer of a snoozed item is set and cleared in the batch that changes
// the snooze.
import { plain } from '../../kernel/changes/operations.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { timerOp, type DueTimer } from '../../kernel/event-reactions/due-timers.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { defineList } from '../../kernel/changes/sources.ts';
import type { Context } from '../../kernel/context.ts';
import { issueModel } from '../issues/index.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { inboxItem } from './contract.ts';

export type InboxItemResponse = EntityResponse<typeof inboxItem>;

const timerName = 'inbox';

/** Runs before the events of its batch are appended, so the events of the change follow the noted sequence. */
const noteChange = tenantStatement(
  'inbox_changes.note',
  `INSERT INTO inbox_changes (workspace_id, id, after_sequence)
   VALUES (:ws, :memberId, (SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws))
   ON CONFLICT (workspace_id, id) DO UPDATE SET after_sequence = excluded.after_sequence`,
);

export const inboxItemModel = modelOf(inboxItem, {
  table: 'inbox_items',
  stored: { issueId: plain<string | null>('issue_id') },
  events(before, after) {
    if (!before) return ['inbox.item_created'];
    if (before.archivedAt === null && after.archivedAt !== null) return ['inbox.item_archived'];
    if (before.readAt === null && after.readAt !== null) return ['inbox.item_read'];
    return ['inbox.item_updated'];
  },
  related: (scope, before, { id, memberId, snoozedUntil }) => ({
    last: [
      tenantOp(scope, noteChange, { memberId }),
      ...((before?.snoozedUntil ?? null) === snoozedUntil
        ? []
        : [timerOp(scope, timerName, id, snoozedUntil)]),
    ],
  }),
});

/** Ids of the items about an issue, which the cache knows only while there are none. */
const itemsOfIssue = defineList<string>(issueModel.source, 'inbox_items', 'issue_id');

/** Returns true if the issue is known to have no items, archived ones included. */
export const hasNoItems = ({ entities, scope }: Context, issueId: string): boolean =>
  entities.get(itemsOfIssue, scope, issueId)?.length === 0;

export type InboxItem = NonNullable<Awaited<ReturnType<typeof inboxItemModel.find>>>;

/** Ends the snooze of an item, which becomes unread and moves to the top of the inbox. */
export const snoozeTimer: DueTimer = {
  name: timerName,
  isSetBy: ({ kind, after }) => kind === inboxItem.name && (after as InboxItem).snoozedUntil !== null,
  async fire(ctx, id) {
    const item = await inboxItemModel.find(ctx, id);
    if (!item || item.snoozedUntil === null) return { changes: [] };
    const now = ctx.nowMs();
    const change = inboxItemModel.update(item, { snoozedUntil: null, readAt: null, happenedAt: now }, now);
    return { changes: change ? [change] : [] };
  },
};
