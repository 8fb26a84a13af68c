// What issues can be filtered and sorted by: the same names in lists, webhook filters and plugin subscriptions.
import type { Context, Directory } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import type { FilterFields, FilterValue } from '../../lib/filter.ts';
import type { FilterColumn } from '../../store/filter-sql.ts';
import type { SortKey } from '../../store/page.ts';
import { stateTypes } from '../workflows/schema.ts';
import { priorities } from './schema.ts';

export const issueFilterFields: FilterFields = {
  id: { type: 'text', path: 'id' },
  number: { type: 'number', path: 'number' },
  title: { type: 'text', path: 'title' },
  description: { type: 'text', path: 'description' },
  team: { type: 'text', path: 'team.key' },
  state: { type: 'text', path: 'state.type', values: [...stateTypes], aliases: { cancelled: 'canceled' } },
  stateId: { type: 'text', path: 'state.id' },
  priority: { type: 'text', path: 'priority', values: [...priorities], rank: [...priorities].reverse() },
  assignee: { type: 'text', path: 'assignee.id' },
  creator: { type: 'text', path: 'creator.id' },
  label: { type: 'text', path: 'labels[].name', idPath: 'labels[].id' },
  project: { type: 'text', path: 'project.id' },
  parent: { type: 'text', path: 'parent.id' },
  estimate: { type: 'number', path: 'estimate' },
  dueDate: { type: 'text', path: 'dueDate', ordered: true },
  externalSource: { type: 'text', path: 'externalSource' },
  externalId: { type: 'text', path: 'externalId' },
  createdAt: { type: 'time', path: 'createdAt' },
  updatedAt: { type: 'time', path: 'updatedAt' },
};

/** Names resolve to ids through the directory, so that an index on the id column serves the condition. */
export function issueFilterColumns(directory: Directory): Readonly<Record<string, FilterColumn>> {
  const idsWhere = <T extends { id: string }>(all: Iterable<T>, test: (item: T) => boolean): string[] =>
    [...all].filter(test).map((item) => item.id);
  const time = (value: FilterValue): number => Date.parse(String(value));
  return {
    id: { sql: 'id' },
    number: { sql: 'number' },
    title: { sql: 'title' },
    description: { sql: 'description' },
    team: { sql: 'team_id', ids: (passes) => idsWhere(directory.teams.values(), ({ key }) => passes(key)) },
    state: {
      sql: 'state_id',
      ids: (passes) => idsWhere(directory.states.values(), ({ type }) => passes(type)),
    },
    stateId: { sql: 'state_id' },
    // Stored most urgent first; compared the way people say it, urgent above low.
    priority: {
      sql: '(4 - priority)',
      value: (name) => 4 - priorities.indexOf(name as (typeof priorities)[number]),
    },
    assignee: { sql: 'assignee_id' },
    creator: { sql: 'creator_id' },
    label: {
      sql: 'l.label_id',
      ids: (passes) => idsWhere(directory.labels.values(), ({ name }) => passes(name)),
      takesIds: true,
      // A deleted label stays in the join table, but no issue shows it.
      wrap: (condition) =>
        `EXISTS (SELECT 1 FROM issue_labels AS l JOIN labels AS w ON w.workspace_id = :ws AND w.id = l.label_id
         WHERE l.workspace_id = :ws AND l.issue_id = issues.id AND w.deleted_at IS NULL AND ${condition})`,
    },
    project: { sql: 'project_id' },
    parent: { sql: 'parent_id' },
    estimate: { sql: 'estimate' },
    dueDate: { sql: 'due_date' },
    externalSource: { sql: 'external_source' },
    externalId: { sql: 'external_id' },
    createdAt: { sql: 'created_at', value: time },
    updatedAt: { sql: 'updated_at', value: time },
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
