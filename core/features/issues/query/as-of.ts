// Issues at a past moment. A single issue is its last event before the moment. A list has two parts: issues
// without changes since then come from the tables as usual; changed issues are read from the log, then
// filtered and sorted in memory by the same rules. A list reads its page, plus one event per issue changed
// since.
import type { Context, Directory } from '../../../kernel/context.ts';
import type { EntityResponse } from '../../../kernel/contract/contract.ts';
import type { Past } from '../../../kernel/changes/find.ts';
import { pageOfModel } from '../../../kernel/changes/list.ts';
import { renderData } from '../../../kernel/events/event.ts';
import type { CursorValue } from '../../../platform/lib/cursor.ts';
import { ApiError, invalidField, notFound } from '../../../platform/lib/errors/errors.ts';
import {
  beginOf,
  pageOfAll,
  contextAt,
  deletedIn,
  compared,
  sortValuesOf,
} from '../../../kernel/resource/as-of/list.ts';
import { momentOf, toMomentResponse, type Moment } from '../../../kernel/resource/as-of/past.ts';
import { directoryAt, referredIn, renamed } from '../../../kernel/resource/as-of/names.ts';
import {
  lastEvents,
  lastEventsOfParts,
  objectsAt,
  type Was,
} from '../../../kernel/resource/as-of/objects.ts';
import type { FilterRequest } from '../../../kernel/resource/filter/filtering.ts';
import { isListed, whereDeleted, type Deleted } from '../../../kernel/resource/archived.ts';
import type { Condition, Page, SortKey } from '../../../platform/store/page.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { withFieldsAt } from '../../fields/index.ts';
import { relationQuery, issueFiltering } from './filter.ts';
import { slaClock } from '../../sla/contract.ts';
import { issue } from '../contract.ts';
import { requestedFilters, type IssueExtras, type IssueQuery } from './list.ts';
import { issueModel, type IssueResponse } from '../model.ts';
import { readShape, shapeIssues, type ShapeQuery } from './shape.ts';
import { issueKeys, issueOrder } from './sorting.ts';

/** Maximum number of issues changed since the moment of a list. */
const changedMax = 20_000;

const changedSince = tenantStatement<{ id: string }>(
  'as_of.issues_since',
  `SELECT DISTINCT issue_id AS id FROM events WHERE workspace_id = :ws AND sequence > :at AND issue_id IS NOT NULL
   LIMIT ${changedMax + 1}`,
);

/** @throws ApiError not_found, validation_failed */
export async function getIssueAt(
  ctx: Context,
  id: string,
  query: ShapeQuery & { readonly asOf: string },
): Promise<object> {
  const shape = shapeOf(ctx, query);
  const moment = await momentOf(ctx, query.asOf);
  const known = (await issueModel.idsOf(ctx, [id])).get(id) ?? id;
  const was = (await issuesAt(ctx, [known], moment)).get(known);
  if (!was || was.deletedAt !== null || !isSeen(ctx, was)) throw notFound();
  const [withNames] = await withNamesAt(ctx, moment, [was]);
  const asOf = toMomentResponse(moment);
  return { ...(shape === null ? withNames : (await shapeIssues(ctx, [withNames as never], shape))[0]), asOf };
}

/**
 * Returns an issue as of an event that a trial runs on, as `getIssueAt` does, but from the event and the directory that the past
 * already has.
 * @returns null for an issue that did not exist or was deleted, or that the caller cannot see
 */
export async function issueOfPast(ctx: Context, id: string, past: Past): Promise<IssueResponse | null> {
  const was = (await past.responses(issue.name, [{ id, version: 0 }]))?.get(id) as Was | undefined;
  if (!was || was.deletedAt !== null || !isSeen(ctx, was)) return null;
  const whole = await withParts(ctx, new Map([[id, was]]), past);
  const [withNames] = await namedBy(ctx, past, [...whole.values()], past.directory);
  return (withNames as IssueResponse | undefined) ?? null;
}

