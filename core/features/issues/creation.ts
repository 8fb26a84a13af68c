// Creation of issues: single, in bulk, from a template, and with the number, times and creator that only
// imports can set.
import { isoTime } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { invalidField, ApiError, type ErrorDetail } from '../../platform/lib/errors/errors.ts';
import { readTime } from '../../platform/lib/time/time.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { type IssueInput, selectedMax, type IssueCreated, typesWith, importedInputs } from './bodies.ts';
import { type StateTimes, type Issue, inState, issueModel } from './model.ts';
import type { Static } from 'typebox';
import type { Change, ChangeSet, NewEntity } from '../../kernel/changes/change.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { requiredOf, toFieldsResponse } from '../fields/index.ts';
import { requireTakesIssues } from '../teams/index.ts';
import { readTemplate } from '../templates/index.ts';
import { issue as contract } from './contract.ts';
import { resolvePatch, teamOf, requireExternalFree } from './references.ts';
import { selectedBytesMax } from './bulk.ts';
import { lastRank } from './sub-issues.ts';
import { firstState, statesOf, type StateEntry } from '../workflows/index.ts';
import type { AlsoNeeded } from '../../kernel/http/route.ts';

export async function createIssue(
  ctx: Context,
  input: IssueInput,
): Promise<ChangeSet<Static<typeof IssueCreated>>> {
  const { issue, below } = await planWithTemplate(ctx, input, '');
  await requireFreeNumbers(ctx, [issue.after], () => 'number');
  return {
    changes: [issue, ...below],
    body: createdShape(ctx, issue.after),
    status: 201,
    location: issueLocation(ctx, issue.id),
  };
}

export async function createIssues(ctx: Context, inputs: readonly IssueInput[]): Promise<ChangeSet> {
  const seen = new Map<string, number>();
  const planned: WithTemplate[] = [];
  for (const [index, input] of inputs.entries()) {
    const external =
      input.externalId === undefined ? null : JSON.stringify([input.externalSource, input.externalId]);
    if (external !== null && seen.has(external))
      throw invalidField(`issues.${index}.externalId`, 'already_exists', {
        why: `Entry ${seen.get(external)} has the same external id.`,
        fix: 'Give each issue once.',
      });
    if (external !== null) seen.set(external, index);
    planned.push(await planWithTemplate(ctx, input, `issues.${index}.`));
    if (input.templateId !== undefined) requireFew(planned, `issues.${index}.templateId`);
  }
  const issues = planned.map(({ issue }) => issue.after);
  await requireFreeNumbers(ctx, issues, (index) => `issues.${index}.number`);
  // Given numbers are committed first, so that assigned numbers follow all of them.
  const numbered = Object.groupBy(planned, ({ issue }) => (issue.after.number === null ? 'next' : 'given'));
  return {
    changes: [...(numbered.given ?? []), ...(numbered.next ?? [])].flatMap(({ issue, below }) => [
      issue,
      ...below,
    ]),
    body: { data: planned.map(({ issue }) => createdShape(ctx, issue.after)) },
    status: 201,
  };
}

/** Limits on the body of a request do not cover what templates add. @throws ApiError validation_failed */
function requireFew(planned: readonly WithTemplate[], path: string): void {
  const issues = planned.reduce((sum, { below }) => sum + 1 + below.length, 0);
  const bytes = planned.reduce((sum, { issue }) => sum + Buffer.byteLength(issue.after.description), 0);
  if (issues > selectedMax || bytes > selectedBytesMax)
    throw invalidField(path, 'too_big', {
      why: `With templates, the request creates more than ${selectedMax} issues or more than ${selectedBytesMax / 1024 / 1024} MiB of descriptions.`,
      fix: 'Create fewer issues at once.',
    });
}

export const issueLocation = ({ baseUrl }: Context, id: string): string => `${baseUrl}/api/v1/issues/${id}`;

function createdShape(ctx: Context, issue: Issue): Static<typeof IssueCreated> {
  const { id, identifier, title, priority, url } = issueModel.toResponse(issue, ctx);
  return { id, identifier, title, priority, url };
}

type CreatedIssue = Change & { after: Issue };

/** An issue, and the sub-issues created from its template. */
interface WithTemplate {
  readonly issue: CreatedIssue;
  readonly below: readonly CreatedIssue[];
}

