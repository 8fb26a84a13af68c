// Counts issues, in total and by group, for the headings of lists and boards.
import { Type, type Static } from 'typebox';
import { priorities } from '../contract.ts';
import { stateTypes } from '../../workflows/contract.ts';
import type { Context, Directory } from '../../../kernel/context.ts';
import { Closed, enumeration, namedSchema, nullable } from '../../../platform/lib/schema.ts';
import type { Condition } from '../../../platform/store/page.ts';
import { composedStatement, type Value } from '../../../platform/store/statement.ts';
import { selectionConditions, selectionQuery, type SelectionQuery } from './list.ts';

const groupings = [
  'state',
  'stateType',
  'assignee',
  'priority',
  'label',
  'project',
  'cycle',
  'team',
] as const;
type Grouping = (typeof groupings)[number];

const IssueGroup = namedSchema(
  'IssueGroup',
  Closed({
    key: nullable(
      Type.String({
        description: 'Value that the list takes as a filter, such as an id or a priority; null for no value.',
      }),
    ),
    name: nullable(Type.String({ description: 'Name of the group; null for no value.' })),
    count: Type.Integer({ minimum: 1, description: 'Number of issues in the group.' }),
  }),
);

export const IssueCount = namedSchema(
  'IssueCount',
  Closed({
    count: Type.Integer({ minimum: 0, description: 'Number of issues that match.' }),
    groups: nullable(
      Type.Array(IssueGroup, {
        description:
          'Groups with issues, in their natural order; an issue with several labels counts in each. Null without `groupBy`.',
      }),
    ),
  }),
);

export const countQuery = Closed({
  groupBy: Type.Optional(
    enumeration('IssueGrouping', groupings, 'Field whose values are counted; by default only the total is.'),
  ),
  ...selectionQuery,
});

interface CountQuery extends SelectionQuery {
  readonly groupBy?: Grouping;
}

type Key = string | number | null;
interface Group {
  readonly key: string | null;
  readonly name: string | null;
  readonly count: number;
  /** Position of the group among the others. */
  readonly rank: string;
}

/** @throws ApiError validation_failed, budget_exceeded */
export async function countIssues(ctx: Context, query: CountQuery): Promise<Static<typeof IssueCount>> {
  const conditions = [...(await selectionConditions(ctx, query)), ...ofVisibleTeams(ctx)];
  const { groupBy } = query;
  if (groupBy === undefined) return { count: await total(ctx, conditions), groups: null };
  const rows = await countBy(ctx, conditions, groupBy);
  const groups = groupsOf(ctx.directory, groupBy, rows);
  const count =
    groupBy === 'label'
      ? await total(ctx, conditions)
      : rows.reduce((sum, { issues }) => sum + Number(issues), 0);
  return { count, groups: groups.map(({ key, name, count: issues }) => ({ key, name, count: issues })) };
}

function ofVisibleTeams({ visibleTeams }: Context): Condition[] {
  if (visibleTeams === null) return [];
  const params = { countedTeams: JSON.stringify([...visibleTeams]) };
  return [{ sql: 'team_id IN (SELECT value FROM json_each(:countedTeams))', params }];
}

interface CountRow {
  readonly value: Key;
  readonly issues: number;
}

const columns: Readonly<Record<Exclude<Grouping, 'label'>, string>> = {
  state: 'state_id',
  stateType: 'state_id',
  assignee: 'assignee_id',
  priority: 'priority',
  project: 'project_id',
  cycle: 'cycle_id',
  team: 'team_id',
};

const matching = (conditions: readonly Condition[]): string =>
  ['workspace_id = :ws', ...conditions.map(({ sql }) => sql)].join(' AND ');

const paramsOf = (conditions: readonly Condition[]): Record<string, Value> =>
  Object.assign({}, ...conditions.map(({ params }) => params));

