// Puts away the items that tell of a proposal, once nothing is left to do about it.
import type { Change } from '../changes/change.ts';
import type { Context } from '../context.ts';
import { tenantStatement } from '../store/statement.ts';
import { inboxItemKind, type InboxItem } from './kind.ts';

const ofTarget = tenantStatement<{ id: string }>(
  'inbox_items.of_proposal',
  `SELECT id FROM inbox_items INDEXED BY inbox_items_proposal
   WHERE workspace_id = :ws AND target_json = :target AND reason = 'proposal' AND archived_at IS NULL`,
);

/** For the batch in which it is decided. */
export async function archiveItemsAbout(ctx: Context, target: InboxItem['target']): Promise<Change[]> {
  const rows = await ctx.store.read(ctx.scope, ofTarget, { target: JSON.stringify(target) });
  const items = await inboxItemKind.findMany(
    ctx,
    rows.map(({ id }) => id),
  );
  const now = ctx.nowMs();
  const put = { archivedAt: now, snoozedUntil: null };
  return items.flatMap(
    (item) => inboxItemKind.update(item, { ...put, readAt: item.readAt ?? now }, now) ?? [],
  );
}