/** @throws ApiError validation_failed, invalid_cursor, budget_exceeded */
export async function listIssuesAt(
  ctx: Context,
  query: IssueQuery & { readonly asOf: string },
  { viewFilters = [] }: IssueExtras = {},
): Promise<ListedThen> {
  const shape = shapeOf(ctx, query);
  requireNoRelations(query);
  const moment = await momentOf(ctx, query.asOf);
  const then = await contextAt(ctx, moment);
  const keys = issueKeys(query.sort, then);
  const requested = await withParentIds(ctx, [...viewFilters, ...requestedFilters(query)]);
  // Cursors are bound to this query.
  const list = { ...query, ...(viewFilters.length > 0 && { kept: JSON.stringify(viewFilters) }) };
  const { changed, still } = await unchanged(then, moment, (others) =>
    tabled(then, { list, requested, order: issueOrder(query.sort, then.directory, ctx.directory) }, others),
  );
  const passes = await issueFiltering.passes(then, requested);
  const were = await loggedIssues(then, changed, moment, query.deleted);
  const last = still.data.at(-1);
  const end = last && sortValuesOf(keys, last);
  const isBefore = (was: Was): boolean =>
    still.isWhole || (end !== undefined && compared(keys, sortValuesOf(keys, was), end) < 0);
  const all = [...still.data, ...were.filter((was) => passes(was) && isBefore(was))];
  const begin = beginOf(then, issue, list);
  const page = pageOfAll(then, issue, list, { all, keys, begin, isWhole: still.isWhole });
  const data = await parentsAt(ctx, moment, page.data);
  const shaped = shape === null ? data : await shapeIssues(ctx, data as never, shape);
  return { ...page, data: shaped as ListedThen['data'], asOf: toMomentResponse(moment) };
}

/**
 * Replaces identifiers of parents by ids, since a parent may have had another identifier at the past moment.
 */
async function withParentIds(ctx: Context, requested: readonly FilterRequest[]): Promise<FilterRequest[]> {
  const idsIn = async (value: unknown, ofParent: boolean): Promise<unknown> => {
    if (typeof value === 'string' && ofParent)
      return (await issueModel.idsOf(ctx, [value])).get(value) ?? value;
    if (Array.isArray(value)) return Promise.all(value.map((one) => idsIn(one, ofParent)));
    if (typeof value !== 'object' || value === null) return value;
    const parts = Object.entries(value).map(
      async ([name, part]) => [name, await idsIn(part, ofParent || name === 'parent')] as const,
    );
    return Object.fromEntries(await Promise.all(parts));
  };
  return Promise.all(
    requested.map(async (one) => ('tree' in one ? { ...one, tree: await idsIn(one.tree, false) } : one)),
  );
}

type ListedThen = Page<IssueResponse> & { readonly asOf: ReturnType<typeof toMomentResponse> };

interface IssuesThen {
  readonly issues: readonly Was[];
  /** Ids of all issues that changed after the moment, including issues that are not in the result. */
  readonly changed: readonly string[];
}

/**
 * Returns all matching issues except deleted ones, unsorted. Issues read from the tables have no description.
 * @param then context of the moment
 * @param most maximum number of issues
 * @throws ApiError budget_exceeded
 */
export async function allIssuesAt(
  then: Context,
  moment: Moment,
  requested: { readonly conditions: readonly Condition[]; passes(was: Was): boolean; readonly most: number },
): Promise<IssuesThen> {
  const { changed, still } = await unchanged(then, moment, (others) =>
    allTabled(then, [...whereDeleted(undefined), ...requested.conditions, others], requested.most),
  );
  const were = await loggedIssues(then, changed, moment);
  const issues = [...still, ...were.filter((was) => requested.passes(was))];
  if (issues.length <= requested.most) return { issues, changed };
  throw new ApiError(
    'budget_exceeded',
    `More than ${requested.most} issues match at that time. Narrow the filter, or get single issues.`,
  );
}

