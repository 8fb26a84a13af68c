// Issues as they were. One issue is its last event. A list is put together from two parts: issues of which nothing was heard since the moment are
// as they were, so that the tables answer for them as always; the others are read from the log, and judged and sorted in memory by
// the same filter and order. So it costs what the list costs, and one event for each issue that was changed since.
import type { Context } from '../../context.ts';
import type { Shown } from '../../contract/contract.ts';
import { pageOfKind } from '../../changes/list.ts';
import { shownData } from '../../events/event.ts';
import type { CursorValue } from '../../lib/cursor.ts';
import { ApiError, invalidField, notFound } from '../../lib/errors.ts';
import { beginOf, pageOfAll } from '../../resource/as-of/list.ts';
import { momentOf, shownMoment, type Moment } from '../../resource/as-of/moment.ts';
import { directoryAt, referredIn, renamed } from '../../resource/as-of/names.ts';
import { lastEvents, lastEventsOfParts, objectsAt, type Was } from '../../resource/as-of/objects.ts';
import { contextAt, deletedIn } from '../../resource/as-of/reads.ts';
import type { Asked } from '../../resource/filtering.ts';
import { compared, placeOf } from '../../resource/as-of/sorting.ts';
import { isListed, whereDeleted, type Deleted } from '../../resource/deleted.ts';
import type { Condition, Page, SortKey } from '../../store/page.ts';
import { tenantStatement } from '../../store/statement.ts';
import { withFieldsAt } from '../fields/as-of.ts';
import { relationQuery } from '../relations/narrowing.ts';
import { slaClock } from '../sla/contract.ts';
import { issue } from './contract.ts';
import { issueFiltering } from './filter.ts';
import { askedIn, type Beside, type IssueQuery } from './issues.ts';
import { issueKind, type ShownIssue } from './kind.ts';
import { readShape, shapeIssues } from './shape.ts';
import { issueKeys, issueOrder } from './sorting.ts';

/** So many issues may have been changed since the moment of a list. */
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
  query: {
    readonly asOf: string;
    readonly fields?: string;
    readonly expand?: string;
    readonly include?: string;
  },
): Promise<object> {
  const shape = shapeOf(ctx, query);
  const moment = await momentOf(ctx, query.asOf);
  const known = (await issueKind.idsOf(ctx, [id])).get(id) ?? id;
  const was = (await issuesAt(ctx, [known], moment)).get(known);
  if (!was || was.deletedAt !== null || !isSeen(ctx, was)) throw notFound();
  const [shown] = await namedAt(ctx, moment, [was]);
  const asOf = shownMoment(moment);
  return { ...(shape === null ? shown : (await shapeIssues(ctx, [shown as never], shape))[0]), asOf };
}

/** @throws ApiError validation_failed, invalid_cursor, budget_exceeded */
export async function listIssuesAt(
  ctx: Context,
  query: IssueQuery & { readonly asOf: string },
  { kept = [] }: Pick<Beside, 'kept'> = {},
): Promise<ListedThen> {
  const shape = shapeOf(ctx, query);
  requireNoRelations(query);
  const moment = await momentOf(ctx, query.asOf);
  const then = await contextAt(ctx, moment);
  const keys = issueKeys(query.sort, then);
  const asked = await withParentIds(ctx, [...kept, ...askedIn(query)]);
  // What its cursors are valid for.
  const list = { ...query, ...(kept.length > 0 && { kept: JSON.stringify(kept) }) };
  const { changed, still } = await unchanged(then, moment, (others) =>
    tabled(then, { list, asked, order: issueOrder(query.sort, then.directory, ctx.directory) }, others),
  );
  const passes = await issueFiltering.passes(then, asked);
  const were = await loggedIssues(then, changed, moment, query.deleted);
  const last = still.data.at(-1);
  const end = last && placeOf(keys, last);
  const isBefore = (was: Was): boolean =>
    still.isWhole || (end !== undefined && compared(keys, placeOf(keys, was), end) < 0);
  const all = [...still.data, ...were.filter((was) => passes(was) && isBefore(was))];
  const begin = beginOf(then, issue, list);
  const page = pageOfAll(then, issue, list, { all, keys, begin, isWhole: still.isWhole });
  const data = await parentsAt(ctx, moment, page.data);
  const shaped = shape === null ? data : await shapeIssues(ctx, data as never, shape);
  return { ...page, data: shaped as ListedThen['data'], asOf: shownMoment(moment) };
}

