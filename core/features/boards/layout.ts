// SQL conditions for the issues of a board, and its columns and lanes with exact card counts from one
// statement, which runs off the event loop.
import type { Context } from '../../kernel/context.ts';
import { notDeleted } from '../../kernel/changes/list.ts';
import type { Condition } from '../../platform/store/page.ts';
import { type Value, composedStatement } from '../../platform/store/statement.ts';
import { issueFiltering } from '../issues/index.ts';
import type { Board } from './model.ts';
import {
  gone,
  groupingIn,
  type Group,
  type Grouped,
  type Grouping,
  type GroupKey,
  type BoardVisibility,
  none,
} from './grouping.ts';

/**
 * Binds values to a statement. The text of the statement depends on their number only, so it can be cached.
 */
export class Binding {
  readonly params: Record<string, Value> = {};
  #count = 0;

  bind(value: Value): string {
    const name = `b${this.#count++}`;
    this.params[name] = value;
    return `:${name}`;
  }

  /** Binds a list as one JSON parameter, so that its length does not change the text. */
  list(values: readonly Value[]): string {
    return `(SELECT value FROM json_each(${this.bind(JSON.stringify(values))}))`;
  }

  /** Binds the parameters of the conditions, and returns their SQL. */
  add(conditions: readonly Condition[]): string[] {
    for (const { params } of conditions) Object.assign(this.params, params);
    return conditions.map(({ sql }) => sql);
  }
}

/** Settings that arrange issues as cards: those of a stored board, or of one request. */
export interface BoardSettings extends Pick<Board, 'teamId' | 'groupBy' | 'columns' | 'swimlanes' | 'sort'> {
  /** Id of the stored board, which owns the ranks of moved cards; null for a board of one request. */
  readonly id: string | null;
}

export interface ResolvedBoard<B extends BoardSettings = BoardSettings> extends BoardVisibility {
  readonly board: B;
  readonly columns: Grouping;
  readonly lanes: Grouping | null;
  /** Conditions on the issues of the board, except the team. */
  readonly conditions: readonly Condition[];
  /** Ids of the labels that can be columns; empty for other groupings. */
  readonly labels: readonly string[];
  /** Parameters that determine the cards; a cursor is valid only with the same ones. */
  readonly contents: Readonly<Record<string, unknown>>;
}

/** @param ctx context whose `visibleTeams` are the teams in which the caller may read issues */
export async function resolveBoard(ctx: Context, board: Board): Promise<ResolvedBoard<Board>> {
  const { groupBy, swimlanes, sort, filter } = board;
  const conditions = await issueFiltering.conditions(ctx, [{ tree: filter, at: 'filter', wasTaken: true }]);
  const contents = { groupBy, swimlanes, sort, filter };
  return resolveSettings(ctx, board, { conditions: [notDeleted, ...conditions], contents });
}

/** @param ctx context whose `visibleTeams` are the teams in which the caller may read issues */
export function resolveSettings<B extends BoardSettings>(
  { directory, visibleTeams }: Context,
  board: B,
  { conditions, contents }: Pick<ResolvedBoard, 'conditions' | 'contents'>,
): ResolvedBoard<B> {
  const isOther = visibleTeams !== null && board.teamId !== null && !visibleTeams.has(board.teamId);
  const teams = board.teamId === null ? visibleTeams : new Set(isOther ? [] : [board.teamId]);
  const resolved = { directory, teams };
  const columns = groupingIn(resolved, board.groupBy) ?? gone;
  const labelIds = board.columns?.flatMap(({ value }) => value ?? []) ?? [...directory.labels.keys()];
  return {
    ...resolved,
    board,
    columns,
    lanes: board.swimlanes === null ? null : (groupingIn(resolved, board.swimlanes) ?? gone),
    conditions,
    contents,
    labels: columns.column === null ? labelIds.filter((id) => columns.keysOf(resolved, id).length > 0) : [],
  };
}

/**
 * Restricts issues to the teams of the board. If each state belongs to one team, the condition uses states,
 * which are in the index that counts cards.
 */
export function ofTeams({ teams, directory, columns }: ResolvedBoard, binding: Binding): string[] {
  if (teams === null) return [];
  if (!columns.ofTeam) return [`team_id IN ${binding.list([...teams])}`];
  const states = [...directory.states.values()].filter(({ teamId }) => teams.has(teamId));
  return [`state_id IN ${binding.list(states.map(({ id }) => id))}`];
}

const carries = (condition: string): string =>
  `EXISTS (SELECT 1 FROM issue_labels AS k WHERE k.workspace_id = :ws AND k.issue_id = issues.id AND k.label_id ${condition})`;

/** Returns SQL that is true for issues that have one of the keys. */
export function hasKey(
  { labels }: ResolvedBoard,
  { column }: Grouping,
  keys: readonly GroupKey[],
  binding: Binding,
): string {
  // Null is always the only key of its group, and an unknown value has no keys.
  const [key] = keys;
  if (key === null)
    return column === null ? `NOT ${carries(`IN ${binding.list(labels)}`)}` : `${column} IS NULL`;
  const listed = keys.length === 1 ? `= ${binding.bind(key!)}` : `IN ${binding.list(keys)}`;
  return column === null ? carries(listed) : `${column} ${listed}`;
}

/** Returns the group keys of an issue; `[null]` if the issue is in the group without a value. */
export function keysHad(
  { labels }: ResolvedBoard,
  { column, keysOn }: Grouping,
  issue: Grouped,
): readonly GroupKey[] {
  const has = keysOn(issue).filter((key) => column !== null || labels.includes(String(key)));
  return has.length === 0 ? [null] : has;
}

