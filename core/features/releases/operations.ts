// Operations on releases: stages of the pipeline, publication and rollback, issues, and drafts of the
// notes. If two steps are concurrent, one of them is planned again on the result of the other.
import { Type, type Static } from 'typebox';
import { Closed, namedSchema } from '../../platform/lib/schema.ts';
import {
  withIssueVisibility,
  listIssues,
  type IssueQuery,
  issueModel,
  selectIssues,
  IssueSelection,
  issueNames,
  type IssueResponse,
} from '../issues/index.ts';
import { releaseIssuesMax, notesBytesMax } from './contract.ts';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity, updated } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { releaseModel, type Release, requireUnpublished } from './model.ts';
import type { Condition } from '../../platform/store/page.ts';
import { notDeleted, pageOfModel } from '../../kernel/changes/list.ts';
import { foldName } from '../../platform/lib/text/words.ts';

/** @throws ApiError not_found, conflict, validation_failed */
export async function moveRelease(
  ctx: Context,
  id: string,
  stage: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  requireUnpublished(current, 'its stage cannot change. Use another release');
  const stages = stagesOf(ctx, current);
  const at = stages.indexOf(stage);
  if (at < 0)
    throw invalidField('stage', 'not_found', {
      why: `The pipeline has no stage ${stage}.`,
      fix: `Use one of ${stages.join(', ')}.`,
    });
  return updated(
    ctx,
    releaseModel,
    current,
    { stage, status: at === 0 ? 'planned' : 'in_progress' },
    ifMatch,
  );
}

/** @throws ApiError not_found, conflict */
export async function publishRelease(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  requireUnpublished(current, 'it cannot be published again. Use another release');
  const stage = stagesOf(ctx, current).at(-1) ?? current.stage;
  return updated(
    ctx,
    releaseModel,
    current,
    { status: 'published', stage, publishedAt: ctx.nowMs() },
    ifMatch,
  );
}

/** @throws ApiError not_found, conflict */
export async function rollBackRelease(
  ctx: Context,
  id: string,
  reason: string,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  if (current.status !== 'published')
    throw new ApiError(
      'conflict',
      current.status === 'rolled_back'
        ? 'The release was already rolled back. Use another release.'
        : 'The release was not published. Only a published release can be rolled back.',
    );
  const patch = { status: 'rolled_back', rolledBackAt: ctx.nowMs(), rollbackReason: reason } as const;
  return updated(ctx, releaseModel, current, patch, ifMatch);
}

function stagesOf({ directory }: Context, { pipelineId }: Release): readonly string[] {
  return directory.pipelines.get(pipelineId)?.stages ?? [];
}

export const ReleaseIssuesAdd = namedSchema(
  'ReleaseIssuesAdd',
  Closed({ issueIds: Type.Optional(issueNames), filter: IssueSelection.properties.filter }),
);

type ReleaseIssuesInput = Static<typeof ReleaseIssuesAdd>;

export const ReleaseIssuesRemove = namedSchema('ReleaseIssuesRemove', Closed({ issueIds: issueNames }));

/** @throws ApiError not_found, conflict, validation_failed, budget_exceeded */
export async function addIssues(
  ctx: Context,
  id: string,
  { issueIds: requestedIds, filter }: ReleaseIssuesInput,
  ifMatch: number | null,
): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  requireUnpublished(current, 'its issues cannot change. Use another release');
  const selected = await selectIssues(
    withIssueVisibility(ctx),
    { ...(requestedIds && { ids: requestedIds }), ...(filter && { filter }) },
    'issueIds',
  );
  const issueIds = [...new Set([...current.issueIds, ...selected.map(({ issue }) => issue.id)])];
  if (issueIds.length > releaseIssuesMax)
    throw invalidField(filter === undefined ? 'issueIds' : 'filter', 'too_big', {
      why: `The release would have ${issueIds.length} issues.`,
      fix: `Add fewer issues: a release has at most ${releaseIssuesMax}.`,
    });
  return updated(ctx, releaseModel, current, { issueIds }, ifMatch);
}

