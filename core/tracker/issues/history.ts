// An issue's history is the event log itself, read by issue: what changed, who did it, and why.
import { cursorOf, type PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { renderEvent } from '../../events/event.ts';
import { eventsOfIssue } from '../../events/log.ts';
import { decodeCursor, encodeCursor } from '../../lib/cursor.ts';
import { notFound } from '../../lib/errors.ts';
import { limitDefault } from '../../lib/schema.ts';
import { issueKind } from './schema.ts';

/** Oldest first; a deleted issue keeps its history. */
export async function issueHistory(ctx: Context, id: string, page: PageParameters) {
  if (!(await issueKind.find(ctx, id))) throw notFound();
  const list = `${ctx.workspaceId} history ${id}`;
  const after = cursorOf(page);
  const from = after === undefined ? 0 : Number(decodeCursor(ctx.sealing, list, after)[0]);
  const limit = page.limit ?? limitDefault;
  const rows = await eventsOfIssue(ctx.store, ctx.scope, id, from, limit + 1);
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  return {
    data: data.map(renderEvent),
    pageInfo: {
      hasNextPage: rows.length > limit,
      endCursor: last ? encodeCursor(ctx.sealing, list, [last.sequence]) : null,
    },
  };
}