async function planWithTemplate(
  ctx: Context,
  { templateId, ...input }: IssueInput,
  at: string,
): Promise<WithTemplate> {
  if (templateId === undefined) return { issue: await planIssue(ctx, input, at), below: [] };
  const team = teamOf(ctx, input, at);
  const { defaults, subIssues } = await readTemplate(ctx, templateId, team.id, `${at}templateId`);
  const fields = { ...defaults.fields, ...input.fields };
  const issue = await planIssue(ctx, { ...defaults, ...input, fields }, at);
  // Sub-issues take the values of required fields from the issue, since templates define none for them.
  const required = requiredOf(ctx.directory, toFieldsResponse(issue.after.fieldValues, ctx.directory));
  const below: CreatedIssue[] = [];
  for (const title of subIssues) {
    const { after } = await planIssue(ctx, { teamId: team.id, title, fields: required }, at);
    const inParent = { parentId: issue.id, parentPlace: `${team.id} `, subOrder: lastRank(after.id) };
    below.push(issueModel.create({ ...after, ...inParent }));
  }
  return { issue, below };
}

/**
 * @param at prefix of the paths in errors, such as `issues.3.`
 * @throws ApiError
 */
export async function planIssue(
  ctx: Context,
  input: Omit<IssueInput, 'templateId'>,
  at: string,
): Promise<CreatedIssue> {
  const { team: _t, teamKey: _k, teamId: _i, title, externalSource, externalId, ...rest } = input;
  const {
    createdAt: _c,
    creatorId: _b,
    startedAt: _s,
    completedAt: _d,
    canceledAt: _x,
    number = null,
    ...patch
  } = rest;
  const team = teamOf(ctx, input, at);
  requireTakesIssues(team, `${at}team`);
  if ((externalSource === undefined) !== (externalId === undefined))
    throw invalidField(
      `${at}${externalId === undefined ? 'externalId' : 'externalSource'}`,
      'required',
      'Give externalSource and externalId together.',
    );
  if (externalSource !== undefined && externalId !== undefined)
    await requireExternalFree(ctx, { source: externalSource, externalId }, at);
  const values: NewEntity<Issue> = {
    id: ctx.ids.next(contract.id),
    teamId: team.id,
    number,
    title,
    description: '',
    ...inState(ctx, null, entryState(ctx, team.id).id),
    priority: 'none',
    assigneeId: null,
    ...importedCreation(ctx, input, at),
    labelIds: [],
    fieldValues: null,
    projectId: null,
    milestoneId: null,
    parentId: null,
    parentPlace: null,
    subOrder: null,
    estimate: null,
    cycleId: null,
    dueDate: null,
    slaDueAt: null,
    externalSource: externalSource ?? null,
    externalId: externalId ?? null,
    deletedAt: null,
    ...(await resolvePatch(ctx, team.id, null, patch, at)),
  };
  return issueModel.create({ ...values, ...importedTimes(ctx, input, values, at) });
}

/**
 * Returns the state of a new issue without a given state: triage, if the team triages such issues, else its backlog.
 */
function entryState(ctx: Context, teamId: string): StateEntry {
  const { triage } = ctx.directory.teams.get(teamId) ?? {};
  const isTriaged = triage === 'all' || (triage === 'outside' && isFromOutside(ctx));
  const state = isTriaged && statesOf(ctx.directory, teamId).find(({ type }) => type === 'triage');
  return state || firstState(ctx.directory, teamId);
}

/** Returns true if the author is a plugin, the server itself or a guest. */
function isFromOutside({ actor, directory }: Context): boolean {
  return actor.memberId == null || directory.members.get(actor.memberId)?.role === 'guest';
}

/**
 * Returns creation time and creator of a new issue: as given by an import, else now and the caller.
 * `updatedAt` is always now, so that readers of recent changes find imported issues.
 * @param at prefix of the paths in errors
 * @throws ApiError validation_failed
 */
function importedCreation(ctx: Context, input: IssueInput, at: string) {
  const now = ctx.nowMs();
  return {
    createdAt: input.createdAt === undefined ? now : pastTime(input.createdAt, now, `${at}createdAt`),
    updatedAt: now,
    ...(input.creatorId === undefined
      ? authorOf(ctx, 'creator')
      : memberOf(ctx, input.creatorId, `${at}creatorId`)),
  };
}

/**
 * Returns the state times of a new issue, as given by an import. An imported issue did not enter its state
 * now, so an omitted time is unknown.
 * @throws ApiError validation_failed
 */