async function total(ctx: Context, conditions: readonly Condition[]): Promise<number> {
  const [row] = await readCounts(
    ctx,
    conditions,
    `SELECT NULL AS value, count(*) AS issues FROM issues
    WHERE ${matching(conditions)}`,
  );
  return Number(row?.issues ?? 0);
}

function countBy(
  ctx: Context,
  conditions: readonly Condition[],
  groupBy: Grouping,
): Promise<readonly CountRow[]> {
  if (groupBy !== 'label') {
    const column = columns[groupBy];
    return readCounts(
      ctx,
      conditions,
      `SELECT ${column} AS value, count(*) AS issues FROM issues WHERE ${matching(conditions)} GROUP BY ${column}`,
    );
  }
  return readCounts(
    ctx,
    conditions,
    `SELECT l.label_id AS value, count(*) AS issues
     FROM (SELECT id AS counted FROM issues WHERE ${matching(conditions)})
     LEFT JOIN issue_labels AS l ON l.workspace_id = :ws AND l.issue_id = counted GROUP BY l.label_id`,
  );
}

function readCounts(
  ctx: Context,
  conditions: readonly Condition[],
  sql: string,
): Promise<readonly CountRow[]> {
  const terms = conditions.map((condition) => condition.sql);
  return ctx.store.read(ctx.scope, composedStatement<CountRow>(sql, terms), paramsOf(conditions));
}

function groupsOf(directory: Directory, groupBy: Grouping, rows: readonly CountRow[]): readonly Group[] {
  const groups = new Map<string | null, Group>();
  for (const { value, issues } of rows) {
    const group = value === null ? null : nameOf(directory, groupBy, value);
    const key = group?.key ?? null;
    const count = Number(issues) + (groups.get(key)?.count ?? 0);
    groups.set(key, { key, name: group?.name ?? null, rank: group?.rank ?? '~', count });
  }
  // Values of deleted objects are listed under their id.
  return [...groups.values()].toSorted((a, b) =>
    a.key === null || b.key === null
      ? Number(a.key === null) - Number(b.key === null)
      : a.rank.localeCompare(b.rank) || a.key.localeCompare(b.key),
  );
}

/** Priorities by their stored rank. */
const storedPriorities = priorities.toReversed();
const stateTypeOrder: readonly string[] = stateTypes;
const ranked = (position: number): string => String(position).padStart(6, '0');

type Named = Omit<Group, 'count'>;

const namings: Readonly<
  Record<Grouping, (directory: Directory, value: string) => (Omit<Named, 'key'> & { key?: string }) | null>
> = {
  state: ({ states, teams }, id) => {
    const state = states.get(id);
    const team = state && teams.get(state.teamId);
    return state
      ? {
          name: state.name,
          rank: `${ranked(stateTypeOrder.indexOf(state.type))} ${team?.key} ${ranked(state.position)}`,
        }
      : null;
  },
  stateType: ({ states }, id) => {
    const type = states.get(id)?.type ?? 'unstarted';
    return { key: type, name: type, rank: ranked(stateTypeOrder.indexOf(type)) };
  },
  priority: (_, rank) => {
    const priority = storedPriorities[Number(rank)] ?? 'none';
    return { key: priority, name: priority, rank: ranked(Number(rank)) };
  },
  assignee: ({ members }, id) => byName(members.get(id)),
  label: ({ labels }, id) => byName(labels.get(id)),
  project: ({ projects }, id) => byName(projects.get(id)),
  cycle: ({ cycles }, id) => byName(cycles.get(id)),
  team: ({ teams }, id) => byName(teams.get(id)),
};

const byName = (entry: { readonly name: string } | undefined): { name: string; rank: string } | null =>
  entry ? { name: entry.name, rank: entry.name.toLowerCase() } : null;

function nameOf(directory: Directory, groupBy: Grouping, value: string | number): Named {
  const id = String(value);
  return { key: id, name: id, rank: '~', ...namings[groupBy](directory, id) };
}