const tabledAtOnce = 1_000;

async function allTabled(then: Context, where: readonly Condition[], most: number): Promise<Was[]> {
  const all: Was[] = [];
  for (let beyond: CursorValue[] | undefined; ;) {
    const options = { where, beyond, without: ['description'] };
    const unstaged = { ...then, staged: null };
    const { data, pageInfo } = await pageOfModel(unstaged, issueModel, { limit: tabledAtOnce }, options);
    all.push(...data.map((entity) => issueModel.toResponse(entity, then) as Was));
    const last = data.at(-1);
    if (!pageInfo.hasNextPage || !last || all.length > most) return all;
    beyond = [last.createdAt, last.id];
  }
}

/** Returns the changed issues that existed and that the caller can see, with names of that moment. */
async function loggedIssues(
  then: Context,
  changed: readonly string[],
  moment: Moment,
  deleted?: Deleted,
): Promise<Was[]> {
  return [...(await issuesAt(then, changed, moment)).values()]
    .filter((was) => isSeen(then, was) && isListed(deleted, deletedIn(was)))
    .map((was) => known(renamed(issue, was, then.directory), then.directory));
}

interface Unchanged {
  readonly data: readonly Was[];
  readonly isWhole: boolean;
}

/**
 * Reads unchanged issues from the tables, and returns the ids of changed ones.
 * @param read reads the issues that match `others`
 */
async function unchanged<T>(
  ctx: Context,
  moment: Moment,
  read: (others: Condition) => Promise<T>,
): Promise<{ changed: readonly string[]; still: T }> {
  let changed = await changedIssues(ctx, moment);
  for (;;) {
    const still = await read({
      sql: 'id NOT IN (SELECT value FROM json_each(:changed))',
      params: { changed: JSON.stringify(changed) },
    });
    // An issue that changes between the two reads would appear in its current form, so read again.
    const now = await changedIssues(ctx, moment);
    if (now.length === changed.length) return { changed, still };
    changed = now;
  }
}

/** @throws ApiError budget_exceeded */
async function changedIssues({ store, scope }: Context, { sequence: at }: Moment): Promise<string[]> {
  const rows = await store.read(scope, changedSince, { at });
  if (rows.length > changedMax)
    throw new ApiError(
      'budget_exceeded',
      `More than ${changedMax} issues changed since then. Use a later time, or get single issues.`,
    );
  return rows.map(({ id }) => id);
}

/** Returns the next page from the tables, without issues changed since. */
async function tabled(
  ctx: Context,
  {
    list,
    requested,
    order,
  }: { readonly list: IssueQuery; readonly requested: readonly FilterRequest[]; readonly order: SortKey[] },
  others: Condition,
): Promise<Unchanged> {
  const conditions = await issueFiltering.conditions(ctx, requested);
  const { data, pageInfo } = await pageOfModel(
    { ...ctx, staged: null },
    issueModel,
    list.limit === undefined ? {} : { limit: list.limit },
    {
      where: [...whereDeleted(list.deleted), ...conditions, others],
      order,
      beyond: beginOf(ctx, issue, list) ?? undefined,
    },
  );
  return {
    data: data.map((entity) => issueModel.toResponse(entity, ctx) as Was),
    isWhole: !pageInfo.hasNextPage,
  };
}

/**
 * Returns past issues, including the parts that change without an event of the issue: `updatedAt` by
 * comments, `slaDueAt` by clocks, and custom fields.
 */
async function issuesAt(ctx: Context, ids: readonly string[], moment: Moment): Promise<Map<string, Was>> {
  return withParts(ctx, await objectsAt(ctx, issue, ids, moment), moment);
}