/** Parents by id: an identifier of a parent may be another one than at the moment. */
async function withParentIds(ctx: Context, asked: readonly Asked[]): Promise<Asked[]> {
  const idsIn = async (value: unknown, ofParent: boolean): Promise<unknown> => {
    if (typeof value === 'string' && ofParent)
      return (await issueKind.idsOf(ctx, [value])).get(value) ?? value;
    if (Array.isArray(value)) return Promise.all(value.map((one) => idsIn(one, ofParent)));
    if (typeof value !== 'object' || value === null) return value;
    const parts = Object.entries(value).map(
      async ([name, part]) => [name, await idsIn(part, ofParent || name === 'parent')] as const,
    );
    return Object.fromEntries(await Promise.all(parts));
  };
  return Promise.all(
    asked.map(async (one) => ('tree' in one ? { ...one, tree: await idsIn(one.tree, false) } : one)),
  );
}

type ListedThen = Page<ShownIssue> & { readonly asOf: ReturnType<typeof shownMoment> };

interface IssuesThen {
  readonly issues: readonly Was[];
  /** The ids of those that were changed since, whether they are among the issues or not. */
  readonly changed: readonly string[];
}

/**
 * All that pass, deleted ones left out, in no order; what the tables answer comes without its description.
 * @param then the context of that moment
 * @param most of how many it can be told
 * @throws ApiError budget_exceeded
 */
export async function allIssuesAt(
  then: Context,
  moment: Moment,
  asked: { readonly conditions: readonly Condition[]; passes(was: Was): boolean; readonly most: number },
): Promise<IssuesThen> {
  const { changed, still } = await unchanged(then, moment, (others) =>
    allTabled(then, [...whereDeleted(undefined), ...asked.conditions, others], asked.most),
  );
  const were = await loggedIssues(then, changed, moment);
  const issues = [...still, ...were.filter((was) => asked.passes(was))];
  if (issues.length <= asked.most) return { issues, changed };
  throw new ApiError(
    'budget_exceeded',
    `More than ${asked.most} issues were there then. Ask for fewer, or for single issues.`,
  );
}

const tabledAtOnce = 1_000;

async function allTabled(then: Context, where: readonly Condition[], most: number): Promise<Was[]> {
  const all: Was[] = [];
  for (let beyond: CursorValue[] | undefined; ;) {
    const options = { where, beyond, without: ['description'] };
    const unstaged = { ...then, staged: null };
    const { data, pageInfo } = await pageOfKind(unstaged, issueKind, { limit: tabledAtOnce }, options);
    all.push(...data.map((entity) => issueKind.wire(entity, then) as Was));
    const last = data.at(-1);
    if (!pageInfo.hasNextPage || !last || all.length > most) return all;
    beyond = [last.createdAt, last.id];
  }
}

/** Those of the changed ones that are seen and were there, as the log has them, with the names of then. */
async function loggedIssues(
  then: Context,
  changed: readonly string[],
  moment: Moment,
  deleted?: Deleted,
): Promise<Was[]> {
  return [...(await issuesAt(then, changed, moment)).values()]
    .filter((was) => isSeen(then, was) && isListed(deleted, deletedIn(was)))
    .map((was) => known(renamed(issue, was, then.directory), then));
}

interface Unchanged {
  readonly data: readonly Was[];
  readonly isWhole: boolean;
}

/** What the tables still show as it was, and the ids of the other issues. @param read what `others` lets pass */
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
    // What somebody changes between the two reads would stand in the page as it is now.
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
      `More than ${changedMax} issues were changed since. Ask for a later moment, or for single issues.`,
    );
  return rows.map(({ id }) => id);
}

