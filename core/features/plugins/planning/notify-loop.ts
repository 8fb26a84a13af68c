// Notifies admins and owners of a loop that was cut: one counted inbox item per set of plugins and hour.
import type { Change } from '../../../kernel/changes/change.ts';
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { adminsOf, newItem, type InboxItemInput, inboxItemModel } from '../../inbox/index.ts';
import { hourMs } from '../../../platform/lib/time/time.ts';
import { tenantStatement, type SqlRow } from '../../../platform/store/statement.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { plugin } from '../installs/contract.ts';
import type { Cut } from './loops.ts';

const openLike = tenantStatement<SqlRow>(
  'inbox_items.open_loop',
  `SELECT ${inboxItemModel.select} FROM inbox_items INDEXED BY inbox_items_newest WHERE workspace_id = :ws AND member_id = :memberId
     AND happened_at > :since AND kind = 'plugin_loop' AND title = :title AND created_at > :since AND archived_at IS NULL
     ORDER BY happened_at DESC LIMIT 1`,
);

export type NotifyLoop = (scope: Scope, event: EventRow, cut: Cut) => Promise<void>;

export function createNotifyLoop(deps: PluginDeps): NotifyLoop {
  const { clock, committer } = deps;
  const { store, ids } = deps.services;

  const itemOf = async (scope: Scope, input: InboxItemInput): Promise<Change | null> => {
    const now = clock.nowMs();
    const params = { memberId: input.memberId, title: input.title, since: now - hourMs };
    const row = await store.readOne(scope, openLike, params);
    if (!row) return newItem(input, { ids, nowMs: now });
    const like = inboxItemModel.fromRow(row);
    return inboxItemModel.update(
      like,
      { ...input, count: like.count + 1, happenedAt: now, readAt: null },
      now,
    );
  };

  return async (scope, event, cut) => {
    const directory = await deps.directoryOf(scope);
    const about = aboutOf(event, cut);
    const changes: Change[] = [];
    for (const memberId of adminsOf(directory)) {
      const change = await itemOf(scope, { ...about, memberId });
      if (change) changes.push(change);
    }
    // The author has the cause of the cut event, so that the run of a plugin that reacts to this item is cut
    // as well.
    const author = { ...systemAuthor(scope, 'plugins', directory), cause: event.cause };
    await committer.commit(author, changes);
  };
}

function aboutOf(event: EventRow, { plugins, message }: Cut): Omit<InboxItemInput, 'memberId'> {
  const issue = issueOf(event);
  const [id] = [...plugins.keys()].sort();
  const names = [...plugins.values()].sort().join(' and ');
  return {
    kind: 'plugin_loop',
    reason: 'plugin',
    title:
      plugins.size === 1
        ? `The plugin ${names} caused its own events`
        : `The plugins ${names} caused each other's events`,
    body: `${message}${issue?.identifier ? ` The issue was ${issue.identifier}.` : ''} The last run was not started. Check the runs of these plugins.`,
    target: { kind: plugin.name, id: id! },
    issueId: issue?.id ?? null,
    issue,
    actorKind: null,
    actorId: null,
    actorName: null,
  };
}

/** Returns the issue of an event, or the issue that its data names; null if there is none. */
function issueOf({ entityKind, entityId, data }: EventRow): InboxItemInput['issue'] {
  const { identifier, issue } = data as {
    identifier?: string | null;
    issue?: { id: string; identifier: string | null } | null;
  };
  if (entityKind === 'issue') return { id: entityId, identifier: identifier ?? null };
  return issue?.id ? { id: issue.id, identifier: issue.identifier } : null;
}