export function isInGroup(
  resolved: ResolvedBoard,
  grouping: Grouping,
  { keys }: Group,
  issue: Grouped,
): boolean {
  return keysHad(resolved, grouping, issue).some((key) => keys.includes(key));
}

type ColumnConfig = NonNullable<BoardSettings['columns']>[number];

/** Returns the key that requests use for the group of a value. */
export const keyOf = (grouping: Grouping, value: string | null): string => value ?? grouping.none ?? none;

function groupOf(
  resolved: ResolvedBoard,
  grouping: Grouping,
  { value, title, limit, hidden }: ColumnConfig,
): Group {
  return {
    key: keyOf(grouping, value),
    value,
    title: title ?? grouping.titleOf(resolved, value),
    keys: grouping.keysOf(resolved, value),
    limit: limit ?? null,
    hidden: hidden ?? false,
  };
}

const groupsOf = (
  resolved: ResolvedBoard,
  grouping: Grouping,
  configured: readonly ColumnConfig[],
): Group[] => configured.map((one) => groupOf(resolved, grouping, one));

/** Returns the configured columns; null if they follow from the cards. */
export function configuredColumns(resolved: ResolvedBoard): Group[] | null {
  const { columns } = resolved.board;
  return columns && groupsOf(resolved, resolved.columns, columns);
}

/** Returns the column with a key; undefined if the board does not have it. */
export function findColumn(resolved: ResolvedBoard, key: string): Group | undefined {
  const configured = configuredColumns(resolved);
  return configured
    ? configured.find((column) => column.key === key)
    : findDerived(resolved, resolved.columns, key);
}

/** Returns the lane with a key; undefined if the board does not have it. */
export function findLane(resolved: ResolvedBoard, key: string): Group | undefined {
  return resolved.lanes ? findDerived(resolved, resolved.lanes, key) : undefined;
}

function findDerived(resolved: ResolvedBoard, grouping: Grouping, key: string): Group | undefined {
  const group = groupOf(resolved, grouping, { value: key === grouping.none ? null : key });
  return group.keys.length > 0 ? group : undefined;
}

/** Columns and lanes with their card counts. */
export interface Layout {
  readonly resolved: ResolvedBoard;
  readonly columns: readonly Group[];
  /** Lanes, top to bottom; null if the board has none. */
  readonly lanes: readonly Group[] | null;
  /**
   * Returns the number of cards in a cell, given indexes into `columns` and `lanes`; without `lane`, in the
   * column.
   */
  count(column: number, lane?: number): number;
  /** Number of cards in no column. */
  readonly elsewhere: number;
}

interface Counted {
  readonly in_column: GroupKey;
  readonly in_lane: GroupKey;
  readonly cards: number;
}

export async function layoutOf(ctx: Context, resolved: ResolvedBoard): Promise<Layout> {
  return layoutBy(resolved, await countCards(ctx, resolved));
}

/** @param counted counts by keys; one pair of keys may have several entries */
export function layoutBy(resolved: ResolvedBoard, counted: readonly Counted[]): Layout {
  const keysOf = (name: 'in_column' | 'in_lane'): ReadonlySet<GroupKey> =>
    new Set(counted.map((row) => row[name]));
  const derivedOf = (grouping: Grouping, keys: ReadonlySet<GroupKey>): Group[] =>
    groupsOf(
      resolved,
      grouping,
      grouping.derived(resolved, keys).map((value) => ({ value })),
    );
  const columns = configuredColumns(resolved) ?? derivedOf(resolved.columns, keysOf('in_column'));
  const lanes = resolved.lanes && derivedOf(resolved.lanes, keysOf('in_lane'));
  const columnOf = positionsOf(columns);
  const laneOf = positionsOf(lanes ?? []);
  const counts = new Map<string, number>();
  const add = (position: string, cards: number): void =>
    void counts.set(position, (counts.get(position) ?? 0) + cards);
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
    resolved,
    columns,
    lanes,
    elsewhere,
    count: (column, lane) => counts.get(lane === undefined ? `${column}` : `${column}/${lane}`) ?? 0,
  };
}

/** Maps each key to the index of its group. */
function positionsOf(groups: readonly Group[]): ReadonlyMap<GroupKey, number> {
  return new Map(groups.flatMap(({ keys }, position) => keys.map((key) => [key, position] as const)));
}

async function countCards(ctx: Context, resolved: ResolvedBoard): Promise<Counted[]> {
  const binding = new Binding();
  const { columns, lanes } = resolved;
  const labeled =
    columns.column === null
      ? ` LEFT JOIN (SELECT issue_id AS labeled_id, label_id AS labeled_as FROM issue_labels
            WHERE workspace_id = :ws AND label_id IN ${binding.list(resolved.labels)}) ON labeled_id = issues.id`
      : '';
  const where = [
    'issues.workspace_id = :ws',
    ...binding.add(resolved.conditions),
    ...ofTeams(resolved, binding),
  ];
  const keys = [columns.column ?? 'labeled_as', ...(lanes ? [lanes.column!] : [])];
  const sql = `SELECT ${keys[0]} AS in_column, ${keys[1] ?? 'NULL'} AS in_lane, count(*) AS cards FROM issues${labeled}
    WHERE ${where.join(' AND ')} GROUP BY ${keys.join(', ')}`;
  const rows = await ctx.store.read<Record<string, Value>>(
    ctx.scope,
    composedStatement<Record<string, Value>>(sql, null),
    binding.params,
  );
  const keyOf = (value: Value | undefined): GroupKey =>
    typeof value === 'bigint' ? Number(value) : ((value ?? null) as GroupKey);
  return rows.map(({ in_column, in_lane, cards }) => ({
    in_column: keyOf(in_column),
    in_lane: keyOf(in_lane),
    cards: Number(cards),
  }));
}
