// Hard limits of columns. A move that would exceed one is refused, even with concurrent moves, because the
// statement that commits the move counts the cards again.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { composedStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import type { Group } from './grouping.ts';
import { Binding, hasKey, ofTeams, type ResolvedBoard } from './resolved-board.ts';

/**
 * Returns the change that enforces a hard limit; none for a soft limit.
 * @throws ApiError conflict if the column is full
 */
export async function enforceLimit(ctx: Context, resolved: ResolvedBoard, column: Group): Promise<Change[]> {
  const { limit, title } = column;
  if (resolved.board.limits === 'soft' || limit === null) return [];
  const [row] = await ctx.store.read<{ full: number }>(
    ctx.scope,
    ...counting(resolved, column, limit, (count) => `SELECT ${count} = :enough AS full`),
  );
  if (Number(row?.full ?? 0) === 1)
    throw new ApiError(
      'conflict',
      `${title} is at its limit of ${limit} cards. Move a card out of it first, or raise the limit.`,
    );
  return [limitGuard(resolved, column, limit)];
}

/** Counts the cards of a column up to `enough`. */
function counting(resolved: ResolvedBoard, column: Group, enough: number, sql: (count: string) => string) {
  const binding = new Binding();
  const where = [
    'issues.workspace_id = :ws',
    ...binding.add(resolved.conditions),
    ...ofTeams(resolved, binding),
    hasKey(resolved, resolved.columns, column.keys, binding),
  ];
  const count = `(SELECT count(*) FROM (SELECT 1 FROM issues WHERE ${where.join(' AND ')} LIMIT :enough))`;
  return [composedStatement<{ full: number }>(sql(count), null), { ...binding.params, enough }] as const;
}

/** Writes nothing, but fails the batch of a move that exceeds the limit. */
function limitGuard(resolved: ResolvedBoard, column: Group, limit: number): Change {
  const boardId = resolved.board.id;
  const [statement, params] = counting(
    resolved,
    column,
    limit + 1,
    (count) =>
      `UPDATE boards SET version = version WHERE workspace_id = :ws AND id = :boardId AND ${count} <= :most`,
  );
  const id = `${boardId}/${column.key}`;
  return {
    kind: 'board_limit',
    id,
    before: null,
    after: { id, version: 1 },
    baseVersion: null,
    isSilent: true,
    contends: boardId,
    ops: (scope) => [tenantOp(scope, statement, { ...params, boardId, most: limit }, { expectRows: 1 })],
    events: () => [],
    followedBy: (later) => later,
  };
}
