// Computes the rank of a card: next to the card that a move names, or at an end of the cell. If a rank gets
// too long, cards near it get new ranks.
import type { Context } from '../../../kernel/context.ts';
import { rankLengthMax, ranksBelow, isBetween, rankBetween } from '../../../platform/lib/rank.ts';
import { tenantStatement, composedStatement } from '../../../platform/store/statement.ts';
import { tenantOp } from '../../../platform/store/store.ts';
import { stagedCards, type Placed, type Reranked, type Board } from '../model.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import {
  issueModel,
  type Issue,
  readPosition,
  type PositionExtras,
  type OrderPosition,
  withIssueVisibility,
} from '../../issues/index.ts';
import type { Move } from '../bodies.ts';
import { readCells, type BoardCell } from '../cells.ts';
import { byHand } from '../contract.ts';
import { defaultRank } from './default-rank.ts';
import { Binding, hasKey, ofTeams, isInGroup, type ResolvedBoard } from '../layout.ts';

/** Returns null if a move names no position. @throws ApiError validation_failed */
export function requestedPosition({ sort }: Board, move: Move): OrderPosition | null {
  const request = readPosition(move);
  if (request && sort !== byHand)
    throw invalidField(request.at, 'conflict', {
      why: `This board is sorted by ${sort}.`,
      fix: 'Remove the position, or set the sort of the board to manual.',
    });
  return request && request.position;
}

/**
 * Returns an issue that the caller can see.
 * @param at field of the request that names the issue
 * @throws ApiError validation_failed
 */
export async function findVisibleIssue(ctx: Context, at: string, name: string): Promise<Issue> {
  const match = await issueModel.find(withIssueVisibility(ctx), name);
  if (match && match.deletedAt === null) return match;
  throw invalidField(at, 'not_found', {
    why: `There is no issue ${name}.`,
    fix: 'Use the id or identifier of an existing issue.',
  });
}

/** Returns the rank of a card on the board, or in the given cell; null if the card is not there. */
export async function rankOn(
  ctx: Context,
  resolved: ResolvedBoard<Board>,
  issue: Issue,
  cell: BoardCell | null,
): Promise<string | null> {
  const { board, columns, lanes } = resolved;
  if (cell && !isInGroup(resolved, columns, cell.column, issue)) return null;
  if (cell?.lane && lanes && !isInGroup(resolved, lanes, cell.lane, issue)) return null;
  const binding = new Binding();
  const sql = `SELECT c.rank FROM issues LEFT JOIN board_cards AS c
      ON c.workspace_id = :ws AND c.board_id = :boardId AND c.issue_id = issues.id
    WHERE issues.workspace_id = :ws AND issues.id = :id AND ${visibleConditions(resolved, binding).join(' AND ')}`;
  const { id, createdAt } = issue;
  const params = { ...binding.params, id, boardId: board.id };
  const match = await ctx.store.readOne(ctx.scope, composedStatement<{ rank: string | null }>(sql), params);
  return match ? (stagedCards(ctx, board).get(id)?.rank ?? match.rank ?? defaultRank(createdAt, id)) : null;
}

const visibleConditions = (resolved: ResolvedBoard, binding: Binding): string[] => [
  ...binding.add(resolved.conditions),
  ...ofTeams(resolved, binding),
];

const others = `FROM board_cards WHERE workspace_id = :ws AND board_id = :boardId
     AND issue_id NOT IN (SELECT value FROM json_each(:without))`;
const rankBehind = tenantStatement<{ rank: string }>(
  'board_cards.behind',
  `SELECT rank ${others} AND rank > :rank ORDER BY rank LIMIT 1`,
);
const rankBefore = tenantStatement<{ rank: string }>(
  'board_cards.before',
  `SELECT rank ${others} AND rank < :rank ORDER BY rank DESC LIMIT 1`,
);

interface Placing {
  readonly resolved: ResolvedBoard<Board>;
  readonly cell: BoardCell;
  readonly issue: Issue;
  /** Current rank if the card is already in the cell; null otherwise. */
  readonly currentRank: string | null;
}

