// How issues are made, one or many at once.
import type { Static } from 'typebox';
import type { Change, ChangeSet } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { tenantStatement } from '../../store/statement.ts';
import { firstState } from '../directory.ts';
import type { IssueCreated, IssueInput } from './bodies.ts';
import { issue as contract } from './contract.ts';
import { madeWhenAndBy } from './imported.ts';
import { issueKind, type Issue } from './kind.ts';
import { resolvePatch, teamOf } from './references.ts';

/** An id that an issue has elsewhere. */
export interface ExternalPlace {
  readonly source: string;
  readonly externalId: string;
}

const byExternalId = tenantStatement<{ id: string }>(
  'issues.by_external_id',
  'SELECT id FROM issues WHERE workspace_id = :ws AND external_source = :source AND external_id = :externalId AND external_id IS NOT NULL',
);

/** Whoever has it, deleted or not seen by the caller. */
export async function idOfExternal(
  { store, scope }: Pick<Context, 'store' | 'scope'>,
  { source, externalId }: ExternalPlace,
): Promise<string | undefined> {
  return (await store.readOne(scope, byExternalId, { source, externalId }))?.id;
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
    location: placeOf(ctx, issue.id),
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

export const placeOf = ({ baseUrl }: Pick<Context, 'baseUrl'>, id: string): string =>
  `${baseUrl}/api/v1/issues/${id}`;

function createdShape(ctx: Context, issue: Issue): Static<typeof IssueCreated> {
  const { id, identifier, title, priority, url } = issueKind.wire(issue, ctx);
  return { id, identifier, title, priority, url };
}

/** @param at before the paths in errors: `issues.3.` @throws ApiError */
export async function planIssue(
  ctx: Context,
  input: IssueInput,
  at: string,
): Promise<Change & { after: Issue }> {
  const { team: _t, teamKey: _k, teamId: _i, title, externalSource, externalId, ...rest } = input;
  const { createdAt: _c, creatorId: _b, ...patch } = rest;
  const team = teamOf(ctx, input, at);
  if ((externalSource === undefined) !== (externalId === undefined))
    throw invalidField(
      `${at}${externalId === undefined ? 'externalId' : 'externalSource'}`,
      'required',
      'Give externalSource and externalId together.',
    );
  if (externalSource !== undefined && externalId !== undefined) {
    const known = await idOfExternal(ctx, { source: externalSource, externalId });
    if (known !== undefined)
      throw invalidField(`${at}externalId`, 'already_exists', { why: `${known} has this external id.` });
  }
  return issueKind.create({
    id: ctx.ids.next(contract.id),
    teamId: team.id,
    number: null,
    title,
    description: '',
    stateId: firstState(ctx.directory, team.id).id,
    priority: 'none',
    assigneeId: null,
    ...madeWhenAndBy(ctx, input, at),
    labelIds: [],
    projectId: null,
    parentId: null,
    parentPlace: null,
    estimate: null,
    dueDate: null,
    externalSource: externalSource ?? null,
    externalId: externalId ?? null,
    deletedAt: null,
    ...(await resolvePatch(ctx, team.id, null, patch, at)),
  });
}
