import { Type } from 'typebox';
import { schemasOf } from '../../kernel/contract/schemas.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { Closed, inputForm, idOf, namedSchema, pageQuery, text } from '../../platform/lib/schema.ts';
import { issue } from '../issues/contract.ts';
import { readingIssues } from '../issues/index.ts';
import { stageMax } from '../pipelines/contract.ts';
import { release } from './contract.ts';
import {
  draftNotes,
  moveRelease,
  publishRelease,
  rollBackRelease,
  ReleaseIssuesAdd,
  ReleaseIssuesRemove,
  addIssues,
  removeIssues,
  listIssuesOf,
} from './operations.ts';

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
