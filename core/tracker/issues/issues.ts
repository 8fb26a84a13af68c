// The operations on issues. Each reads, decides and returns a change set; none of them writes.
import type { Static } from 'typebox';
import type { Change, ChangeSet } from '../../changes/change.ts';
import { listKind, notDeleted, type PageParameters } from '../../changes/list.ts';
import { getEntity, removed, requireVersion, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { invalidField, notFound } from '../../lib/errors.ts';
import { parseFilter, type Filter } from '../../lib/filter.ts';
import { authorOf } from '../../resource/author.ts';
import type { Patch } from '../../contract/contract.ts';
import { readTime } from '../../lib/time.ts';
import { parseJson } from '../../lib/json.ts';
import { filterConditions } from '../../store/filter-sql.ts';
import { tenantStatement } from '../../store/statement.ts';
import { findState, firstState } from '../directory.ts';
import { readShape, shapeIssues } from './shape.ts';
import { issueFilterColumns, issueFilterFields, issueOrder } from './filter.ts';
import { resolvePatch, teamOf } from './references.ts';
import type { IssueCreated, IssueInput } from './bodies.ts';
import { issueKind, type Issue } from './kind.ts';
import { issue as contract } from './contract.ts';

export async function getIssue(ctx: Context, id: string, query: { fields?: string; expand?: string }) {
  const shape = readShape(ctx, query);
  const shown = issueKind.wire(await getEntity(ctx, issueKind, id), ctx);
  return shape === null ? shown : (await shapeIssues(ctx, [shown], shape))[0]!;
}

export interface IssueQuery extends PageParameters {
  team?: string;
  state?: string;
  assignee?: string;
  label?: string;
  priority?: string;
  updatedSince?: string;
  filter?: string;
  sort?: string;
  fields?: string;
  expand?: string;
}

export async function listIssues(ctx: Context, query: IssueQuery) {
  const shape = readShape(ctx, query);
  const order = issueOrder(query.sort);
  const filters = flatFilters(ctx, query);
  const conditions = filters.length === 0 ? [] : filterConditions(filters, issueFilterColumns(ctx.directory));
  const page = await listKind(ctx, issueKind, query, {
    where: [notDeleted, ...conditions],
    order,
    without: shape?.fields && !shape.fields.includes('description') ? ['description'] : [],
    keep: (issue) => issue.deletedAt === null,
  });
  return shape === null ? page : { ...page, data: await shapeIssues(ctx, page.data, shape) };
}

/** The flat parameters are abbreviations of the filter tree. */
function flatFilters(ctx: Context, query: IssueQuery): Filter[] {
  const filters: Filter[] = [];
  const equals = (field: string, value: string): void =>
    void filters.push({ field, test: 'in', values: [value] });
  if (query.team !== undefined) equals('team', query.team);
  if (query.state !== undefined) filters.push(parseFilter({ state: query.state }, issueFilterFields));
  if (query.assignee === 'none') filters.push({ field: 'assignee', test: 'null', value: true });
  else if (query.assignee !== undefined)
    equals('assignee', query.assignee === 'me' ? (ctx.actor.memberId ?? '') : query.assignee);
  if (query.label !== undefined) equals('label', query.label);
  if (query.priority !== undefined) equals('priority', query.priority);
  if (query.updatedSince !== undefined) {
    const since = readTime(query.updatedSince, 'updatedSince');
    filters.push({ field: 'updatedAt', test: 'gt', value: new Date(since - 1).toISOString() });
  }
  if (query.filter !== undefined) {
    let tree: unknown;
    try {
      tree = parseJson(query.filter);
    } catch {
      throw invalidField(
        'filter',
        'invalid_format',
        'Give JSON such as {"priority":{"in":["high","urgent"]}}.',
      );
    }
    filters.push(parseFilter(tree, issueFilterFields));
  }
  return filters;
}

export async function createIssue(
  ctx: Context,
  input: IssueInput,
): Promise<ChangeSet<Static<typeof IssueCreated>>> {
  const issue = await planIssue(ctx, input, '');
  return {
    changes: [issue],
    body: createdShape(ctx, issue.after),
    status: 201,
    location: `${ctx.baseUrl}/api/v1/issues/${issue.id}`,
  };
}

export async function createIssues(ctx: Context, inputs: readonly IssueInput[]): Promise<ChangeSet> {
  const seen = new Map<string, number>();
  const changes: (Change & { after: Issue })[] = [];
  for (const [index, input] of inputs.entries()) {
    const external =
      input.externalId === undefined ? null : JSON.stringify([input.externalSource, input.externalId]);
    if (external !== null && seen.has(external))
      throw invalidField(`issues.${index}.externalId`, 'already_exists', {
        why: `Entry ${seen.get(external)} has the same external id.`,
        fix: 'Give each issue once.',
      });
    if (external !== null) seen.set(external, index);
    changes.push(await planIssue(ctx, input, `issues.${index}.`));
  }
  return { changes, body: { data: changes.map((change) => createdShape(ctx, change.after)) }, status: 201 };
}

function createdShape(ctx: Context, issue: Issue): Static<typeof IssueCreated> {
  const { id, identifier, title, priority, url } = issueKind.wire(issue, ctx);
  return { id, identifier, title, priority, url };
}

const byExternalId = tenantStatement<{ id: string }>(
  'issues.by_external_id',
  'SELECT id FROM issues WHERE workspace_id = :ws AND external_source = :source AND external_id = :externalId AND external_id IS NOT NULL',
);

async function planIssue(ctx: Context, input: IssueInput, at: string): Promise<Change & { after: Issue }> {
  const { team: _t, teamKey: _k, teamId: _i, title, externalSource, externalId, ...patch } = input;
  const team = teamOf(ctx, input, at);
  if ((externalSource === undefined) !== (externalId === undefined))
    throw invalidField(
      `${at}${externalId === undefined ? 'externalId' : 'externalSource'}`,
      'required',
      'Give externalSource and externalId together.',
    );
  if (externalSource !== undefined && externalId !== undefined) {
    const known = await ctx.store.readOne(ctx.scope, byExternalId, { source: externalSource, externalId });
    if (known)
      throw invalidField(`${at}externalId`, 'already_exists', { why: `${known.id} has this external id.` });
  }
  const now = ctx.nowMs();
  return issueKind.create({
    id: ctx.ids.next(contract.id),
    teamId: team.id,
    number: null,
    title,
    description: '',
    stateId: firstState(ctx.directory, team.id).id,
    priority: 'none',
    assigneeId: null,
    ...authorOf(ctx, 'creator'),
    labelIds: [],
    projectId: null,
    parentId: null,
    parentPlace: null,
    estimate: null,
    dueDate: null,
    externalSource: externalSource ?? null,
    externalId: externalId ?? null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
    ...(await resolvePatch(ctx, team.id, null, patch, at)),
  });
}

export async function updateIssue(
  ctx: Context,
  id: string,
  input: Patch<typeof contract>,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const issue = await getEntity(ctx, issueKind, id);
  requireVersion(issue, ifMatch);
  return updated(ctx, issueKind, issue, await resolvePatch(ctx, issue.teamId, issue, input, ''), ifMatch);
}

export async function deleteIssue(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  return removed(ctx, issueKind, await getEntity(ctx, issueKind, id), ifMatch);
}

export async function restoreIssue(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const issue = await issueKind.find(ctx, id);
  if (!issue) throw notFound();
  if (issue.deletedAt === null) return updated(ctx, issueKind, issue, {}, ifMatch);
  // Its state may have been deleted meanwhile.
  const { id: stateId } =
    findState(ctx.directory, issue.teamId, issue.stateId) ?? firstState(ctx.directory, issue.teamId);
  return updated(ctx, issueKind, issue, { deletedAt: null, stateId }, ifMatch);
}
