// Views. A personal view is found only by its owner. Its events, which others may read, show that it exists
// but not its content.
import type { Context } from '../../kernel/context.ts';
import { getEntity } from '../../kernel/changes/operations.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { ApiError, notFound } from '../../platform/lib/errors/errors.ts';
import { Closed, idOf } from '../../platform/lib/schema.ts';
import { asOfQuery } from '../../kernel/resource/as-of/past.ts';
import { withMoment } from '../../kernel/resource/as-of/list.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import {
  listIssuesAt,
  issueFiltering,
  issueOrder,
  existingSort,
  listIssues,
  type IssueQuery,
  listQuery,
  readingIssues,
  withIssueVisibility,
} from '../issues/index.ts';
import { issue } from '../issues/contract.ts';
import { view } from './contract.ts';

type View = EntityOf<typeof view>;

export const viewModel = modelOf(view, {
  toEventData: ({ visibility }, response) =>
    visibility === 'shared'
      ? response
      : {
          ...response,
          name: '',
          description: '',
          filter: {},
          sort: null,
          layout: 'list' as const,
          groupBy: null,
        },
});

const callerOf = ({ actor }: Context): string => actor.memberId ?? actor.id;

const isOwn = (ctx: Context, { ownerId }: { readonly ownerId: string }): boolean => ownerId === callerOf(ctx);

/** Returns false for the personal view of another member. */
export const isVisibleView = (ctx: Context, current: View): boolean =>
  current.visibility === 'shared' || isOwn(ctx, current);

/** Personal views of others are not found. @throws ApiError not_found */
async function requireSeen(ctx: Context, current: View): Promise<void> {
  if (!isVisibleView(ctx, current)) throw notFound();
}

export const resource = defineResource(view, viewModel, {
  sets: (ctx) => authorOf(ctx, 'owner'),
  admits: requireSeen,
  where: (ctx) => [
    { sql: "(visibility = 'shared' OR owner_id = :caller)", params: { caller: callerOf(ctx) } },
  ],
  async check(ctx, after, before) {
    // A restored view is accepted as it was stored.
    if (after.deletedAt !== null) return;
    if (after.visibility === 'personal' && !isOwn(ctx, after))
      throw new ApiError(
        'forbidden',
        'Only the owner of a view can make it personal. Ask the owner, or create a view of your own.',
      );
    if (!before || before.filter !== after.filter)
      await issueFiltering.conditions(ctx, [{ tree: after.filter, at: 'filter' }]);
    if (after.sort !== null && after.sort !== before?.sort) issueOrder(after.sort, ctx.directory);
  },
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/v1/views/{id}/issues',
      name: 'views.issues',
      summary: 'List the issues of a view',
      description:
        'Accepts the parameters of the list of issues: conditions narrow the view further, and `sort` replaces the sort of the view. With `asOf`, the current view is applied to the issues of that moment.',
      scope: 'views:read',
      also: readingIssues,
      limit: 'read',
      params: Closed({ id: idOf(view.id) }),
      query: Closed({ ...listQuery.properties, ...asOfQuery }),
      responses: { 200: withMoment(issue).page },
      errors: ['invalid_cursor', 'budget_exceeded'],
      read: (ctx, { params, query }) => issuesOf(ctx, params.id, query),
    }),
  ],
});

async function issuesOf(
  ctx: Context,
  id: string,
  { asOf, ...query }: IssueQuery & { readonly asOf?: string },
) {
  const current = await getEntity(ctx, viewModel, id);
  await requireSeen(ctx, current);
  const sort = query.sort ?? (current.sort === null ? undefined : existingSort(current.sort, ctx.directory));
  const viewQuery = { ...query, ...(sort === undefined ? {} : { sort }) };
  const beside = { viewFilters: [{ tree: current.filter, at: 'filter', wasTaken: true as const }] };
  const visibleCtx = withIssueVisibility(ctx);
  return asOf === undefined
    ? listIssues(visibleCtx, viewQuery, beside)
    : listIssuesAt(visibleCtx, { ...viewQuery, asOf }, beside);
}
