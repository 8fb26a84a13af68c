// What issues can be filtered and sorted by: the same names in lists, webhook filters and plugin subscriptions. Beyond their
// fields these are the id of the state, and labels, which lie in a table of their own.
import type { Context, Directory } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import type { FilterFields } from '../../lib/filter.ts';
import { filterColumnsOf, filterFieldsOf } from '../../resource/filter.ts';
import type { FilterColumn } from '../../store/filter-sql.ts';
import type { SortKey } from '../../store/page.ts';
import { issue, priorities } from './contract.ts';

export const issueFilterFields: FilterFields = {
  ...filterFieldsOf(issue),
  stateId: { type: 'text', path: 'state.id' },
  label: { type: 'text', path: 'labels[].name', idPath: 'labels[].id' },
};

export function issueFilterColumns(directory: Directory): Readonly<Record<string, FilterColumn>> {
  return {
    ...filterColumnsOf(issue, directory),
    stateId: { sql: 'state_id' },
    // Stored most urgent first; compared the way people say it, urgent above low.
    priority: {
      sql: '(4 - priority)',
      value: (name) => priorities.indexOf(name as (typeof priorities)[number]),
    },
    label: {
      sql: 'l.label_id',
      ids: (passes) => [...directory.labels.values()].filter(({ name }) => passes(name)).map(({ id }) => id),
      takesIds: true,
      // A deleted label stays in the join table, but no issue shows it.
      wrap: (condition) =>
        `EXISTS (SELECT 1 FROM issue_labels AS l JOIN labels AS w ON w.workspace_id = :ws AND w.id = l.label_id
         WHERE l.workspace_id = :ws AND l.issue_id = issues.id AND w.deleted_at IS NULL AND ${condition})`,
    },
  };
}

const sortColumns: Readonly<Record<string, string>> = {
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  priority: 'priority',
  number: 'number',
  // As much as a cursor carries without outgrowing its parameter.
  title: 'substr(title, 1, 200)',
  // A missing day or estimate sorts last when ascending.
  dueDate: "coalesce(due_date, '9999-12-31')",
  estimate: 'coalesce(estimate, 1e9)',
};

/**
 * `-priority,updatedAt`: most urgent first, then the longest untouched. `none` sorts last in both directions.
 * @throws ApiError validation_failed
 */
export function issueOrder(ctx: Context, sort: string | undefined): SortKey[] {
  if (sort === undefined) return [{ sql: 'created_at', direction: 'desc' }];
  const names = sort.split(',');
  if (names.length > 3) throw invalidField('sort', 'too_long', 'Sort by at most 3 fields.');
  return names.flatMap((name): SortKey[] => {
    const descending = name.startsWith('-');
    const column = descending ? name.slice(1) : name;
    if (!Object.hasOwn(sortColumns, column))
      throw invalidField(
        'sort',
        'invalid_enum',
        `Sort by ${Object.keys(sortColumns).join(', ')}; a minus before the name reverses.`,
      );
    if (column !== 'priority') return [{ sql: sortColumns[column]!, direction: descending ? 'desc' : 'asc' }];
    return descending
      ? [{ sql: 'priority', direction: 'asc' }]
      : [
          { sql: '(priority = 4)', direction: 'asc' },
          { sql: '-priority', direction: 'asc' },
        ];
  });
}