async function withParts(ctx: Context, issues: Map<string, Was>, moment: Moment): Promise<Map<string, Was>> {
  const ids = [...issues.keys()];
  for (const event of await lastEvents(ctx, 'subject', 'comment', ids, moment.sequence)) {
    const was = issues.get(event.subjectId ?? '');
    const { updatedAt } = renderData(event);
    if (was && String(updatedAt) > String(was.updatedAt)) issues.set(was.id, { ...was, updatedAt });
  }
  const due = await dueAt(ctx, ids, moment);
  for (const was of await withFieldsAt(ctx, [...issues.values()], moment))
    issues.set(was.id, { ...was, slaDueAt: due.get(was.id) ?? null });
  return issues;
}

/** Returns the earliest due time among the clocks of each issue that were open at the past moment. */
async function dueAt(
  ctx: Context,
  ids: readonly string[],
  { sequence }: Moment,
): Promise<ReadonlyMap<string, string>> {
  const due = new Map<string, string>();
  for (const event of await lastEventsOfParts(ctx, slaClock.name, ids, sequence)) {
    const { dueAt, endedAt } = renderData(event) as EntityResponse<typeof slaClock>;
    const first = due.get(event.subjectId ?? '');
    if (endedAt === null && dueAt !== null && (first === undefined || dueAt < first))
      due.set(event.subjectId ?? '', dueAt);
  }
  return due;
}

async function withNamesAt(ctx: Context, moment: Moment, issues: readonly Was[]): Promise<Was[]> {
  const referred = issues.flatMap((was) => [
    ...referredIn(issue, was),
    ...labelIds(was).map((id) => ['label', id] as const),
  ]);
  return namedBy(ctx, moment, issues, await directoryAt(ctx, moment, referred));
}

async function namedBy(
  ctx: Context,
  moment: Moment,
  issues: readonly Was[],
  directory: Directory,
): Promise<Was[]> {
  const withNames = issues.map((was) => known(renamed(issue, was, directory), directory));
  return parentsAt(ctx, moment, withNames);
}

const labelIds = ({ labels }: Was): string[] => (labels as { id: string }[]).map(({ id }) => id);

/** Sorts labels by name, and omits labels that were deleted at the past moment. */
function known(was: Was, directory: Directory): Was {
  const labels = labelIds(was).flatMap((id) => {
    const label = directory.labels.get(id);
    return label ? [{ id, name: label.name }] : [];
  });
  return {
    ...was,
    labels: labels.sort((a, b) => (a.name < b.name ? -1 : 1)),
    fields: was.fields ?? {},
  };
}

/** Sets the past identifiers of parents; a parent had none yet if its child was created in the same batch. */
export async function parentsAt(ctx: Context, moment: Moment, issues: readonly Was[]): Promise<Was[]> {
  const parentOf = ({ parent }: Was): string | undefined => (parent as { id: string } | null)?.id;
  const ids = [...new Set(issues.flatMap((was) => parentOf(was) ?? []))];
  if (ids.length === 0) return [...issues];
  const parents = await objectsAt(ctx, issue, ids, moment);
  return issues.map((was) => {
    const id = parentOf(was);
    return id === undefined
      ? was
      : { ...was, parent: { id, identifier: parents.get(id)?.identifier ?? null } };
  });
}

function isSeen({ visibleTeams }: Context, { team }: Was): boolean {
  return visibleTeams === null || visibleTeams.has((team as { id: string }).id);
}

/** Relations and subscribers are separate objects and are not read from the log. @throws ApiError validation_failed */
function requireNoRelations(query: IssueQuery): void {
  const relationFilter = Object.keys(relationQuery).find(
    (name) => query[name as keyof IssueQuery] !== undefined,
  );
  if (relationFilter !== undefined)
    throw invalidField(
      relationFilter,
      'conflict',
      'Leave this parameter out: lists with asOf cannot be filtered by relations or subscribers.',
    );
}

/** @throws ApiError validation_failed */
function shapeOf(ctx: Context, query: ShapeQuery) {
  if (query.expand !== undefined)
    throw invalidField(
      'expand',
      'conflict',
      'Leave this parameter out: expand cannot be combined with asOf.',
    );
  return readShape(ctx, query);
}
