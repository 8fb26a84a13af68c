// History of an issue, read from the event log: changes, authors and causes.
import type { PageParameters } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { listEventsOf } from '../../events/feed.ts';
import { notFound } from '../../lib/errors.ts';
import { issueModel } from './kind.ts';

/** Lists the oldest events first, also for a deleted issue. */
export async function issueHistory(ctx: Context, id: string, page: PageParameters) {
  const issue = await issueModel.find(ctx, id);
  if (!issue) throw notFound();
  return listEventsOf(ctx, issue.id, page);
}
