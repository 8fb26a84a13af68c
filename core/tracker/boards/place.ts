// Where in a cell a card is to stand, as a rank: beside the card that a move names, or at an end.
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { rankBetween } from '../../lib/rank.ts';
import { composedStatement, tenantStatement } from '../../store/statement.ts';
import { issueKind, type Issue } from '../issues/kind.ts';
import { placeIn, type Beside, type Place } from '../issues/place.ts';
import { seeingIssues } from '../issues/seen.ts';
import type { Move } from './bodies.ts';
import { stagedRank } from './card.ts';
import { readCells, type Cell } from './cells.ts';
import { byHand } from './contract.ts';
import { defaultRank } from './default-rank.ts';
import type { Board } from './kind.ts';
import { Binding, hasKey, ofTeams, type BoardSight } from './sight.ts';

/** Null where a move says nothing of it. @throws ApiError validation_failed */
export function placeAsked({ sort }: Board, move: Move): Place | null {
  const asked = placeIn(move);
  if (asked && sort !== byHand)
    throw invalidField(asked.at, 'conflict', {
      why: `The cards of this board stand in the order of ${sort}.`,
      fix: 'Leave it out, or set the sort of the board to manual.',
    });
  return asked && asked.place;
}

/** An issue that the caller sees. @param at the field that names it. @throws ApiError validation_failed */
export async function findNamed(ctx: Context, at: string, name: string): Promise<Issue> {
  const found = await issueKind.find(seeingIssues(ctx), name);
  if (found && found.deletedAt === null) return found;
  throw invalidField(at, 'not_found', { why: `There is no issue ${name}.` });
}

/** The rank of a card by which it stands on the board, and in the cell where one is given; null where it does not. */
export async function rankOn(
  ctx: Context,
  sight: BoardSight,
  { id, createdAt }: Issue,
  cell: Cell | null,
): Promise<string | null> {
  const binding = new Binding();
  const where = [
    'issues.workspace_id = :ws AND issues.id = :id',
    ...binding.add(sight.conditions),
    ...ofTeams(sight, binding),
    ...(cell ? [hasKey(sight, sight.columns, cell.column.keys, binding)] : []),
    ...(cell?.lane && sight.lanes ? [hasKey(sight, sight.lanes, cell.lane.keys, binding)] : []),
  ];
  const sql = `SELECT c.rank FROM issues LEFT JOIN board_cards AS c
      ON c.workspace_id = :ws AND c.board_id = :boardId AND c.issue_id = issues.id WHERE ${where.join(' AND ')}`;
  const params = { ...binding.params, id, boardId: sight.board.id };
  const found = await ctx.store.readOne(ctx.scope, composedStatement<{ rank: string | null }>(sql), params);
  return found ? (stagedRank(ctx, sight.board, id) ?? found.rank ?? defaultRank(createdAt, id)) : null;
}

const rankBehind = tenantStatement<{ rank: string }>(
  'board_cards.behind',
  `SELECT rank FROM board_cards WHERE workspace_id = :ws AND board_id = :boardId AND rank > :rank AND issue_id <> :self
   ORDER BY rank LIMIT 1`,
);
const rankBefore = tenantStatement<{ rank: string }>(
  'board_cards.before',
  `SELECT rank FROM board_cards WHERE workspace_id = :ws AND board_id = :boardId AND rank < :rank AND issue_id <> :self
   ORDER BY rank DESC LIMIT 1`,
);

interface Placing {
  readonly sight: BoardSight;
  readonly cell: Cell;
  readonly issue: Issue;
  /** The rank by which it stands in the cell already; null where it comes from elsewhere. */
  readonly stands: string | null;
}

/** The rank that a card is to have; null where it has its place. @throws ApiError validation_failed */
export async function rankFor(ctx: Context, placing: Placing, to: Place): Promise<string | null> {
  const { stands, issue, sight } = placing;
  const anchor = 'other' in to ? await rankOfNamed(ctx, placing, to) : await endOf(ctx, placing, to.by);
  // Alone in its cell, it keeps the place that it has on the board.
  if (anchor === null) return stands === null ? rankOn(ctx, sight, issue, null) : null;
  const isBefore = to.by === 'before' || to.by === 'top';
  const beside = await nextTo(ctx, placing, anchor, isBefore);
  const [from, until] = isBefore ? [beside, anchor] : [anchor, beside];
  if (stands !== null && isBetween(stands, from, until)) return null;
  // No farther from the anchor than any other card of the board: one of another column may stand there.
  const params = { boardId: sight.board.id, rank: anchor, self: issue.id };
  const nearest = await ctx.store.readOne(ctx.scope, isBefore ? rankBefore : rankBehind, params);
  return between(from, until, nearest?.rank ?? null, isBefore);
}

/** @param nearest what no place may lie beyond, seen from the end that it is near to: the last one, or the first */
function between(from: string | null, until: string | null, nearest: string | null, isLast: boolean): string {
  if (nearest === null || !isBetween(nearest, from, until)) return rankBetween(from, until);
  return isLast ? rankBetween(nearest, until) : rankBetween(from, nearest);
}

function isBetween(rank: string, from: string | null, until: string | null): boolean {
  return (from === null || rank > from) && (until === null || rank < until);
}

async function rankOfNamed(
  ctx: Context,
  { sight, cell, issue }: Placing,
  { by, other }: Beside,
): Promise<string> {
  const named = await findNamed(ctx, by, other);
  if (named.id === issue.id)
    throw invalidField(by, 'conflict', { why: 'It is the card that is moved.', fix: 'Name another card.' });
  const rank = await rankOn(ctx, sight, named, cell);
  if (rank !== null) return rank;
  throw invalidField(by, 'not_found', {
    why: `${other} does not stand where the card is moved to.`,
    fix: 'Name a card of that column and lane.',
  });
}

/** The first card of the cell, or the last one, but the one that is moved. */
async function endOf(
  ctx: Context,
  { sight, cell, issue }: Placing,
  end: 'top' | 'bottom',
): Promise<string | null> {
  const asked = end === 'bottom' ? ({ limit: 2, backwards: true } as const) : { limit: 2 };
  return firstBut(await readCells(ctx, sight, [cell], asked), issue);
}

/** The card beside another one, but the one that is moved. */
async function nextTo(
  ctx: Context,
  { sight, cell, issue }: Placing,
  rank: string,
  isBefore: boolean,
): Promise<string | null> {
  const asked = { limit: 2, from: [rank], ...(isBefore ? { backwards: true as const } : {}) };
  return firstBut(await readCells(ctx, sight, [cell], asked), issue);
}

function firstBut([places = []]: Awaited<ReturnType<typeof readCells>>, { id }: Issue): string | null {
  const first = places.find((place) => place.id !== id);
  return first ? String(first.at[0]) : null;
}
