// The inbox, a reading of the event log: items land as `inbox.item_created` events, in the batch of what they are about.
import { announce } from '../changes/announcement.ts';
import type { Change } from '../changes/change.ts';
import { cursorOf, type PageParameters } from '../changes/list.ts';
import { isoTime } from '../changes/operations.ts';
import type { Context } from '../context.ts';
import { readParts } from '../events/log.ts';
import { decodeCursor, encodeCursor } from '../lib/cursor.ts';
import type { Ids } from '../lib/ids.ts';
import { idPrefixes } from '../lib/ids.ts';
import { limitDefault } from '../lib/schema.ts';
import { tenantStatement } from '../store/statement.ts';
import type { InboxItem } from './schema.ts';

const itemsBefore = tenantStatement<{ sequence: number }>(
  'events.inbox_before',
  `SELECT sequence FROM events WHERE workspace_id = :ws AND type = 'inbox.item_created' AND sequence < :before
   ORDER BY sequence DESC LIMIT :limit`,
);

/** The change that makes an item land. */
export function inboxItem(
  item: Pick<InboxItem, 'kind' | 'title' | 'body' | 'target'>,
  at: { readonly ids: Ids; readonly nowMs: number },
): Change {
  const id = at.ids.next(idPrefixes.inboxItem);
  const shown: InboxItem = { id, ...item, createdAt: isoTime(at.nowMs) };
  return announce({ kind: 'inbox_item', id }, 'inbox.item_created', shown);
}

/** Newest first. @throws ApiError invalid_cursor */
export async function listInbox(ctx: Context, query: PageParameters) {
  const list = `${ctx.workspaceId} inbox`;
  const after = cursorOf(query);
  const limit = query.limit ?? limitDefault;
  const before =
    after === undefined ? Number.MAX_SAFE_INTEGER : Number(decodeCursor(ctx.sealing, list, after)[0]);
  const rows = await ctx.store.read(ctx.scope, itemsBefore, { before, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const parts = await Promise.all(page.map(({ sequence }) => readParts(ctx.store, ctx.scope, sequence)));
  return {
    data: parts.map(({ data }) => JSON.parse(data) as InboxItem),
    pageInfo: {
      hasNextPage: rows.length > limit,
      endCursor: last ? encodeCursor(ctx.sealing, list, [last.sequence]) : null,
    },
  };
}
