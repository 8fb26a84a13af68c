import { Type, type Static } from 'typebox';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { Closed, inputForm, idOf, namedSchema, pageQuery, text } from '../../platform/lib/schema.ts';
import { issue } from '../issues/contract.ts';
import {
  readingIssues,
  withIssueVisibility,
  listIssues,
  type IssueQuery,
  issueModel,
  selectIssues,
  IssueSelection,
  issueNames,
} from '../issues/index.ts';
import { stageMax } from '../pipelines/contract.ts';
import { release, releaseIssuesMax } from './contract.ts';
import { draftNotes } from './notes.ts';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { getEntity, updated } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { releaseModel, type Release, requireUnpublished } from './model.ts';
import type { Condition } from '../../platform/store/page.ts';

const params = Closed({ id: idOf(release.id) });
const releaseResponse = { 200: schemasOf(release).response };
const path = '/api/v1/releases/{id}';

const ReleaseStage = namedSchema(
  'ReleaseStage',
  Closed({ stage: text(stageMax, 'A stage of the pipeline of the release.') }),
);
const ReleaseRollback = namedSchema(
  'ReleaseRollback',
  Closed({ reason: text(2_000, 'The reason for the rollback.') }),
);
const ReleaseNotesDraft = namedSchema(
  'ReleaseNotesDraft',
  Closed({
    save: Type.Optional(
      Type.Boolean({
        description: 'True to replace the notes of the release; default false.',
      }),
    ),
  }),
);
const ReleaseNotes = namedSchema(
  'ReleaseNotes',
  Closed({
    notes: Type.String({
      description: 'Release notes in Markdown; empty if every issue is canceled or a duplicate.',
    }),
  }),
);

// Steps of a release: stages of its pipeline, publication and rollback. If two steps are concurrent, one of
// them is planned again on the result of the other.

/** @throws ApiError not_found, conflict, validation_failed */
async function moveRelease(
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
async function publishRelease(ctx: Context, id: string, ifMatch: number | null): Promise<ChangeSet> {
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
async function rollBackRelease(
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

const stepRoutes = [
  defineRoute({
    method: 'POST',
    path: `${path}/stage`,
    name: 'releases.stage',
    summary: 'Move a release to a stage of its pipeline',
    scope: 'releases:write',
    writes: ['status'],
    limit: 'write',
    params,
    body: ReleaseStage,
    example: { stage: 'staging' },
    responses: releaseResponse,
    errors: ['conflict'],
    write: (ctx, { params, body, ifMatch }) => moveRelease(ctx, params.id, body.stage, ifMatch),
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/publish`,
    name: 'releases.publish',
    summary: 'Publish a release',
    description: 'Afterwards the issues are fixed, and only the notes can be changed.',
    scope: 'releases:write',
    writes: ['status', 'stage', 'publishedAt'],
    limit: 'write',
    params,
    responses: releaseResponse,
    errors: ['conflict'],
    write: (ctx, { params, ifMatch }) => publishRelease(ctx, params.id, ifMatch),
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/rollback`,
    name: 'releases.rollback',
    summary: 'Mark a published release as rolled back',
    scope: 'releases:write',
    writes: ['status', 'rolledBackAt', 'rollbackReason'],
    limit: 'write',
    params,
    body: ReleaseRollback,
    example: { reason: 'Saving loses comments.' },
    responses: releaseResponse,
    errors: ['conflict'],
    write: (ctx, { params, body, ifMatch }) => rollBackRelease(ctx, params.id, body.reason, ifMatch),
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/notes/draft`,
    name: 'releases.notes.draft',
    summary: 'Draft notes from the issues of a release',
    description:
      'Groups issues as features, fixes and other changes by the labels `feature` and `bug`, and omits canceled ones. The notes of the release stay unchanged unless `save` is true.',
    scope: 'releases:write',
    also: readingIssues,
    writes: ['notes'],
    limit: 'write',
    params,
    body: ReleaseNotesDraft,
    example: { save: true },
    responses: { 200: ReleaseNotes },
    errors: ['conflict'],
    write: (ctx, { params, body }) => draftNotes(ctx, params.id, body.save ?? false),
  }),
];

// Bodies for the issues of a release. They use `issueIds` where the routes of issues use `ids`.

const ReleaseIssuesAdd = namedSchema(
  'ReleaseIssuesAdd',
  Closed({ issueIds: Type.Optional(issueNames), filter: IssueSelection.properties.filter }),
);
type ReleaseIssuesInput = Static<typeof ReleaseIssuesAdd>;

const ReleaseIssuesRemove = namedSchema('ReleaseIssuesRemove', Closed({ issueIds: issueNames }));

/** @throws ApiError not_found, conflict, validation_failed, budget_exceeded */
async function addIssues(
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
async function removeIssues(
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
async function listIssuesOf(ctx: Context, id: string, query: IssueQuery) {
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

const issueRoutes = [
  defineRoute({
    method: 'GET',
    path: `${path}/issues`,
    name: 'releases.issues.list',
    summary: 'List the issues of a release, newest first',
    scope: 'releases:read',
    also: readingIssues,
    limit: 'read',
    params,
    query: Closed({
      ...pageQuery,
      filter: Type.Optional(
        Type.String({ maxLength: 8000, description: 'Filter tree of issues as JSON.', [inputForm]: 'json' }),
      ),
      sort: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'Sort keys, as for the list of issues; default `-createdAt`.',
        }),
      ),
    }),
    responses: { 200: schemasOf(issue).page },
    errors: ['invalid_cursor'],
    read: (ctx, { params, query }) => listIssuesOf(ctx, params.id, query),
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/issues`,
    name: 'releases.issues.add',
    summary: 'Add issues to a release',
    description:
      'Adds the issues in `issueIds`, or all that match `filter`. Issues already in the release stay in it. A release has at most 500 issues.',
    scope: 'releases:write',
    also: readingIssues,
    writes: ['issueIds'],
    limit: 'write',
    params,
    body: ReleaseIssuesAdd,
    example: { issueIds: ['ENG-1', 'ENG-2'] },
    responses: releaseResponse,
    errors: ['conflict', 'budget_exceeded'],
    write: (ctx, { params, body, ifMatch }) => addIssues(ctx, params.id, body, ifMatch),
  }),
  defineRoute({
    method: 'POST',
    path: `${path}/issues/remove`,
    name: 'releases.issues.remove',
    summary: 'Remove issues from a release',
    description: 'Issues that are not in the release are ignored.',
    scope: 'releases:write',
    also: readingIssues,
    writes: ['issueIds'],
    limit: 'write',
    params,
    body: ReleaseIssuesRemove,
    example: { issueIds: ['ENG-2'] },
    responses: releaseResponse,
    errors: ['conflict'],
    write: (ctx, { params, body, ifMatch }) => removeIssues(ctx, params.id, body.issueIds, ifMatch),
  }),
];

export const releaseRoutes = [...stepRoutes, ...issueRoutes];
