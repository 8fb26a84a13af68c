// Counts unread items, and compares the state of an inbox with that of an earlier count. Sequences of the log decide, because
// clocks can be set back.
import type { Context } from '../../kernel/context.ts';
import { requireMember } from '../../kernel/rights/rights.ts';
import { decodeCursor, encodeCursor, type CursorValue } from '../../platform/lib/cursor.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { isUnread, teamsOf } from './operations.ts';

/** One statement reads all, so that the values are of the same moment. */
const countUnread = tenantStatement<{ unread: number; end: number; changed_after: number | null }>(
  'inbox_items.count_unread',
  `SELECT
     (SELECT count(*) FROM inbox_items INDEXED BY inbox_items_unread
      WHERE workspace_id = :ws AND member_id = :memberId AND ${isUnread}) AS unread,
     (SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws) AS end,
     (SELECT after_sequence FROM inbox_changes WHERE workspace_id = :ws AND id = :memberId) AS changed_after`,
);

interface UnreadCount {
  readonly unread: number;
  /** Null without an earlier count. */
  readonly changed: boolean | null;
  /** Marker of this count. */
  readonly asOf: string;
}

/**
 * @param changedSince `asOf` of an earlier count
 * @throws ApiError invalid_cursor, forbidden
 */
export async function unreadCount(
  ctx: Context,
  { changedSince }: { readonly changedSince?: string },
): Promise<UnreadCount> {
  const memberId = requireMember(ctx);
  const list = `${ctx.workspaceId} inbox ${memberId}`;
  const earlier = changedSince === undefined ? null : markerIn(ctx, list, changedSince);
  const row = await ctx.store.readOne(ctx.scope, countUnread, { memberId, teams: teamsOf(ctx) });
  const { unread, end, changed_after: changedAfter } = row!;
  return {
    unread,
    changed: earlier && hasChanged(earlier),
    asOf: encodeCursor(ctx.sealing, list, [end, unread, ctx.generation]),
  };

  /** The number differs after a purge of an issue, or if the member lost access to a team: no item changed. */
  function hasChanged([sequence, unreadBefore, generation]: readonly CursorValue[]): boolean {
    const isSameLog = generation === ctx.generation;
    return !isSameLog || unread !== unreadBefore || (changedAfter ?? -1) >= Number(sequence);
  }
}

/** @throws ApiError invalid_cursor */
function markerIn(ctx: Context, list: string, changedSince: string): CursorValue[] {
  try {
    return decodeCursor(ctx.sealing, list, changedSince);
  } catch {
    throw new ApiError(
      'invalid_cursor',
      '`changedSince` is not an `asOf` of this inbox. Count again without `changedSince`.',
    );
  }
}
