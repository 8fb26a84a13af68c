// Moves a card: one change set updates the issue for its column and lane, and sets its position there.
import type { Change, ChangeSet, OrderVersion } from '../../kernel/changes/change.ts';
import { getEntity, requireVersion } from '../../kernel/changes/operations.ts';
import { readOrder } from '../../kernel/changes/find.ts';
import type { Context } from '../../kernel/context.ts';
import { invalidField, ApiError } from '../../platform/lib/errors/errors.ts';
import { foldName, didYouMeanAny } from '../../platform/lib/text/words.ts';
import {
  type IssuePatch,
  issueModel,
  type Issue,
  type OrderPosition,
  resolvePatch,
  requireMayChange,
} from '../issues/index.ts';
import type { Move } from './bodies.ts';
import { cardMoved, boardModel, type Board } from './model.ts';
import { withoutDescription } from './cards.ts';
import type { BoardCell } from './cells.ts';
import { byHand } from './contract.ts';
import type { Group, Grouping } from './grouping.ts';
import {
  configuredColumns,
  findColumn,
  findLane,
  keyOf,
  layoutOf,
  resolveBoard,
  isInGroup,
  type ResolvedBoard,
  Binding,
  hasKey,
  ofTeams,
} from './layout.ts';
import { findVisibleIssue, requestedPosition, rankFor, rankOn, respaceRanks } from './ranks/rank.ts';
import { composedStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';

/**
 * @param ifMatch the version of the issue
 * @throws ApiError not_found, validation_failed, conflict, transition_not_allowed, precondition_failed,
 * insufficient_scope
 */
export async function moveCard(
  ctx: Context,
  id: string,
  move: Move,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const board = await getEntity(ctx, boardModel, id);
  const order = board.sort === byHand ? await readOrder(ctx, board.id) : null;
  const issue = await findVisibleIssue(ctx, 'issueId', move.issueId);
  requireVersion(issue, ifMatch);
  const position = requestedPosition(board, move);
  // A caller who can see only some of the cards still moves a card among all of them.
  const resolved = await resolveBoard({ ...ctx, visibleTeams: null }, board);
  if ((await rankOn(ctx, resolved, issue, null)) === null)
    throw invalidField('issueId', 'not_found', {
      why: 'The issue is not on this board.',
      fix: "Use an issue of the board's team that matches the filter of the board.",
    });
  const moving: Moving = { resolved, issue, cell: cellOf(ctx, resolved, move, issue) };
  const patch = await patchOf(ctx, moving, move);
  requireMayChange(ctx, issue, fieldsOf(patch));
  const values = await resolvePatch(ctx, issue.teamId, issue, patch, 'column.');
  const change = issueModel.update(issue, values, ctx.nowMs());
  const after = change?.after ?? issue;
  const changes = [
    ...(change ? [change] : []),
    ...(await limitsOf(ctx, moving)),
    ...(order ? await placed(ctx, moving, { order, after, position }) : []),
  ];
  return { changes, body: withoutDescription(issueModel.toResponse(after, ctx)) };
}

interface Moving {
  readonly resolved: ResolvedBoard<Board>;
  readonly issue: Issue;
  readonly cell: BoardCell;
}

/**
 * Returns the change that enforces a hard limit of a column; none for a soft limit. A move that would exceed the limit is
 * refused, even with concurrent moves, because the statement that commits the move counts the cards again.
 * @throws ApiError conflict if the column is full
 */
async function enforceLimit(ctx: Context, resolved: ResolvedBoard<Board>, column: Group): Promise<Change[]> {
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
function limitGuard(resolved: ResolvedBoard<Board>, column: Group, limit: number): Change {
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

/**
 * Returns the limit checks of a move. A card that is already in the column does not count as new.
 * @throws ApiError conflict
 */
async function limitsOf(ctx: Context, { resolved, issue, cell }: Moving): Promise<Change[]> {
  return isInGroup(resolved, resolved.columns, cell.column, issue)
    ? []
    : enforceLimit(ctx, resolved, cell.column);
}

/**
 * Returns the change of position; empty if the position does not change.
 * @throws ApiError validation_failed
 */
async function placed(
  ctx: Context,
  { resolved, issue, cell }: Moving,
  { order, after, position }: { order: OrderVersion; after: Issue; position: OrderPosition | null },
): Promise<Change[]> {
  const { board } = resolved;
  const currentRank = await rankOn(ctx, resolved, issue, cell);
  const to = position ?? (currentRank === null ? ({ by: 'top' } as const) : null);
  const rank = to && (await rankFor(ctx, { resolved, cell, issue, currentRank }, to));
  if (rank === null) return [];
  // A run combines all its changes of an issue into one.
  const isStaged = ctx.staged?.find(issueModel.name, issue.id) !== undefined;
  return [
    cardMoved({
      board,
      order,
      issueId: issue.id,
      version: (isStaged ? issue : after).version,
      column: cell.column.key,
      lane: cell.lane?.key ?? null,
      ...(await respaceRanks(ctx, board, issue.id, rank)),
    }),
  ];
}

/** Returns the target cell. @throws ApiError validation_failed */
function cellOf(
  ctx: Context,
  resolved: ResolvedBoard,
  { column: key, lane: laneKey }: Move,
  issue: Issue,
): BoardCell {
  const column = columnMeant(ctx, resolved, key, 'column');
  if (!resolved.lanes) {
    if (laneKey === undefined) return { column, lane: null };
    throw invalidField('lane', 'conflict', {
      why: 'The board has no swimlanes.',
      fix: 'Leave the lane out.',
    });
  }
  if (laneKey === undefined) return { column, lane: laneOf(resolved, issue) };
  const lane =
    findLane(resolved, laneKey) ??
    findLane(resolved, valueMeant(ctx, resolved, resolved.lanes, laneKey, 'lane'));
  if (!lane) throw noGroup('lane', laneKey);
  return { column, lane };
}

/** Finds a column by its key, its heading, or a name of its value. @throws ApiError validation_failed */
function columnMeant(ctx: Context, resolved: ResolvedBoard, requested: string, at: 'column' | 'from'): Group {
  const keyed = findColumn(resolved, requested);
  if (keyed) return keyed;
  const columns = configuredColumns(resolved) ?? [];
  const [titled, another] = columns.filter(({ title }) => foldName(title) === foldName(requested));
  if (titled && !another) {
    ctx.resolved?.(at, titled.key);
    return titled;
  }
  const match = findColumn(resolved, valueMeant(ctx, resolved, resolved.columns, requested, at));
  if (match) return match;
  throw noGroup(
    'column',
    requested,
    at,
    didYouMeanAny(
      requested,
      columns.map(({ title }) => title),
    ),
  );
}

function valueMeant(
  ctx: Context,
  resolved: ResolvedBoard,
  grouping: Grouping,
  requested: string,
  at: string,
): string {
  return grouping.resolve?.(ctx, resolved, requested, at) ?? requested;
}

function laneOf(resolved: ResolvedBoard, issue: Issue): Group | null {
  const { lanes } = resolved;
  if (!lanes) return null;
  return (
    lanes
      .derived(resolved, new Set(lanes.keysOn(issue)))
      .map((value) => findLane(resolved, keyOf(lanes, value)))
      .find((lane) => lane && isInGroup(resolved, lanes, lane, issue)) ?? null
  );
}

function noGroup(what: 'column' | 'lane', key: string, at: string = what, meant = ''): Error {
  return invalidField(at, 'not_found', {
    why: `The board has no ${what} ${key}.`,
    fix: `Use a key that GET /api/v1/boards/{id}/cards returns.${meant}`,
  });
}

/** Returns the patch that the move makes to the issue. @throws ApiError validation_failed */
async function patchOf(ctx: Context, { resolved, issue, cell }: Moving, { from }: Move): Promise<IssuePatch> {
  const { columns, lanes } = resolved;
  const { column, lane } = cell;
  const left = columns.column === null ? await leftOf(ctx, resolved, from) : [];
  const inColumn = columns.moved(resolved, issue, column, left);
  const inLane = lane && lanes ? lanes.moved(resolved, issue, lane, []) : {};
  const fields = { ...inColumn.fields, ...inLane.fields };
  return { ...inColumn, ...inLane, ...(Object.keys(fields).length > 0 ? { fields } : {}) };
}

/** Returns the columns whose labels the issue loses. @throws ApiError validation_failed */
async function leftOf(
  ctx: Context,
  resolved: ResolvedBoard,
  from: string | undefined,
): Promise<readonly Group[]> {
  if (from === undefined) return configuredColumns(resolved) ?? (await layoutOf(ctx, resolved)).columns;
  return [columnMeant(ctx, resolved, from, 'from')];
}

/** Returns the fields of issues that a patch writes. */
function fieldsOf(patch: IssuePatch): string[] {
  return Object.keys(patch).map((name) => (/^(add|remove)Labels$/.test(name) ? 'labels' : name));
}
