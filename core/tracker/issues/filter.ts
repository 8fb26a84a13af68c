// What issues can be filtered and sorted by: the same names in lists, webhook filters and plugin subscriptions. Beyond their
// fields these are the id of the state, and labels, which lie in a table of their own.
import type { Directory } from '../../context.ts';
import type { FilterFields } from '../../lib/filter.ts';
import { filterColumnsOf, filterFieldsOf } from '../../resource/filter.ts';
import { sortingsOf, sortKeysOf, type Sorting } from '../../resource/sort.ts';
import type { FilterColumn } from '../../store/filter-sql.ts';
import type { SortKey } from '../../store/page.ts';
import { issue, priorities } from './contract.ts';

export const issueFilterFields: FilterFields = {
  ...filterFieldsOf(issue),
  stateId: { type: 'text', path: 'state.id' },
  label: { type: 'text', path: 'labels[].name', idPath: 'labels[].id' },
};

const ownColumns = filterColumnsOf(issue);
const ranks = priorities.toReversed();
/** Fewer issues than most labels are on. */
const ofFew = ['id', 'assignee', 'project', 'parent', 'externalId'];

export function issueFilterColumns(directory: Directory): Readonly<Record<string, FilterColumn>> {
  const own = ownColumns(directory);
  return {
    ...own,
    ...Object.fromEntries(ofFew.map((name) => [name, { ...own[name]!, few: true as const }])),
    stateId: { sql: 'state_id' },
    // Stored most urgent first; compared the way people say it, urgent above low.
    priority: {
      sql: 'priority',
      value: (name) => ranks.indexOf(name as (typeof priorities)[number]),
      descends: true,
    },
    label: {
      sql: 'l.label_id',
      ids: (passes) => [...directory.labels.values()].filter(({ name }) => passes(name)).map(({ id }) => id),
      isId: (value) => directory.labels.has(value),
      listed: (id) =>
        `SELECT issue_id AS listed_id, created_at AS listed_at FROM issue_labels WHERE workspace_id = :ws AND label_id = ${id}`,
      // A label that was just deleted may still be in the join table, but no issue shows it.
      wrap: (condition) =>
        `EXISTS (SELECT 1 FROM issue_labels AS l JOIN labels AS w ON w.workspace_id = :ws AND w.id = l.label_id
         WHERE l.workspace_id = :ws AND l.issue_id = issues.id AND w.deleted_at IS NULL AND ${condition})`,
    },
  };
}

const sortings: Readonly<Record<string, Sorting>> = {
  ...sortingsOf(issue),
  // Stored most urgent first. `none` sorts last in both directions.
  priority: {
    ascending: [
      { sql: '(priority = 4)', direction: 'asc' },
      { sql: '-priority', direction: 'asc' },
    ],
    descending: [{ sql: 'priority', direction: 'asc' }],
  },
};

/**
 * `-priority,updatedAt`: most urgent first, then the longest untouched.
 * @throws ApiError validation_failed
 */
export function issueOrder(sort: string | undefined): SortKey[] {
  if (sort === undefined) return [{ sql: 'created_at', direction: 'desc' }];
  const keys = sortKeysOf(sortings, sort);
  // Ids go by time: said in full, the order is that of an index.
  return sort === '-priority' ? [...keys, { sql: 'created_at', direction: 'asc' }] : keys;
}
