// SQL conditions for the issues of a board: its team and filter, and its columns and lanes.
import type { Context } from '../../kernel/context.ts';
import { notDeleted } from '../../kernel/changes/list.ts';
import type { Condition } from '../../platform/store/page.ts';
import type { Value } from '../../platform/store/statement.ts';
import { issueFiltering } from '../issues/index.ts';
import type { Board } from './model.ts';
import { gone, groupingIn } from './field-grouping.ts';
import type { Group, Grouped, Grouping, GroupKey, BoardVisibility } from './grouping.ts';

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

export interface ResolvedBoard extends BoardVisibility {
  readonly board: Board;
  readonly columns: Grouping;
  readonly lanes: Grouping | null;
  /** Conditions on the issues of the board, except the team. */
  readonly conditions: readonly Condition[];
  /** Ids of the labels that can be columns; empty for other groupings. */
  readonly labels: readonly string[];
}

/** @param ctx context whose `visibleTeams` are the teams in which the caller may read issues */
export async function resolveBoard(ctx: Context, board: Board): Promise<ResolvedBoard> {
  const { directory, visibleTeams } = ctx;
  const isOther = visibleTeams !== null && board.teamId !== null && !visibleTeams.has(board.teamId);
  const teams = board.teamId === null ? visibleTeams : new Set(isOther ? [] : [board.teamId]);
  const resolved = { directory, teams };
  const conditions = await issueFiltering.conditions(ctx, [
    { tree: board.filter, at: 'filter', wasTaken: true },
  ]);
  const columns = groupingIn(resolved, board.groupBy) ?? gone;
  const labelIds = board.columns?.flatMap(({ value }) => value ?? []) ?? [...directory.labels.keys()];
  return {
    ...resolved,
    board,
    columns,
    lanes: board.swimlanes === null ? null : (groupingIn(resolved, board.swimlanes) ?? gone),
    conditions: [notDeleted, ...conditions],
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
