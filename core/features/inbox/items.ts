// Creates inbox items, one for each recipient.
import type { Change } from '../../kernel/changes/change.ts';
import type { Directory } from '../../kernel/context.ts';
import type { Ids } from '../../platform/lib/ids.ts';
import { inboxItem } from './contract.ts';
import { inboxItemModel, type InboxItem, type InboxItemResponse } from './model.ts';

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
