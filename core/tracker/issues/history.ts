// An issue's history is the event log itself, read by issue: what changed, who did it, and why.
import type { PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { listEventsOf } from '../../events/feed.ts';
import { notFound } from '../../lib/errors.ts';
import { issueKind } from './kind.ts';

/** Oldest first; a deleted issue keeps its history. */
export async function issueHistory(ctx: Context, id: string, page: PageParameters) {
  const found = await issueKind.find(ctx, id);
  if (!found) throw notFound();
  return listEventsOf(ctx, found.id, page);
}