function importedTimes(
  { directory, nowMs }: Context,
  input: Pick<IssueInput, 'createdAt' | keyof StateTimes>,
  created: Pick<Issue, 'stateId' | 'createdAt' | keyof StateTimes>,
  at: string,
): StateTimes {
  const type = directory.states.get(created.stateId)?.type;
  const timeOf = (name: keyof StateTimes): number | null => {
    const requested = input[name];
    if (requested === undefined) return input.createdAt === undefined ? created[name] : null;
    if (!typesWith[name].some((one) => one === type))
      throw invalidField(`${at}${name}`, 'conflict', {
        why: `The state of the issue is of type ${type}.`,
        fix: `Leave the time out, or give a state of type ${typesWith[name].join(', ')}.`,
      });
    return pastTime(requested, nowMs(), `${at}${name}`);
  };
  const times = {
    startedAt: timeOf('startedAt'),
    completedAt: timeOf('completedAt'),
    canceledAt: timeOf('canceledAt'),
  };
  // Without `createdAt` the creation time is now, which may be later than the given state times.
  const createdAt = input.createdAt === undefined ? null : created.createdAt;
  requireInOrder([['createdAt', createdAt], ...Object.entries(times)], at);
  return times;
}

/**
 * @param times in the order in which they happen
 * @throws ApiError validation_failed
 */
function requireInOrder(times: readonly (readonly [name: string, time: number | null])[], at: string): void {
  const known = times.flatMap(([name, time]) => (time === null ? [] : [{ name, time }]));
  for (const [index, { name, time }] of known.entries()) {
    const before = known[index - 1];
    if (before && time < before.time)
      throw invalidField(`${at}${name}`, 'too_small', {
        why: `The time is before \`${before.name}\`.`,
        fix: `Give ${isoTime(before.time)} or later, or correct \`${before.name}\`.`,
      });
  }
}

function pastTime(requested: string, now: number, path: string): number {
  const time = readTime(requested, path);
  if (time > now) throw invalidField(path, 'too_big', 'Give a time in the past.');
  if (time < 0) throw invalidField(path, 'too_small', 'Give a time in 1970 or later.');
  return time;
}

function memberOf({ directory }: Context, id: string, path: string) {
  const entry = directory.members.get(id);
  if (!entry)
    throw invalidField(path, 'not_found', {
      why: `There is no member ${id}.`,
      fix: 'Use the id of a member.',
    });
  return { creatorKind: 'user' as const, creatorId: id, creatorName: entry.name };
}

const taken = tenantStatement<{ at: number }>(
  'issues.numbers_taken',
  `SELECT w.key AS at FROM json_each(:wanted) AS w
   WHERE EXISTS (SELECT 1 FROM issues AS i WHERE i.workspace_id = :ws
       AND i.team_id = w.value ->> 'teamId' AND i.number = w.value ->> 'number')
     OR EXISTS (SELECT 1 FROM former_identifiers AS f WHERE f.workspace_id = :ws
       AND f.team_id = w.value ->> 'teamId' AND f.number = w.value ->> 'number')
   ORDER BY w.key`,
);

interface Numbered {
  readonly teamId: string;
  readonly number: Issue['number'];
}

/**
 * Checks numbers given by an import: the team must never have used them. All conflicts are reported at once, so that
 * a bulk import can omit them.
 * @param issues issues of the request; without a number if the commit assigns it
 * @param pathOf returns the path of the number of the nth issue
 * @throws ApiError validation_failed (already_exists)
 */
async function requireFreeNumbers(
  { store, scope, directory }: Context,
  issues: readonly Numbered[],
  pathOf: (index: number) => string,
): Promise<void> {
  const wanted = issues.flatMap(({ teamId, number }, index) =>
    number === null ? [] : [{ teamId, number, path: pathOf(index) }],
  );
  if (wanted.length === 0) return;
  const rows = await store.read(scope, taken, { wanted: JSON.stringify(wanted) });
  const called = new Set(rows.map(({ at }) => at));
  const seen = new Set<string>();
  const details = wanted.flatMap(({ teamId, number, path }, at): ErrorDetail[] => {
    const name = `${directory.teams.get(teamId)?.key ?? ''}-${number}`;
    const isFree = !called.has(at) && !seen.has(name);
    seen.add(name);
    const fix = `Leave the number out: ${name} is or was the identifier of another issue.`;
    return isFree ? [] : [{ path, issue: 'already_exists', fix }];
  });
  const [first] = details;
  if (first) throw new ApiError('validation_failed', `${first.path}: ${first.fix}`, { details });
}

const givesAny = (entry: object): boolean => Object.keys(importedInputs).some((name) => name in entry);

/**
 * Extra scope of operations whose body takes `importedInputs`, directly or in a list `issues`: it allows a key to write
 * in the name of another member.
 */
export const importing: AlsoNeeded = {
  words: '`import:write` to set number, createdAt, creatorId, startedAt, completedAt or canceledAt',
  scopes: async (_, { body }) => {
    const { issues } = body as { issues?: readonly object[] };
    return (issues?.some(givesAny) ?? givesAny(body as object)) ? ['import:write'] : [];
  },
};
