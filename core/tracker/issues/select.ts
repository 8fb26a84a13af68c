// Which issues a bulk operation is about: those that it names, by id or identifier, or all that pass a filter. All of them are there and
// seen by the caller, or the operation is refused with each one that is not.
import { notDeleted, pageOfKind } from '../../changes/list.ts';
import type { Context } from '../../context.ts';
import { ApiError, invalidField, type ErrorDetail } from '../../lib/errors.ts';
import { tenantStatement } from '../../store/statement.ts';
import { selectedMax, type IssueSelectionInput } from './bodies.ts';
import { issueFiltering } from './filter.ts';
import { issueKind, type Issue } from './kind.ts';

/** Text of all of them together: each is in an event, and all of these in one batch (bytes). */
export const selectedBytesMax = 4 * 1024 * 1024;

export interface Selected {
  readonly issue: Issue;
  /** Where the request names it: `ids.3`, `filter`. */
  readonly at: string;
}

const bytesOf = tenantStatement<{ bytes: number }>(
  'issues.bytes_of',
  `SELECT coalesce(sum(octet_length(description)), 0) AS bytes FROM issues
   WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`,
);

/**
 * Each once, in the order in which they are named, or oldest first.
 * @param field the property that names them
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
    throw invalidField(field, 'required', `Name issues in ${field}, or give a filter.`);
  const named = ids === undefined ? await passing(ctx, filter) : await idsOf(ctx, ids, field);
  const bytes = await ctx.store.readOne(ctx.scope, bytesOf, { ids: JSON.stringify([...named.keys()]) });
  requireBytes(bytes?.bytes ?? 0);
  const found = new Map((await issueKind.findMany(ctx, [...named.keys()])).map((issue) => [issue.id, issue]));
  const missing: ErrorDetail[] = [];
  const selected = [...named].flatMap(([id, { at, given }]) => {
    const issue = found.get(id);
    if (issue && issue.deletedAt === null) return [{ issue, at }];
    // Where a filter named it, it was deleted meanwhile.
    if (filter === undefined)
      missing.push({ path: at, issue: 'not_found', fix: `Leave out ${given}, which is no issue.` });
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
      `The descriptions of these issues are longer than ${selectedBytesMax / 1024 / 1024} MiB together. Name fewer of them.`,
    );
}

type Named = ReadonlyMap<string, { readonly at: string; readonly given: string }>;

async function passing(ctx: Context, filter: unknown): Promise<Named> {
  const conditions = await issueFiltering.conditions(ctx, [{ tree: filter, at: 'filter', narrows: true }]);
  const { data, pageInfo } = await pageOfKind(
    ctx,
    issueKind,
    { limit: selectedMax },
    { where: [notDeleted, ...conditions], without: ['description'] },
  );
  if (pageInfo.hasNextPage)
    throw invalidField('filter', 'too_big', {
      why: `More than ${selectedMax} issues pass.`,
      fix: 'Add a condition, and do the rest with another request.',
    });
  return new Map(data.map(({ id }) => [id, { at: 'filter', given: id }]));
}

/** What is named twice is there once. What nothing has stays as it was given. */
async function idsOf(ctx: Context, names: readonly string[], field: string): Promise<Named> {
  const ids = await issueKind.idsOf(ctx, names);
  const named = new Map<string, { at: string; given: string }>();
  for (const [index, given] of names.entries()) {
    const id = ids.get(given) ?? given;
    if (!named.has(id)) named.set(id, { at: `${field}.${index}`, given });
  }
  return named;
}
