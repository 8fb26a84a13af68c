// Columns and lanes of a board, with exact card counts from one statement that runs off the event loop.
import type { Context } from '../../context.ts';
import { composedStatement, type Value } from '../../store/statement.ts';
import { none, type Group, type Grouping, type Key } from './grouping.ts';
import { Binding, ofTeams, type BoardSight } from './sight.ts';

/** Configuration of a column. */
type ColumnConfig = NonNullable<BoardSight['board']['columns']>[number];

/** Returns the key that requests use for the group of a value. */
export const keyOf = (grouping: Grouping, value: string | null): string => value ?? grouping.none ?? none;

function groupOf(
  sight: BoardSight,
  grouping: Grouping,
  { value, title, limit, hidden }: ColumnConfig,
): Group {
  return {
    key: keyOf(grouping, value),
    value,
    title: title ?? grouping.titleOf(sight, value),
    keys: grouping.keysOf(sight, value),
    limit: limit ?? null,
    hidden: hidden ?? false,
  };
}

const groupsOf = (sight: BoardSight, grouping: Grouping, configured: readonly ColumnConfig[]): Group[] =>
  configured.map((one) => groupOf(sight, grouping, one));

/** Returns the configured columns; null if they follow from the cards. */
export function configuredColumns(sight: BoardSight): Group[] | null {
  const { columns } = sight.board;
  return columns && groupsOf(sight, sight.columns, columns);
}

/** Returns the column with a key; undefined if the board does not have it. */
export function findColumn(sight: BoardSight, key: string): Group | undefined {
  const configured = configuredColumns(sight);
  return configured
    ? configured.find((column) => column.key === key)
    : findDerived(sight, sight.columns, key);
}

/** Returns the lane with a key; undefined if the board does not have it. */
export function findLane(sight: BoardSight, key: string): Group | undefined {
  return sight.lanes ? findDerived(sight, sight.lanes, key) : undefined;
}

function findDerived(sight: BoardSight, grouping: Grouping, key: string): Group | undefined {
  const group = groupOf(sight, grouping, { value: key === grouping.none ? null : key });
  return group.keys.length > 0 ? group : undefined;
}

/** Columns and lanes with their card counts. */
export interface Layout {
  readonly sight: BoardSight;
  readonly columns: readonly Group[];
  /** Null if the board has none. */
  readonly lanes: readonly Group[] | null;
  /** Takes indexes into `columns` and `lanes`; without a lane, counts all lanes. */
  count(column: number, lane?: number): number;
  /** Number of cards in no column. */
  readonly elsewhere: number;
}

interface Counted {
  readonly in_column: Key;
  readonly in_lane: Key;
  readonly cards: number;
}

export async function layoutOf(ctx: Context, sight: BoardSight): Promise<Layout> {
  return layoutBy(sight, await countCards(ctx, sight));
}

/** @param counted counts by keys; one pair of keys may have several entries */
export function layoutBy(sight: BoardSight, counted: readonly Counted[]): Layout {
  const keysOf = (name: 'in_column' | 'in_lane'): ReadonlySet<Key> =>
    new Set(counted.map((row) => row[name]));
  const derivedOf = (grouping: Grouping, keys: ReadonlySet<Key>): Group[] =>
    groupsOf(
      sight,
      grouping,
      grouping.derived(sight, keys).map((value) => ({ value })),
    );
  const columns = configuredColumns(sight) ?? derivedOf(sight.columns, keysOf('in_column'));
  const lanes = sight.lanes && derivedOf(sight.lanes, keysOf('in_lane'));
  const columnOf = placesOf(columns);
  const laneOf = placesOf(lanes ?? []);
  const counts = new Map<string, number>();
  const add = (place: string, cards: number): void =>
    void counts.set(place, (counts.get(place) ?? 0) + cards);
  let elsewhere = 0;
  for (const { in_column, in_lane, cards } of counted) {
    const [column, lane] = [columnOf.get(in_column), laneOf.get(in_lane)];
    if (column === undefined) elsewhere += cards;
    else {
      add(`${column}`, cards);
      if (lane !== undefined) add(`${column}/${lane}`, cards);
    }
  }
  return {
    sight,
    columns,
    lanes,
    elsewhere,
    count: (column, lane) => counts.get(lane === undefined ? `${column}` : `${column}/${lane}`) ?? 0,
  };
}

/** Maps each key to the index of its group. */
function placesOf(groups: readonly Group[]): ReadonlyMap<Key, number> {
  return new Map(groups.flatMap(({ keys }, place) => keys.map((key) => [key, place] as const)));
}

async function countCards(ctx: Context, sight: BoardSight): Promise<Counted[]> {
  const binding = new Binding();
  const { columns, lanes } = sight;
  const labeled =
    columns.column === null
      ? ` LEFT JOIN (SELECT issue_id AS labeled_id, label_id AS labeled_as FROM issue_labels
            WHERE workspace_id = :ws AND label_id IN ${binding.list(sight.labels)}) ON labeled_id = issues.id`
      : '';
  const where = ['issues.workspace_id = :ws', ...binding.add(sight.conditions), ...ofTeams(sight, binding)];
  const keys = [columns.column ?? 'labeled_as', ...(lanes ? [lanes.column!] : [])];
  const sql = `SELECT ${keys[0]} AS in_column, ${keys[1] ?? 'NULL'} AS in_lane, count(*) AS cards FROM issues${labeled}
    WHERE ${where.join(' AND ')} GROUP BY ${keys.join(', ')}`;
  const rows = await ctx.store.read<Record<string, Value>>(
    ctx.scope,
    composedStatement<Record<string, Value>>(sql, null),
    binding.params,
  );
  const keyOf = (value: Value | undefined): Key =>
    typeof value === 'bigint' ? Number(value) : ((value ?? null) as Key);
  return rows.map(({ in_column, in_lane, cards }) => ({
    in_column: keyOf(in_column),
    in_lane: keyOf(in_lane),
    cards: Number(cards),
  }));
}
