// Lists the clocks of all issues that the caller can see, earliest due first, for managing a queue.
import { Type } from 'typebox';
import { listEntities, type PageParameters } from '../../changes/list.ts';
import { schemasOf } from '../../contract/schemas.ts';
import type { Context } from '../../context.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { readMoment } from '../../lib/filter-value.ts';
import { Closed, pageQuery } from '../../lib/schema.ts';
import { createQueryFilter, filterQueryOf, referenceText } from '../../resource/filter.ts';
import type { FilterRequest, Filtering } from '../../resource/filtering.ts';
import type { Condition } from '../../store/page.ts';
import { issueReferences } from '../issues/filter.ts';
import { slaClock } from './contract.ts';
import { clockModel } from './kind.ts';

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

export const clocksOfAll = (filtering: Filtering): Route =>
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
