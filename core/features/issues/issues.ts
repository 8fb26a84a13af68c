// Operations on issues, except creation. Writes return a change set, which the caller commits.
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { listEntities, type PageParameters } from '../../kernel/changes/list.ts';
import { getEntity, removed, requireVersion, updated } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { invalidField, notFound } from '../../platform/lib/errors/errors.ts';
import { readMoment } from '../../platform/lib/filter/filter-value.ts';
import { isListed, whereDeleted, type Deleted } from '../../kernel/resource/archived.ts';
import { parseJson } from '../../platform/lib/json/json.ts';
import { findJsonFault, positionText } from '../../platform/lib/json/json-fault.ts';
import type { FilterRequest } from '../../kernel/resource/filter/filtering.ts';
import type { Condition } from '../../platform/store/page.ts';
import { milestoneLeft } from './references/milestone.ts';
import { cycleAfterRestore, requireOpenOps } from './references/cycle.ts';
import { findState, firstState, isFinishedState } from '../workflows/index.ts';
import { relationConditions, type RelationQuery } from './query/relations.ts';
import { includesField, readShape, shapeIssues, type ShapeQuery } from './query/shape.ts';
import { issueFiltering } from './query/filter.ts';
import { resolvePatch } from './references/references.ts';
import type { IssuePatch } from './bodies.ts';
import { inState } from './query/in-state.ts';
import { issueModel } from './model.ts';
import { issueOrder } from './query/sorting.ts';

export async function getIssue(ctx: Context, id: string, query: ShapeQuery) {
  const shape = readShape(ctx, query);
  const response = issueModel.wire(await getEntity(ctx, issueModel, id), ctx);
  return shape === null ? response : (await shapeIssues(ctx, [response], shape))[0]!;
}

export interface IssueFilters {
  team?: string;
  state?: string;
  assignee?: string;
  label?: string;
  parent?: string;
  cycle?: string;
  project?: string;
  milestone?: string;
  priority?: string;
  updatedSince?: string;
  filter?: string;
}

export interface IssueQuery extends PageParameters, IssueFilters, RelationQuery, ShapeQuery {
  deleted?: Deleted;
  sort?: string;
}

/** Conditions in addition to the query parameters. */
export interface IssueExtras {
  /** Filter of a view. */
  readonly viewFilters?: readonly Extract<FilterRequest, { tree: unknown }>[];
  /** Restricts the list to issues of another object, with the id of that object. */
  readonly among?: { readonly id: string; readonly condition: Condition };
}

export async function listIssues(
  ctx: Context,
  query: IssueQuery,
  { viewFilters = [], among }: IssueExtras = {},
) {
  const shape = readShape(ctx, query);
  const order = issueOrder(query.sort, ctx.directory);
  const conditions = [
    ...(await issueFiltering.conditions(ctx, [...viewFilters, ...requestedFilters(query)])),
    ...(await relationConditions(ctx, query)),
  ];
  const page = await listEntities(ctx, issueModel, query, {
    where: [...whereDeleted(query.deleted), ...(among ? [among.condition] : []), ...conditions],
    order,
    without: includesField(shape, 'description') ? [] : ['description'],
    filter: (issue) => isListed(query.deleted, issue),
    parameters: {
      ...(viewFilters.length === 0 ? {} : { kept: viewFilters.map(({ tree }) => tree) }),
      ...(among ? { among: among.id } : {}),
    },
  });
  return shape === null ? page : { ...page, data: await shapeIssues(ctx, page.data, shape) };
}

/** Parameters that stand for one condition of the filter tree. */
const flat = [
  'team',
  'state',
  'assignee',
  'label',
  'cycle',
  'project',
  'milestone',
  'parent',
  'priority',
] as const;

export function requestedFilters(query: IssueFilters): FilterRequest[] {
  const requested: FilterRequest[] = [];
  for (const name of flat)
    if (query[name] !== undefined) requested.push({ tree: { [name]: query[name] }, at: '' });
  if (query.updatedSince !== undefined) {
    const value = readMoment('time', query.updatedSince, 'updatedSince');
    requested.push({ filter: { field: 'updatedAt', test: 'gte', value } });
  }
  if (query.filter !== undefined) requested.push({ tree: treeIn(query.filter), at: 'filter' });
  return requested;
}

function treeIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    const fix = 'Give JSON such as {"priority":{"in":["high","urgent"]}}.';
    // The position of a syntax error is useful only in text that looks like an object.
    const fault = text.trimStart().startsWith('{') ? findJsonFault(text) : null;
    if (!fault) throw invalidField('filter', 'invalid_format', fix);
    const why = `The filter is not valid JSON: expected ${fault.expected} at ${positionText(text, fault.at)}.`;
    throw invalidField('filter', 'invalid_format', { why, fix });
  }
}

export async function updateIssue(
  ctx: Context,
  id: string,
  input: IssuePatch,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const issue = await getEntity(ctx, issueModel, id);
  requireVersion(issue, ifMatch);
  return updated(ctx, issueModel, issue, await resolvePatch(ctx, issue.teamId, issue, input, ''), ifMatch);
}

export async function deleteIssue(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  return removed(ctx, issueModel, await getEntity(ctx, issueModel, id), ifMatch);
}

export async function restoreIssue(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const issue = await issueModel.find(ctx, id);
  if (!issue) throw notFound();
  if (issue.deletedAt === null) return updated(ctx, issueModel, issue, {}, ifMatch);
  // The state may have been deleted in the meantime.
  const { id: stateId } =
    findState(ctx.directory, issue.teamId, issue.stateId) ?? firstState(ctx.directory, issue.teamId);
  // Labels may have been deleted, too.
  const labelIds = issue.labelIds.filter((labelId) => ctx.directory.labels.has(labelId));
  const state = stateId === issue.stateId ? {} : inState(ctx, issue, stateId);
  const milestoneId = milestoneLeft(ctx.directory, issue.milestoneId);
  const isFinished = isFinishedState(ctx.directory.states.get(stateId)?.type);
  const cycleId = cycleAfterRestore(ctx.directory, { cycleId: issue.cycleId, isFinished });
  const patch = { deletedAt: null, ...state, labelIds, milestoneId, cycleId };
  const set = updated(ctx, issueModel, issue, patch, ifMatch);
  const ops = requireOpenOps(ctx, issue.teamId, cycleId);
  return ops.length === 0 ? set : { ...set, ops };
}
