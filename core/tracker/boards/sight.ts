// What of the issues a board is about, as conditions: its team and its filter, and the columns and lanes that cards stand in.
import type { Context } from '../../context.ts';
import { notDeleted } from '../../changes/list.ts';
import type { Condition } from '../../store/page.ts';
import type { Value } from '../../store/statement.ts';
import { issueFiltering } from '../issues/filter.ts';
import type { Board } from './kind.ts';
import { gone, groupingIn } from './field-grouping.ts';
import type { Group, Grouped, Grouping, Key, Sight } from './grouping.ts';

/** Values on their way into a statement, whose text depends on how many there are and not on what they are. */
export class Binding {
  readonly params: Record<string, Value> = {};
  #count = 0;

  bind(value: Value): string {
    const name = `b${this.#count++}`;
    this.params[name] = value;
    return `:${name}`;
  }

  /** A list of one length for all. */
  list(values: readonly Value[]): string {
    return `(SELECT value FROM json_each(${this.bind(JSON.stringify(values))}))`;
  }

  /** @returns the conditions as text */
  add(conditions: readonly Condition[]): string[] {
    for (const { params } of conditions) Object.assign(this.params, params);
    return conditions.map(({ sql }) => sql);
  }
}

export interface BoardSight extends Sight {
  readonly board: Board;
  readonly columns: Grouping;
  readonly lanes: Grouping | null;
  /** Of the issues that it shows, but that they are of its teams. */
  readonly conditions: readonly Condition[];
  /** The labels that its columns can stand for, where they do. */
  readonly labels: readonly string[];
}

/** @param ctx sees the issues that the caller may read */
export async function sightOf(ctx: Context, board: Board): Promise<BoardSight> {
  const { directory, visibleTeams } = ctx;
  const isOther = visibleTeams !== null && board.teamId !== null && !visibleTeams.has(board.teamId);
  const teams = board.teamId === null ? visibleTeams : new Set(isOther ? [] : [board.teamId]);
  const sight = { directory, teams };
  const conditions = await issueFiltering.conditions(ctx, [
    { tree: board.filter, at: 'filter', wasTaken: true },
  ]);
  const columns = groupingIn(sight, board.groupBy) ?? gone;
  const named = board.columns?.flatMap(({ value }) => value ?? []) ?? [...directory.labels.keys()];
  return {
    ...sight,
    board,
    columns,
    lanes: board.swimlanes === null ? null : (groupingIn(sight, board.swimlanes) ?? gone),
    conditions: [notDeleted, ...conditions],
    labels: columns.column === null ? named.filter((id) => columns.keysOf(sight, id).length > 0) : [],
  };
}

/** That issues are of its teams. Where each state is one team's, it is said by states, which are in the index that counts them. */
export function ofTeams({ teams, directory, columns }: BoardSight, binding: Binding): string[] {
  if (teams === null) return [];
  if (!columns.ofTeam) return [`team_id IN ${binding.list([...teams])}`];
  const states = [...directory.states.values()].filter(({ teamId }) => teams.has(teamId));
  return [`state_id IN ${binding.list(states.map(({ id }) => id))}`];
}

const carries = (condition: string): string =>
  `EXISTS (SELECT 1 FROM issue_labels AS k WHERE k.workspace_id = :ws AND k.issue_id = issues.id AND k.label_id ${condition})`;

/** That issues have one of some keys. */
export function hasKey(
  { labels }: BoardSight,
  { column }: Grouping,
  keys: readonly Key[],
  binding: Binding,
): string {
  // A value that stands for nothing has no keys, and nothing else stands for none and something.
  const [key] = keys;
  if (key === null)
    return column === null ? `NOT ${carries(`IN ${binding.list(labels)}`)}` : `${column} IS NULL`;
  const listed = keys.length === 1 ? `= ${binding.bind(key!)}` : `IN ${binding.list(keys)}`;
  return column === null ? carries(listed) : `${column} ${listed}`;
}

/** The keys that an issue has of those that the board knows; null where it has none. */
export function keysHad(
  { labels }: BoardSight,
  { column, keysOn }: Grouping,
  issue: Grouped,
): readonly Key[] {
  const has = keysOn(issue).filter((key) => column !== null || labels.includes(String(key)));
  return has.length === 0 ? [null] : has;
}

/** Whether an issue stands in a column or lane. */
export function standsIn(sight: BoardSight, grouping: Grouping, { keys }: Group, issue: Grouped): boolean {
  return keysHad(sight, grouping, issue).some((key) => keys.includes(key));
}
