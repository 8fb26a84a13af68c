// Selection of a bulk operation: issues by id or identifier, or all that match a filter. The operation is
// refused, listing each missing issue, unless all of them exist and are visible to the caller.
import { notDeleted, pageOfModel } from '../../../kernel/changes/list.ts';
import type { Context } from '../../../kernel/context.ts';
import { ApiError, invalidField, type ErrorDetail } from '../../../platform/lib/errors/errors.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { selectedMax, type IssueSelectionInput } from '../bodies.ts';
import { issueFiltering } from './filter.ts';
import { issueModel, type Issue } from '../model.ts';

/**
 * Maximum total length of descriptions in bytes: each is part of an event, and all events are in one batch.
 */
export const selectedBytesMax = 4 * 1024 * 1024;

export interface Selected {
  readonly issue: Issue;
  /** Path in the request that names the issue: `ids.3`, `filter`. */
  readonly at: string;
}

const bytesOf = tenantStatement<{ bytes: number }>(
  'issues.bytes_of',
  `SELECT coalesce(sum(octet_length(description)), 0) AS bytes FROM issues
   WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`,
);

/**
 * Returns each issue once, in the order of the request, or oldest first.
 * @param field property that lists the issues
 * @throws ApiError validation_failed, budget_exceeded
 */
export async function selectIssues(
  ctx: Context,
  { ids, filter }: IssueSelectionInput,
  field = 'ids',
): Promise<Selected[]> {
  if (ids !== undefined && filter !== undefined)
    throw invalidField('filter', 'conflict', `Give either ${field} or a filter.`);
  if (ids === undefined && filter === undefined)
    throw invalidField(field, 'required', `Give ${field} or a filter.`);
  const requested = ids === undefined ? await passing(ctx, filter) : await idsOf(ctx, ids, field);
  const bytes = await ctx.store.readOne(ctx.scope, bytesOf, { ids: JSON.stringify([...requested.keys()]) });
  requireBytes(bytes?.bytes ?? 0);
  const byId = new Map(
    (await issueModel.findMany(ctx, [...requested.keys()])).map((issue) => [issue.id, issue]),
  );
  const missing: ErrorDetail[] = [];
  const selected = [...requested].flatMap(([id, { at, name }]) => {
    const issue = byId.get(id);
    if (issue && issue.deletedAt === null) return [{ issue, at }];
    // An issue that matched the filter, but was deleted in the meantime, is not an error.
    if (filter === undefined)
      missing.push({ path: at, issue: 'not_found', fix: `Leave out ${name}: the issue does not exist.` });
    return [];
  });
  const [first] = missing;
  if (first) throw new ApiError('validation_failed', `${first.path}: ${first.fix}`, { details: missing });
  return selected;
}

/** @throws ApiError budget_exceeded */
export function requireBytes(bytes: number): void {
  if (bytes > selectedBytesMax)
    throw new ApiError(
      'budget_exceeded',
      `The descriptions of these issues exceed ${selectedBytesMax / 1024 / 1024} MiB in total. Select fewer issues.`,
    );
}

type RequestedIssues = ReadonlyMap<string, { readonly at: string; readonly name: string }>;

async function passing(ctx: Context, filter: unknown): Promise<RequestedIssues> {
  const conditions = await issueFiltering.conditions(ctx, [{ tree: filter, at: 'filter', narrows: true }]);
  const { data, pageInfo } = await pageOfModel(
    ctx,
    issueModel,
    { limit: selectedMax },
    { where: [notDeleted, ...conditions], without: ['description'] },
  );
  if (pageInfo.hasNextPage)
    throw invalidField('filter', 'too_big', {
      why: `The filter matches more than ${selectedMax} issues.`,
      fix: 'Add a condition, and select the rest with another request.',
    });
  return new Map(data.map(({ id }) => [id, { at: 'filter', name: id }]));
}

/** Removes duplicates. A name that matches nothing stays as given. */
async function idsOf(ctx: Context, names: readonly string[], field: string): Promise<RequestedIssues> {
  const ids = await issueModel.idsOf(ctx, names);
  const requested = new Map<string, { at: string; name: string }>();
  for (const [index, name] of names.entries()) {
    const id = ids.get(name) ?? name;
    if (!requested.has(id)) requested.set(id, { at: `${field}.${index}`, name });
  }
  return requested;
}
