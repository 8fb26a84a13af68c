// Changes or deletes many issues in one transaction. The response lists the changes of each, also in a
// simulation. The operation is refused, listing each missing issue, unless all of them exist and are
// visible to the caller.
import { notDeleted, pageOfModel } from '../../kernel/changes/list.ts';
import type { Context, View } from '../../kernel/context.ts';
import { ApiError, invalidField, type ErrorDetail, wordsOfField } from '../../platform/lib/errors/errors.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { selectedMax, type IssueSelectionInput, type IssueChanges, type IssuePatch } from './bodies.ts';
import { issueFiltering } from './query/filter.ts';
import { issueModel, type Issue } from './model.ts';
import type { Static } from 'typebox';
import { sameValue, type ChangeSet } from '../../kernel/changes/change.ts';
import { resolvePatch } from './references.ts';

type Changes = Static<typeof IssueChanges>;
type Answer = { data: Changes[] };

/** @throws ApiError with one detail per issue that cannot be changed */
export async function updateIssues(
  ctx: Context,
  { set, ...selection }: IssueSelectionInput & { set: IssuePatch },
): Promise<ChangeSet<Answer>> {
  const selected = await selectIssues(ctx, selection);
  requireBytes(selected.length * Buffer.byteLength(set.description ?? ''));
  const patches: Partial<Issue>[] = [];
  const refused: Refused[] = [];
  for (const one of selected)
    try {
      patches.push(await resolvePatch(ctx, one.issue.teamId, one.issue, set, 'set.'));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused.push({ ...one, error });
    }
  if (refused.length > 0) throw refusalOf(ctx, refused, selected.length);
  return changed(ctx, selected, (index) => patches[index]!);
}

export async function deleteIssues(ctx: Context, selection: IssueSelectionInput): Promise<ChangeSet<Answer>> {
  const deletedAt = ctx.nowMs();
  return changed(ctx, await selectIssues(ctx, selection), () => ({ deletedAt }));
}

/**
 * Maximum total length of descriptions in bytes: each is part of an event, and all events are in one batch.
 */
export const selectedBytesMax = 4 * 1024 * 1024;

interface Selected {
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
function requireBytes(bytes: number): void {
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

function changed(
  ctx: Context,
  selected: readonly Selected[],
  patchOf: (index: number) => Partial<Issue>,
): ChangeSet<Answer> {
  const now = ctx.nowMs();
  const all = selected.map(({ issue }, index) => ({
    issue,
    change: issueModel.update(issue, patchOf(index), now),
  }));
  return {
    changes: all.flatMap(({ change }) => change ?? []),
    body: { data: all.map(({ issue, change }) => changesOf(issue, change?.after ?? issue, ctx)) },
  };
}

function changesOf(before: Issue, after: Issue, view: View): Changes {
  const { id, identifier, version, ...to } = issueModel.toResponse(after, view);
  const from: Readonly<Record<string, unknown>> = before === after ? to : issueModel.toResponse(before, view);
  const changes: Changes['changes'] = {};
  for (const [name, value] of Object.entries(to))
    if (name !== 'updatedAt' && !sameValue(from[name], value))
      changes[name] = { from: from[name], to: value };
  return { id, identifier, version, changes };
}

interface Refused extends Selected {
  readonly error: ApiError;
}

/**
 * If all issues fail in the same way, the request itself is wrong; otherwise each failing issue is listed.
 */
function refusalOf(view: View, refused: readonly Refused[], of: number): ApiError {
  const [{ error: first }] = refused as [Refused];
  if (refused.length === of && refused.every(({ error }) => error.message === first.message)) return first;
  const details = refused.map(({ issue, at, error }): ErrorDetail => {
    const [detail] = error.details;
    const words = detail ? wordsOfField(error, detail) : error.message;
    return {
      path: at,
      issue: detail?.issue ?? 'conflict',
      fix: `${issueModel.toResponse(issue, view).identifier}: ${words}`,
    };
  });
  return new ApiError(
    first.code,
    `${refused.length} of ${of} issues cannot be changed in this way, so none was changed. Correct the request, or leave out the issues in the details.`,
    {
      details,
    },
  );
}
