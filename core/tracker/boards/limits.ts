// Hard limits of columns: a move that would break one is refused, also where two come at once, because the statement that commits the
// move counts what it leaves.
import type { Change } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { ApiError } from '../../lib/errors.ts';
import { composedStatement } from '../../store/statement.ts';
import { tenantOp } from '../../store/store.ts';
import type { Group } from './grouping.ts';
import { Binding, hasKey, ofTeams, type BoardSight } from './sight.ts';

/** What a move into a column must not break; nothing where its limit is soft. @throws ApiError conflict where it is full */
export async function limitKept(ctx: Context, sight: BoardSight, column: Group): Promise<Change[]> {
  const { limit, title } = column;
  if (sight.board.limits === 'soft' || limit === null) return [];
  const [row] = await ctx.store.read<{ full: number }>(
    ctx.scope,
    ...counting(sight, column, limit, (count) => `SELECT ${count} = :enough AS full`),
  );
  if (Number(row?.full ?? 0) === 1)
    throw new ApiError(
      'conflict',
      `${title} holds ${limit} cards, which is its limit. Move one out of it first, or raise the limit.`,
    );
  return [kept(sight, column, limit)];
}

/** Of the cards in a column, no more of which are looked at than are needed to tell. */
function counting(sight: BoardSight, column: Group, enough: number, sql: (count: string) => string) {
  const binding = new Binding();
  const where = [
    'issues.workspace_id = :ws',
    ...binding.add(sight.conditions),
    ...ofTeams(sight, binding),
    hasKey(sight, sight.columns, column.keys, binding),
  ];
  const count = `(SELECT count(*) FROM (SELECT 1 FROM issues WHERE ${where.join(' AND ')} LIMIT :enough))`;
  return [composedStatement<{ full: number }>(sql(count), null), { ...binding.params, enough }] as const;
}

/** Writes nothing: it undoes the batch of a move that leaves too many. */
function kept(sight: BoardSight, column: Group, limit: number): Change {
  const boardId = sight.board.id;
  const [statement, params] = counting(
    sight,
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
