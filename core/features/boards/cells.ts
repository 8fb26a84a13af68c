// Reads the cards of many cells (a cell is the intersection of a column and a lane) in one statement. In
// manual order, a cell has moved cards, sorted by rank, and unmoved cards, sorted by creation. Both come
// sorted from an index and are merged here, so the cost of a page is proportional to its cards.
import type { Context, Directory } from '../../kernel/context.ts';
import type { CursorValue } from '../../platform/lib/cursor.ts';
import { beyond, type SortKey } from '../../platform/store/page.ts';
import { composedStatement, type SqlRow } from '../../platform/store/statement.ts';
import { issueOrder, existingSort } from '../issues/index.ts';
import { byHand } from './contract.ts';
import { defaultRank, creationPositionOf } from './ranks/default-rank.ts';
import type { Group, GroupKey } from './grouping.ts';
import { Binding, hasKey, ofTeams, type ResolvedBoard } from './layout.ts';

export interface BoardCell {
  readonly column: Group;
  /** Lane of the cell; null for all lanes, or if the board has none. */
  readonly lane: Group | null;
}

/** A card with its position: its rank, or the values of the sort keys. */
export interface CardPosition {
  readonly id: string;
  readonly at: readonly CursorValue[];
}

interface CellsQuery {
  /** Maximum number of cards per cell. */
  readonly limit: number;
  /** Position of the cursor: cards after it are read, or cards before it if `backwards`. */
  readonly from?: readonly CursorValue[];
  /** True to read from the end; only for the manual order. */
  readonly backwards?: boolean;
}

/** SQLite allows at most 500 SELECTs in one compound statement; this leaves a margin. */
const armsMax = 400;

export async function readCells(
  ctx: Context,
  resolved: ResolvedBoard,
  cells: readonly BoardCell[],
  paging: CellsQuery,
): Promise<CardPosition[][]> {
  const positions: CardPosition[][] = cells.map(() => []);
  const seen = cells.flatMap((cell, index) => (cell.column.keys.length > 0 ? [{ cell, index }] : []));
  if (seen.length === 0) return positions;
  const query = new CellQuery(resolved, paging);
  const isByHand = resolved.board.sort === byHand;
  const keys = seen.reduce((sum, { cell }) => sum + cell.column.keys.length + 1, 0);
  for (const { cell, index } of seen)
    if (isByHand) query.addPlaced(cell, index, keys <= armsMax);
    else query.addSorted(cell, index);
  for (const row of await query.read(ctx)) positions[Number(row.cell)]!.push(query.positionOf(row));
  if (!isByHand) return positions;
  const sign = paging.backwards ? -1 : 1;
  return positions.map((all) => all.sort((a, b) => sign * byRank(a, b)).slice(0, paging.limit));
}

function byRank(a: CardPosition, b: CardPosition): number {
  const [rankA, rankB] = [String(a.at[0]), String(b.at[0])];
  if (rankA === rankB) return a.id < b.id ? -1 : 1;
  return rankA < rankB ? -1 : 1;
}

class CellQuery {
  readonly #resolved: ResolvedBoard;
  readonly #paging: CellsQuery;
  readonly #binding = new Binding();
  readonly #visible: readonly string[];
  readonly #teams: readonly string[];
  readonly #order: readonly SortKey[];
  readonly #arms: string[] = [];