/** Suffix of the ranks of moved cards. Default ranks have another suffix, so no two ranks are equal. */
const tail = 'W';

/**
 * Returns the new rank of a card; null if the card is already in position.
 * @throws ApiError validation_failed
 */
export async function rankFor(ctx: Context, placing: Placing, to: OrderPosition): Promise<string | null> {
  const { currentRank, issue, resolved } = placing;
  const isBefore = to.by === 'before' || to.by === 'top';
  const staged = await stagedRanks(ctx, placing);
  const anchor =
    'other' in to
      ? await rankOfOther(ctx, placing, to)
      : await nextInCell(ctx, placing, staged, { backwards: !isBefore });
  // The rank of a card that is alone in its cell does not change.
  if (anchor === null) return currentRank === null ? rankOn(ctx, resolved, issue, null) : null;
  const beside = await nextInCell(ctx, placing, staged, { backwards: isBefore, from: anchor });
  const [from, until] = isBefore ? [beside, anchor] : [anchor, beside];
  if (currentRank !== null && isBetween(currentRank, from, until)) return null;
  // The new rank is between the anchor and its nearest neighbor on the whole board, which may be a card of
  // another column.
  const params = { boardId: resolved.board.id, rank: anchor, without: JSON.stringify([...staged.ids]) };
  const stored = await ctx.store.readOne(ctx.scope, isBefore ? rankBefore : rankBehind, params);
  const nearest = nearestOf([...staged.onBoard, stored?.rank], { backwards: isBefore, from: anchor });
  return between(from, until, nearest, isBefore);
}

/** Staged cards of the board, except the card that is moved. */
interface Staged {
  /** Cards whose stored ranks must be ignored, including the card that is moved. */
  readonly ids: ReadonlySet<string>;
  readonly onBoard: readonly string[];
  readonly inCell: readonly string[];
}

async function stagedRanks(ctx: Context, { resolved, cell, issue }: Placing): Promise<Staged> {
  const cards = [...stagedCards(ctx, resolved.board)].filter(([id]) => id !== issue.id);
  const unmoved = cards.flatMap(([id, card]) => (card.cell ? [] : [id]));
  const unmovedInCell = await filterInCell(ctx, resolved, cell, unmoved);
  const isIn = cards.filter(([id, card]) =>
    card.cell
      ? card.cell.column === cell.column.key && card.cell.lane === (cell.lane?.key ?? null)
      : unmovedInCell.has(id),
  );
  return {
    ids: new Set([issue.id, ...cards.map(([id]) => id)]),
    onBoard: cards.map(([, { rank }]) => rank),
    inCell: isIn.map(([, { rank }]) => rank),
  };
}

/** Filters ids to those whose cards are in a cell. */
async function filterInCell(
  ctx: Context,
  resolved: ResolvedBoard,
  { column, lane }: BoardCell,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const binding = new Binding();
  const where = [
    `issues.workspace_id = :ws AND issues.id IN ${binding.list(ids)}`,
    ...visibleConditions(resolved, binding),
    hasKey(resolved, resolved.columns, column.keys, binding),
    ...(lane && resolved.lanes ? [hasKey(resolved, resolved.lanes, lane.keys, binding)] : []),
  ];
  const sql = `SELECT issues.id AS id FROM issues WHERE ${where.join(' AND ')}`;
  const rows = await ctx.store.read(ctx.scope, composedStatement<{ id: string }>(sql), binding.params);
  return new Set(rows.map(({ id }) => id));
}

/**
 * @param nearest rank that the new one must not pass
 * @param isLast true if `nearest` is a lower bound of the new rank, false if an upper bound
 */
function between(from: string | null, until: string | null, nearest: string | null, isLast: boolean): string {
  if (nearest === null || !isBetween(nearest, from, until)) return rankBetween(from, until, tail);
  return isLast ? rankBetween(nearest, until, tail) : rankBetween(from, nearest, tail);
}