/** Ignores issues that are not in the release or do not exist. @throws ApiError not_found, conflict */
export async function removeIssues(
  ctx: Context,
  id: string,
  names: readonly string[],
  ifMatch: number | null,
): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  requireUnpublished(current, 'its issues cannot change. Use another release');
  const ids = await issueModel.idsOf(ctx, names);
  const gone = new Set(names.map((name) => ids.get(name) ?? name));
  const issueIds = current.issueIds.filter((one) => !gone.has(one));
  return updated(ctx, releaseModel, current, { issueIds }, ifMatch);
}

/** @throws ApiError not_found, and the errors of issue lists */
export async function listIssuesOf(ctx: Context, id: string, query: IssueQuery) {
  const { id: releaseId } = await getEntity(ctx, releaseModel, id);
  return listIssues(withIssueVisibility(ctx), query, {
    among: { id: releaseId, condition: isIn(releaseId) },
  });
}

function isIn(releaseId: string): Condition {
  const params = { releaseId };
  return {
    sql: `EXISTS (SELECT 1 FROM release_issues AS r
      WHERE r.workspace_id = :ws AND r.release_id = :releaseId AND r.issue_id = issues.id)`,
    params,
    listed: {
      sql: 'SELECT issue_id AS listed_id, created_at AS listed_at FROM release_issues WHERE workspace_id = :ws AND release_id = :releaseId',
      params,
    },
  };
}

const groups = [
  { title: 'Features', label: 'feature' },
  { title: 'Fixes', label: 'bug' },
  { title: 'Other changes', label: null },
] as const;

/** Bytes reserved for the line that counts omitted issues. */
const restBytes = 100;

/**
 * Drafts release notes from issues: features, fixes and other changes, by the labels `feature` and `bug`, one line per
 * issue with its identifier and link. The same issues always give the same text.
 * @throws ApiError not_found; conflict if `save` is set and the release is published
 */
export async function draftNotes(ctx: Context, id: string, save: boolean): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  if (save)
    requireUnpublished(
      current,
      'its notes cannot be replaced by a draft. Leave save out, and update the notes instead',
    );
  const notes = draftOf(await issuesIn(withIssueVisibility(ctx), current.issueIds));
  const { changes } = save ? updated(ctx, releaseModel, current, { notes }, null) : { changes: [] };
  return { changes, body: { notes } };
}

/** Returns the visible issues that are neither canceled nor duplicates, sorted by identifier. */
async function issuesIn(ctx: Context, issueIds: readonly string[]): Promise<IssueResponse[]> {
  const { data } = await pageOfModel(
    ctx,
    issueModel,
    { limit: releaseIssuesMax },
    {
      where: [
        notDeleted,
        { sql: 'id IN (SELECT value FROM json_each(:ids))', params: { ids: JSON.stringify(issueIds) } },
      ],
      without: ['description'],
    },
  );
  return data
    .map((issue) => issueModel.toResponse(issue, ctx))
    .filter(({ state }) => state.type !== 'canceled' && state.type !== 'duplicate')
    .sort(byIdentifier);
}

function byIdentifier(a: IssueResponse, b: IssueResponse): number {
  if (a.team.key !== b.team.key) return a.team.key < b.team.key ? -1 : 1;
  return (a.number ?? 0) - (b.number ?? 0);
}

function draftOf(issues: readonly IssueResponse[]): string {
  const lines: string[] = [];
  let bytes = restBytes;
  let left = 0;
  for (const group of groups) {
    const own = issues.filter((issue) => groupOf(issue) === group);
    const texts = own.map((issue) => `- ${lineOf(issue)}`);
    for (const text of texts.length > 0 ? [`## ${group.title}`, '', ...texts, ''] : []) {
      bytes += Buffer.byteLength(text) + 1;
      if (bytes <= notesBytesMax) lines.push(text);
      else if (text.startsWith('- ')) left++;
    }
  }
  if (left > 0) lines.push(`And ${left} more.`, '');
  return lines.join('\n');
}

/** Returns the first group whose label the issue has; else the last group. */
function groupOf({ labels }: IssueResponse): (typeof groups)[number] {
  const names = new Set(labels.map(({ name }) => foldName(name)));
  return groups.find(({ label }) => label !== null && names.has(label)) ?? groups[2];
}

/** Titles are plain text, so Markdown in them is escaped. */
function lineOf({ identifier, title, url }: IssueResponse): string {
  return `${title.replaceAll(/[\\`*_[\]<>]/g, String.raw`\$&`)} ([${identifier}](${url}))`;
}
