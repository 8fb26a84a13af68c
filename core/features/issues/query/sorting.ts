// Sort order of issue lists, as SQL keys and as keys over issues in API representation. Both must give the
// same values, because a list at a past moment merges rows with the log, and a cursor applies to both.
import type { Context, Directory } from '../../../kernel/context.ts';
import { customKeys, customSortings } from '../../fields/index.ts';
import { keysOf, type AsOfSortKey, type SpecialKeys } from '../../../kernel/resource/as-of/list.ts';
import type { Was } from '../../../kernel/resource/as-of/objects.ts';
import { bothWays, sortingsOf, sortKeysOf, type Sorting } from '../../../kernel/resource/sort.ts';
import type { SortKey } from '../../../platform/store/page.ts';
import { stateTypes } from '../../workflows/contract.ts';
import { issue, priorities } from '../contract.ts';
import { neverDue } from '../model.ts';

const sortings: Readonly<Record<string, Sorting>> = {
  ...sortingsOf(issue),
  // Ranks are compared by bytes; `~` is greater than every letter.
  subOrder: bothWays("coalesce(sub_order, '~')", "coalesce(sub_order, '')"),
  // The ascending order uses the column alone, so that an index applies.
  slaDueAt: bothWays('sla_due_at', `coalesce(nullif(sla_due_at, ${neverDue}), -1)`),
  // Priorities are stored with the most urgent first. `none` sorts last in both directions.
  priority: {
    ascending: [
      { sql: '(priority = 4)', direction: 'asc' },
      { sql: '-priority', direction: 'asc' },
    ],
    descending: [{ sql: 'priority', direction: 'asc' }],
  },
};

/** Sorts after every name. */
const above = '\u{10FFFF}';

/** SQL for states by type, position and name: workflow order, also across teams. */
const stateSql = `(SELECT CASE s.type ${stateTypes.map((type, rank) => `WHEN '${type}' THEN ${rank}`).join(' ')} END
  || printf(' %04d ', s.position) || s.name FROM states AS s WHERE s.workspace_id = :ws AND s.id = issues.state_id)`;
const memberSql =
  '(SELECT m.name FROM members AS m WHERE m.workspace_id = :ws AND m.id = issues.assignee_id)';

function stateSortKey({ states }: Directory, id: string): string {
  const { type, position = 0, name = '' } = states.get(id) ?? {};
  return `${type ? stateTypes.indexOf(type) : ''} ${String(position).padStart(4, '0')} ${name}`;
}
const nameOfMember = ({ members }: Directory, id: string): string => members.get(id)?.name ?? '';

/**
 * Sorts by states and assignees. The SQL is the same for every workspace, so that cursors stay valid when
 * states and members change.
 * @param now directory that matches the tables, if the list uses another one
 */
function nameSortings(directory: Directory, now: Directory): Readonly<Record<string, Sorting>> {
  const keyByName = (
    param: string,
    column: string,
    sql: string,
    ids: Iterable<string>,
    nameOf: (directory: Directory, id: string) => string,
  ): Pick<SortKey, 'sql' | 'params'> => {
    const others = [...(directory === now ? [] : ids)].flatMap((id) =>
      nameOf(directory, id) === nameOf(now, id) ? [] : [[id, nameOf(directory, id)] as const],
    );
    if (others.length === 0) return { sql };
    const params = { [param]: JSON.stringify(Object.fromEntries(others)) };
    return { sql: `coalesce(:${param} ->> ${column}, ${sql})`, params };
  };
  const state = keyByName('statesThen', 'state_id', stateSql, directory.states.keys(), stateSortKey);
  const member = keyByName('membersThen', 'assignee_id', memberSql, directory.members.keys(), nameOfMember);
  const assignee = (missing: string, direction: SortKey['direction']): SortKey[] => [
    { ...member, sql: `coalesce(${member.sql}, '${missing}')`, direction },
    { sql: "coalesce(assignee_id, '')", direction },
  ];
  return {
    state: { ascending: [{ ...state, direction: 'asc' }], descending: [{ ...state, direction: 'desc' }] },
    assignee: { ascending: assignee(above, 'asc'), descending: assignee('', 'desc') },
  };
}

