// SLA clocks as a resource, and the reaction that changes them.
import { getEntity } from '../../kernel/changes/operations.ts';
import type { Reaction } from '../../kernel/event-reactions/reaction.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import {
  filterColumnsOf,
  filterFieldsOf,
  namesIn,
  createQueryFilter,
  filterQueryOf,
  referenceText,
} from '../../kernel/resource/filter/filter.ts';
import {
  createFiltering,
  type FilterRequest,
  type Filtering,
} from '../../kernel/resource/filter/filtering.ts';
import type { FilterColumn } from '../../platform/store/filter-sql.ts';
import { issueReferences, issueModel } from '../issues/index.ts';
import { team } from '../teams/contract.ts';
import { slaClock, slaTimerName } from './contract.ts';
import { follow, heeds } from './following.ts';
import { clockModel } from './model.ts';
import { Type } from 'typebox';
import { listEntities, type PageParameters } from '../../kernel/changes/list.ts';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { readMoment } from '../../platform/lib/filter/filter-value.ts';
import { Closed, pageQuery } from '../../platform/lib/schema.ts';
import type { Condition } from '../../platform/store/page.ts';

/** Treats an issue without a value like an empty list of values. */
const ofIssue = (column: string): FilterColumn => ({
  sql: `i.${column}`,
  wrap: (condition) =>
    `EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws AND i.id = sla_clocks.issue_id
      AND i.${column} IS NOT NULL AND ${condition})`,
});
const ownColumns = filterColumnsOf(slaClock);

/** Filters by fields of the clock, and by team and assignee of the issue. */
const filtering = createFiltering({
  fields: { ...filterFieldsOf(slaClock), team: issueReferences.team, assignee: issueReferences.assignee },
  columns: (directory, resolved) => ({
    ...ownColumns(directory, resolved),
    team: { ...ofIssue('team_id'), ...namesIn(directory, team, 'key') },
    assignee: ofIssue('assignee_id'),
  }),
});

const referenceQuery = (name: 'team' | 'assignee') =>
  Type.Optional(Type.Unsafe<string>(referenceText(issueReferences[name])));
const due = 'coalesce(due_at, 9e15)';
/** Excludes clocks of deleted issues. */
const ofThere: Condition = {
  sql: `EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws AND i.id = sla_clocks.issue_id AND i.deleted_at IS NULL)`,
  params: {},
};
const counting: Condition = { sql: 'ended_at IS NULL', params: {} };

const requestedFilter = createQueryFilter(slaClock);

type ClockQuery = PageParameters & Readonly<Record<string, unknown>> & { readonly dueBefore?: string };

/** @throws ApiError validation_failed, invalid_cursor */
async function listClocks(ctx: Context, query: ClockQuery, { conditions }: Filtering) {
  const { team, assignee, state, dueBefore } = query;
  const tree = {
    ...requestedFilter(ctx.directory, query),
    ...(team !== undefined && { team }),
    ...(assignee !== undefined && { assignee }),
  };
  const isDue: FilterRequest[] =
    dueBefore === undefined
      ? []
      : [{ filter: { field: 'dueAt', test: 'lt', value: readMoment('time', dueBefore, 'dueBefore') } }];
  const where = [
    ...(state === undefined ? [counting] : []),
    ...(await conditions(ctx, [{ tree, at: '' }, ...isDue])),
    ofThere,
  ];
  return listEntities(ctx, clockModel, query, { where, order: [{ sql: due, direction: 'asc' }] });
}

const clocksOfAll = (filtering: Filtering): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v1/sla-clocks',
    name: 'sla.clocks',
    summary: 'List the SLA clocks of all issues, earliest due first',
    description:
      'Lists open clocks or, with `state`, all clocks in that state, ended ones included. Paused clocks have no due time and come last.',
    scope: 'issues:read',
    rows: 'team',
    limit: 'read',
    query: Closed({
      ...pageQuery,
      ...filterQueryOf(slaClock),
      team: referenceQuery('team'),
      assignee: referenceQuery('assignee'),
      dueBefore: Type.Optional(
        Type.String({
          maxLength: 40,
          description:
            'Upper bound of the due time, exclusive: ISO 8601, or relative to now, such as `PT1H`.',
        }),
      ),
    }),
    responses: { 200: schemasOf(slaClock).page },
    errors: ['invalid_cursor'],
    read: (ctx, { query }) => listClocks(ctx, query, filtering),
  });

export const slaClocks = defineResource(slaClock, clockModel, {
  async where(ctx, _query, issueId) {
    const issue = await getEntity(ctx, issueModel, issueId ?? '');
    return [{ sql: 'issue_id = :issueId', params: { issueId: issue.id } }];
  },
  filtering,
  routes: [clocksOfAll(filtering)],
});

export const slaReaction: Reaction = {
  name: slaTimerName,
  subscribesTo: heeds,
  react: async (ctx, event) => ({ changes: await follow(ctx, event) }),
};