  constructor(resolved: ResolvedBoard, paging: CellsQuery) {
    this.#resolved = resolved;
    this.#paging = paging;
    this.#visible = ['issues.workspace_id = :ws', ...this.#binding.add(resolved.conditions)];
    // If each state belongs to one team, the column keys already restrict the teams.
    this.#teams = resolved.columns.ofTeam ? [] : ofTeams(resolved, this.#binding);
    const isByHand = resolved.board.sort === byHand;
    this.#order = isByHand ? [] : orderOf(resolved.board.sort, resolved.directory);
    Object.assign(this.#binding.params, {
      limit: paging.limit,
      ...(isByHand ? { board: resolved.board.id } : {}),
    });
  }

  async read(ctx: Context): Promise<SqlRow[]> {
    const sql = this.#arms.map((arm) => `SELECT * FROM (${arm})`).join('\nUNION ALL ');
    return ctx.store.read<SqlRow>(ctx.scope, composedStatement<SqlRow>(sql, null), this.#binding.params);
  }

  positionOf(row: SqlRow): CardPosition {
    const id = String(row.card);
    const rank = row.rank ?? (row.made_at === undefined ? null : defaultRank(Number(row.made_at), id));
    const at =
      this.#order.length > 0
        ? this.#order.map((_, index) => row[`k${index}`] as CursorValue)
        : [String(rank)];
    return { id, at };
  }

  /**
   * @param apart true to query each key of the column separately, so that an index delivers the rows sorted
   */
  addPlaced({ column, lane }: BoardCell, cell: number, apart: boolean): void {
    const { backwards = false, from } = this.#paging;
    const [rank] = from ?? [];
    const inLane = this.#inLane(lane);
    const ranked = [
      'c.workspace_id = :ws AND c.board_id = :board AND issues.id = c.issue_id',
      ...this.#visible,
      hasKey(this.#resolved, this.#resolved.columns, column.keys, this.#binding),
      ...this.#teams,
      ...inLane,
      ...(rank === undefined ? [] : [`c.rank ${backwards ? '<' : '>'} ${this.#binding.bind(rank)}`]),
    ];
    this.#arms.push(
      `SELECT ${cell} AS cell, c.rank AS rank, issues.id AS card, issues.created_at AS made_at
       FROM board_cards AS c CROSS JOIN issues WHERE ${ranked.join(' AND ')}
       ORDER BY c.rank ${backwards ? 'DESC' : 'ASC'} LIMIT :limit`,
    );
    const groups = apart ? column.keys.map((key) => [key]) : [column.keys];
    for (const keys of groups) this.#addUnplaced(keys, cell, inLane);
  }

  #addUnplaced(keys: readonly GroupKey[], cell: number, inLane: readonly string[]): void {
    const { backwards = false, from } = this.#paging;
    const [rank] = from ?? [];
    const { columns } = this.#resolved;
    const [key] = keys;
    // The label table delivers the issues of one label sorted by creation.
    const isListed = columns.column === null && keys.length === 1 && key != null;
    const [at, id] = isListed ? ['listed_at', 'listed_id'] : ['issues.created_at', 'issues.id'];
    const creation = rank === undefined ? null : creationPositionOf(String(rank));
    const where = [
      ...this.#visible,
      isListed ? 'issues.id = listed_id' : hasKey(this.#resolved, columns, keys, this.#binding),
      ...this.#teams,
      ...inLane,
      `NOT EXISTS (SELECT 1 FROM board_cards AS c WHERE c.workspace_id = :ws AND c.board_id = :board AND c.issue_id = issues.id)`,
      ...(creation
        ? [
            `(${at}, ${id}) ${backwards ? '>' : '<'} (${this.#binding.bind(creation.at)}, ${this.#binding.bind(creation.id)})`,
          ]
        : []),
    ];
    const source = isListed
      ? `(SELECT issue_id AS listed_id, created_at AS listed_at FROM issue_labels
          WHERE workspace_id = :ws AND label_id = ${this.#binding.bind(key)}) CROSS JOIN issues`
      : 'issues';
    const direction = backwards ? 'ASC' : 'DESC';
    this.#arms.push(
      `SELECT ${cell} AS cell, NULL AS rank, issues.id AS card, issues.created_at AS made_at FROM ${source}
       WHERE ${where.join(' AND ')} ORDER BY ${at} ${direction}, ${id} ${direction} LIMIT :limit`,
    );
  }

  addSorted({ column, lane }: BoardCell, cell: number): void {
    const { from } = this.#paging;
    from?.forEach((value, index) => (this.#binding.params[`k${index}`] = value));
    const where = [
      ...this.#visible,
      hasKey(this.#resolved, this.#resolved.columns, column.keys, this.#binding),
      ...this.#teams,
      ...this.#inLane(lane),
      ...(from ? [beyond(this.#order)] : []),
    ];
    const keys = this.#order.map(({ sql }, index) => `${sql} AS k${index}`);
    this.#arms.push(
      `SELECT ${cell} AS cell, id AS card, ${keys.join(', ')} FROM issues WHERE ${where.join(' AND ')}
       ORDER BY ${this.#order.map(({ sql, direction }) => `${sql} ${direction}`).join(', ')} LIMIT :limit`,
    );
  }

  #inLane(lane: Group | null): string[] {
    const { lanes } = this.#resolved;
    return lane && lanes ? [hasKey(this.#resolved, lanes, lane.keys, this.#binding)] : [];
  }
}

/** Appends the id as the last sort key, as in the order of lists of issues. */
function orderOf(sort: string, directory: Directory): SortKey[] {
  const order = issueOrder(existingSort(sort, directory), directory);
  return [...order, { sql: 'id', direction: order.at(-1)?.direction ?? 'asc' }];
}