async function rankOfOther(
  ctx: Context,
  { resolved, cell, issue }: Placing,
  { by, other }: PositionExtras,
): Promise<string> {
  const otherIssue = await findVisibleIssue(ctx, by, other);
  if (otherIssue.id === issue.id)
    throw invalidField(by, 'conflict', { why: 'This is the card that is moved.', fix: 'Use another card.' });
  const rank = await rankOn(ctx, resolved, otherIssue, cell);
  if (rank !== null) return rank;
  throw invalidField(by, 'not_found', {
    why: `${other} is not in the column and lane that the card is moved to.`,
    fix: 'Use a card of that column and lane.',
  });
}

interface Direction {
  readonly backwards: boolean;
  /** Rank after which the search starts; default: the first card in that direction. */
  readonly from?: string;
}

/** Returns the rank of the next card in the cell, ignoring the card that is moved. */
async function nextInCell(
  ctx: Context,
  { resolved, cell }: Placing,
  { ids, inCell }: Staged,
  direction: Direction,
): Promise<string | null> {
  const { backwards, from } = direction;
  const request = {
    limit: ids.size + 1,
    ...(from === undefined ? {} : { from: [from] }),
    ...(backwards ? { backwards } : {}),
  };
  const [positions = []] = await readCells(ctx, resolved, [cell], request);
  const stored = positions.find(({ id }) => !ids.has(id));
  return nearestOf([...inCell, stored && String(stored.at[0])], direction);
}

function nearestOf(ranks: readonly (string | undefined)[], { backwards, from }: Direction): string | null {
  const beyond = ranks.filter(
    (rank) => rank !== undefined && (from === undefined || (backwards ? rank < from : rank > from)),
  );
  return (beyond.sort() as string[]).at(backwards ? -1 : 0) ?? null;
}

/** Length of the shared prefix: at least that of a default rank, so that no unmoved card has the prefix. */
const sharedChars = 36;
/** Greater than every digit. */
const above = '~';

const within = 'workspace_id = :ws AND board_id = :boardId AND rank >= :shared AND rank < :end';
const sharing = tenantStatement<{ issue_id: string; rank: string }>(
  'board_cards.sharing',
  `SELECT issue_id, rank FROM board_cards WHERE ${within} ORDER BY rank`,
);
const clear = tenantStatement('board_cards.clear', `DELETE FROM board_cards WHERE ${within}`);
const fill = tenantStatement(
  'board_cards.fill',
  `INSERT INTO board_cards (workspace_id, board_id, issue_id, rank)
   SELECT :ws, :boardId, value->>0, value->>1 FROM json_each(:cards)`,
);

type RespacedRank = Pick<Placed, 'rank' | 'respacing'>;

/**
 * Returns the rank that the card gets, and the writes for other cards. Ranks grow when cards are repeatedly inserted at
 * the same position. Once a rank is too long, all cards that share its prefix get short, evenly spaced ranks below that
 * prefix; other cards do not change.
 * @param rank rank computed for the card
 */
export async function respaceRanks(
  ctx: Context,
  board: Board,
  issueId: string,
  rank: string,
): Promise<RespacedRank> {
  const { id: boardId } = board;
  // A run moves at most a hundred cards, so its ranks stay bounded; the next move shortens them.
  if (rank.length <= rankLengthMax || stagedCards(ctx, board).size > 0) return { rank, respacing: null };
  const shared = rank.slice(0, sharedChars);
  const range = { boardId, shared, end: shared + above };
  const rows = await ctx.store.read(ctx.scope, sharing, range);
  const others = rows.filter((row) => row.issue_id !== issueId);
  const position = others.filter((row) => row.rank < rank).length;
  const order = [
    ...others.slice(0, position).map((row) => row.issue_id),
    issueId,
    ...others.slice(position).map((row) => row.issue_id),
  ];
  const ranks = ranksBelow(shared, order.length);
  const cards = order.map((id, index): Reranked => ({ issueId: id, rank: ranks[index]! }));
  const rest = cards.filter((card) => card.issueId !== issueId);
  return {
    rank: ranks[position]!,
    respacing: {
      others: rest,
      ops: (scope) => [
        tenantOp(scope, clear, range),
        tenantOp(scope, fill, {
          boardId,
          cards: JSON.stringify(rest.map((card) => [card.issueId, card.rank])),
        }),
      ],
    },
  };
}