/** The next page of the tables, without the issues that were changed since. */
async function tabled(
  ctx: Context,
  {
    list,
    asked,
    order,
  }: { readonly list: IssueQuery; readonly asked: readonly Asked[]; readonly order: SortKey[] },
  others: Condition,
): Promise<Unchanged> {
  const conditions = await issueFiltering.conditions(ctx, asked);
  const { data, pageInfo } = await pageOfKind(
    { ...ctx, staged: null },
    issueKind,
    list.limit === undefined ? {} : { limit: list.limit },
    {
      where: [...whereDeleted(list.deleted), ...conditions, others],
      order,
      beyond: beginOf(ctx, issue, list) ?? undefined,
    },
  );
  return { data: data.map((entity) => issueKind.wire(entity, ctx) as Was), isWhole: !pageInfo.hasNextPage };
}

/** What moves without an event of the issue: its time, by its comments, when it is due, by its clocks, and the fields that there are. */
async function issuesAt(ctx: Context, ids: readonly string[], moment: Moment): Promise<Map<string, Was>> {
  const issues = await objectsAt(ctx, issue, ids, moment);
  for (const event of await lastEvents(ctx, 'subject', 'comment', ids, moment.sequence)) {
    const was = issues.get(event.subjectId ?? '');
    const { updatedAt } = shownData(event);
    if (was && String(updatedAt) > String(was.updatedAt)) issues.set(was.id, { ...was, updatedAt });
  }
  const due = await dueAt(ctx, ids, moment);
  for (const was of await withFieldsAt(ctx, [...issues.values()], moment))
    issues.set(was.id, { ...was, slaDueAt: due.get(was.id) ?? null });
  return issues;
}

/** When the first of the clocks of each issue is due that counted then. */
async function dueAt(
  ctx: Context,
  ids: readonly string[],
  { sequence }: Moment,
): Promise<ReadonlyMap<string, string>> {
  const due = new Map<string, string>();
  for (const event of await lastEventsOfParts(ctx, slaClock.name, ids, sequence)) {
    const { dueAt, endedAt } = shownData(event) as Shown<typeof slaClock>;
    const first = due.get(event.subjectId ?? '');
    if (endedAt === null && dueAt !== null && (first === undefined || dueAt < first))
      due.set(event.subjectId ?? '', dueAt);
  }
  return due;
}

/** With the names that they had then. */
async function namedAt(ctx: Context, moment: Moment, issues: readonly Was[]): Promise<Was[]> {
  const referred = issues.flatMap((was) => [
    ...referredIn(issue, was),
    ...labelIds(was).map((id) => ['label', id] as const),
  ]);
  const directory = await directoryAt(ctx, moment, referred);
  const shown = issues.map((was) => known(renamed(issue, was, directory), { directory }));
  return parentsAt(ctx, moment, shown);
}

const labelIds = ({ labels }: Was): string[] => (labels as { id: string }[]).map(({ id }) => id);

/** Labels by name: those that were deleted are left out, as they were then. */
function known(was: Was, { directory }: Pick<Context, 'directory'>): Was {
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

/** A parent may have had another identifier, or none yet when its child was made. */
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

/** Relations are objects of their own, which are not read from the log. @throws ApiError validation_failed */
function requireNoRelations(query: IssueQuery): void {
  const given = Object.keys(relationQuery).find((name) => query[name as keyof IssueQuery] !== undefined);
  if (given !== undefined)
    throw invalidField(given, 'conflict', 'Leave it out: with asOf lists are not narrowed by relations.');
}

/** @throws ApiError validation_failed */
function shapeOf(
  ctx: Context,
  query: { readonly fields?: string; readonly expand?: string; readonly include?: string },
) {
  if (query.expand !== undefined)
    throw invalidField('expand', 'conflict', 'Leave it out: with asOf references are not expanded.');
  return readShape(ctx, query);
}
