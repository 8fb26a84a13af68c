// The operations on issues but their creation. Each reads, decides and returns a change set; none of them writes.
import type { ChangeSet } from '../../changes/change.ts';
import { listKind, type PageParameters } from '../../changes/list.ts';
import { getEntity, removed, requireVersion, updated } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { invalidField, notFound } from '../../lib/errors.ts';
import { readMoment } from '../../lib/filter-value.ts';
import { isListed, whereDeleted, type Deleted } from '../../resource/deleted.ts';
import { parseJson } from '../../lib/json.ts';
import type { Asked } from '../../resource/filtering.ts';
import { findState, firstState } from '../directory.ts';
import { readShape, shapeIssues } from './shape.ts';
import { issueFiltering, issueOrder } from './filter.ts';
import { resolvePatch } from './references.ts';
import type { IssuePatch } from './bodies.ts';
import { issueKind } from './kind.ts';

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
  deleted?: Deleted;
  filter?: string;
  sort?: string;
  fields?: string;
  expand?: string;
}

export async function listIssues(ctx: Context, query: IssueQuery) {
  const shape = readShape(ctx, query);
  const order = issueOrder(query.sort);
  const conditions = await issueFiltering.conditions(ctx, askedIn(query));
  const page = await listKind(ctx, issueKind, query, {
    where: [...whereDeleted(query.deleted), ...conditions],
    order,
    without: shape?.fields && !shape.fields.includes('description') ? ['description'] : [],
    keep: (issue) => isListed(query.deleted, issue),
  });
  return shape === null ? page : { ...page, data: await shapeIssues(ctx, page.data, shape) };
}

/** Parameters that abbreviate a condition of the filter tree. */
const flat = ['team', 'state', 'assignee', 'label', 'priority'] as const;

function askedIn(query: IssueQuery): Asked[] {
  const asked: Asked[] = [];
  for (const name of flat)
    if (query[name] !== undefined) asked.push({ tree: { [name]: query[name] }, at: '' });
  if (query.updatedSince !== undefined) {
    const value = readMoment('time', query.updatedSince, 'updatedSince');
    asked.push({ filter: { field: 'updatedAt', test: 'gte', value } });
  }
  if (query.filter !== undefined) asked.push({ tree: treeIn(query.filter), at: 'filter' });
  return asked;
}

function treeIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw invalidField(
      'filter',
      'invalid_format',
      'Give JSON such as {"priority":{"in":["high","urgent"]}}.',
    );
  }
}

export async function updateIssue(
  ctx: Context,
  id: string,
  input: IssuePatch,
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
  // So may some of its labels.
  const labelIds = issue.labelIds.filter((labelId) => ctx.directory.labels.has(labelId));
  return updated(ctx, issueKind, issue, { deletedAt: null, stateId, labelIds }, ifMatch);
}