/** Removes deleted custom fields from a stored sort; undefined if nothing is left. */
export function existingSort(sort: string, { fields }: Directory): string | undefined {
  const keys = new Set([...fields.values()].map(({ key }) => `fields.${key}`));
  const existing = sort.split(',').filter((name) => {
    const field = name.replace(/^-/, '');
    return !field.startsWith('fields.') || keys.has(field);
  });
  return existing.length === 0 ? undefined : existing.join(',');
}

/**
 * Parses a sort such as `-priority,updatedAt`: most urgent first, then least recently updated.
 * @throws ApiError validation_failed
 */
export function issueOrder(
  sort: string | undefined,
  directory: Directory,
  now: Directory = directory,
): SortKey[] {
  if (sort === undefined) return [{ sql: 'created_at', direction: 'desc' }];
  const keys = sortKeysOf(
    { ...sortings, ...nameSortings(directory, now), ...customSortings(directory) },
    sort,
  );
  // Ids sort by creation time already; naming `created_at` makes the order match an index.
  return sort === '-priority' ? [...keys, { sql: 'created_at', direction: 'asc' }] : keys;
}

/** Sorts by a value, with missing values last in both directions. */
function keysBothWays(
  of: (was: Was) => string | number | null,
  above: string | number,
  below: string | number,
): [AsOfSortKey[], AsOfSortKey[]] {
  return [
    [{ of: (was) => of(was) ?? above, direction: 'asc' }],
    [{ of: (was) => of(was) ?? below, direction: 'desc' }],
  ];
}

const ranks = priorities.toReversed();
/** Value of the column, because a cursor contains it and rows are compared with the cursor. */
const rankOf = ({ priority }: Was): number => ranks.indexOf(priority as (typeof priorities)[number]);
const isNone = ({ priority }: Was): number => (priority === 'none' ? 1 : 0);
/** Same order as `issueOrder`. */
const special: SpecialKeys = {
  subOrder: keysBothWays((was) => was.subOrder as string | null, '~', ''),
  slaDueAt: keysBothWays(
    (was) => (was.slaDueAt === null ? null : Date.parse(String(was.slaDueAt))),
    neverDue,
    -1,
  ),
  priority: [
    [
      { of: isNone, direction: 'asc' },
      { of: (was) => -rankOf(was), direction: 'asc' },
    ],
    [{ of: rankOf, direction: 'asc' }],
  ],
};

const assigneeOf = ({ assignee }: Was): { id: string; name: string } | null =>
  assignee as { id: string; name: string } | null;

function nameKeys(directory: Directory): SpecialKeys {
  const byState = (was: Was): string => stateSortKey(directory, (was.state as { id: string }).id);
  const byAssignee = (missing: string, direction: AsOfSortKey['direction']): AsOfSortKey[] => [
    { of: (was) => assigneeOf(was)?.name ?? missing, direction },
    { of: (was) => assigneeOf(was)?.id ?? '', direction },
  ];
  return {
    state: [[{ of: byState, direction: 'asc' }], [{ of: byState, direction: 'desc' }]],
    assignee: [byAssignee(above, 'asc'), byAssignee('', 'desc')],
  };
}

/** Returns the keys of a sort of issues over their API representation. */
export function issueKeys(sort: string | undefined, { directory }: Context): AsOfSortKey[] {
  // Validates the sort first, with the error texts of the list.
  issueOrder(sort, directory);
  const keys = { ...special, ...nameKeys(directory), ...customKeys(directory) };
  if (sort === '-priority') return keysOf(issue, '-priority,createdAt', keys);
  return keysOf(issue, sort ?? '-createdAt', keys);
}
