// Resolves references of issues in requests. An unknown reference causes a 422 with `not_found` at its
// path.
import type { Context, Directory } from '../../kernel/context.ts';
import { invalidField, ApiError } from '../../platform/lib/errors/errors.ts';
import { label } from '../labels/contract.ts';
import { idsInTeam } from '../teams/index.ts';
import type { IssuePatch, IssueInput } from './bodies.ts';
import { labelsMax, issue as contract } from './contract.ts';
import { type Issue, inState } from './model.ts';
import { idOfName, type Among, type Naming } from '../../kernel/resource/names/names.ts';
import { milestone } from '../milestones/contract.ts';
import { cycle } from '../cycles/contract.ts';
import { storedValuesOf } from '../../kernel/resource/input.ts';
import { findTeam, noTeam, type TeamEntry } from '../../kernel/resource/names/teams.ts';
import { stateByName } from '../workflows/index.ts';
import { fieldsAfter } from '../fields/index.ts';
import { resolveParent } from './sub-issues.ts';
import { issueTable } from './tables.ts';

/** Returns the team of a creation. `team` is canonical; its aliases must name the same team. */
export function teamOf(
  ctx: Context,
  input: Pick<IssueInput, 'team' | 'teamKey' | 'teamId'>,
  at: string,
): TeamEntry {
  const requested = (['team', 'teamKey', 'teamId'] as const).filter((name) => input[name] !== undefined);
  const first = requested[0];
  if (first === undefined)
    throw invalidField(`${at}team`, 'required', 'Name the team by its key, such as "ENG".');
  // The error must not reveal teams that the caller cannot see.
  const seen = ctx.scopes.has('teams:read') ? null : ctx.visibleTeams;
  const teams = requested.map((name) => {
    const team = findTeam(ctx.directory, input[name]!);
    if (!team || (seen && !seen.has(team.id)))
      throw invalidField(`${at}${name}`, 'not_found', noTeam(String(input[name])));
    return team;
  });
  if (teams.some((team) => team.id !== teams[0]!.id))
    throw invalidField(`${at}${requested.at(-1)}`, 'conflict', {
      why: `This team is not the team of ${first}.`,
      fix: `Leave ${first} or ${requested.at(-1)!} out.`,
    });
  return teams[0]!;
}

/** Returns the stored form of a patch for an issue of `teamId`; `issue` is null for a creation. */
export async function resolvePatch(
  ctx: Context,
  teamId: string,
  issue: Issue | null,
  input: IssuePatch,
  at: string,
): Promise<Partial<Issue>> {
  const { labels, addLabels, removeLabels, fields, parentId, stateId: state, cycleId, ...rest } = input;
  const plain = resolveMilestone(ctx, issue, rest, at);
  const patch: { -readonly [K in keyof Issue]?: Issue[K] } = {
    ...storedValuesOf(ctx, contract, 'update', plain, at),
  };
  Object.assign(patch, milestoneAfter(ctx.directory, issue, patch, at));
  if (state !== undefined && state !== issue?.stateId) {
    const stateId = resolveState(ctx, teamId, issue, state, at);
    if (stateId !== issue?.stateId) Object.assign(patch, inState(ctx, issue, stateId));
  }
  if (cycleId !== undefined) patch.cycleId = resolveCycle(ctx, teamId, issue, cycleId, at);
  const labelIds = labelsAfter(ctx, teamId, issue, { labels, addLabels, removeLabels }, at);
  if (labelIds) patch.labelIds = labelIds;
  const before = issue ? issue.fieldValues : undefined;
  const fieldValues = fieldsAfter({ ctx, teamId, before, at }, fields);
  if (fieldValues !== undefined) patch.fieldValues = fieldValues;
  if (parentId !== undefined) Object.assign(patch, await resolveParent(ctx, issue, parentId, at));
  return patch;
}

function resolveState(
  ctx: Context,
  teamId: string,
  issue: Issue | null,
  requested: string,
  at: string,
): string {
  const stateId = stateByName(ctx, teamId, requested, `${at}stateId`);
  const transitions = ctx.directory.teams.get(teamId)?.transitions ?? null;
  if (issue && transitions && stateId !== issue.stateId)
    requireTransition(transitions[issue.stateId] ?? [], stateId, at);
  return stateId;
}

/** @throws ApiError transition_not_allowed */
function requireTransition(allowed: readonly string[], stateId: string, at: string): void {
  if (allowed.includes(stateId)) return;
  const detail = { path: `${at}stateId`, issue: 'conflict' } as const;
  if (allowed.length === 0)
    throw new ApiError(
      'transition_not_allowed',
      'The team allows no transition from the current state. Change the transitions of the team first.',
      {
        details: [detail],
      },
    );
  const fix = `Use one of ${allowed.join(', ')}.`;
  throw new ApiError('transition_not_allowed', `The team does not allow this transition. ${fix}`, {
    details: [{ ...detail, fix }],
  });
}

/** Names or ids of labels in a request. */
type LabelsInput = { readonly [K in 'labels' | 'addLabels' | 'removeLabels']: IssuePatch[K] };

/**
 * Returns sorted ids; undefined if the request does not change labels. A plan that loses a race is computed again,
 * so additions apply to the labels at commit.
 * @param issue null for a creation
 * @param at prefix of the paths in errors, such as `issues.3.`
 * @throws ApiError validation_failed
 */
function labelsAfter(
  ctx: Context,
  teamId: string,
  issue: Issue | null,
  { labels, addLabels, removeLabels }: LabelsInput,
  at: string,
): string[] | undefined {
  const resolve = (name: keyof LabelsInput, names: readonly string[] = []): string[] =>
    idsInTeam(ctx, label, teamId, {
      names,
      path: `${at}${name}`,
      ...(name !== 'removeLabels' && { fix: 'Create the label first.' }),
    });
  if (labels !== undefined) {
    const other = addLabels ? 'addLabels' : removeLabels ? 'removeLabels' : null;
    if (other)
      throw invalidField(`${at}${other}`, 'conflict', 'Give either labels, or addLabels and removeLabels.');
    return [...resolve('labels', labels), ...unseenLabels(ctx, issue)].sort();
  }
  if (!addLabels && !removeLabels) return undefined;
  const added = resolve('addLabels', addLabels);
  const removed = new Set(resolve('removeLabels', removeLabels));
  if (added.some((id) => removed.has(id)))
    throw invalidField(`${at}removeLabels`, 'conflict', {
      why: 'A label is listed in addLabels as well.',
      fix: 'List each label in one of the two.',
    });
  const after = new Set([...(issue?.labelIds ?? []), ...added].filter((id) => !removed.has(id)));
  if (after.size > labelsMax)
    throw invalidField(`${at}addLabels`, 'too_long', {
      why: `An issue has at most ${labelsMax} labels.`,
      fix: 'Remove other labels in the same request.',
    });
  return [...after].sort();
}

/** A label that was just deleted stays on the issue until its own event removes it. */
function unseenLabels(ctx: Context, issue: Issue | null): string[] {
  return issue?.labelIds.filter((id) => !ctx.directory.labels.has(id)) ?? [];
}

interface IssueMilestone {
  readonly projectId: string | null;
  readonly milestoneId: string | null;
}

/** Replaces the name of a milestone in a body by its id, searched in the project of the issue. */
function resolveMilestone<B extends { readonly projectId?: string | null; milestoneId?: string | null }>(
  ctx: Naming,
  issue: IssueMilestone | null,
  body: B,
  at: string,
): B {
  const { projectId = issue?.projectId ?? null, milestoneId } = body;
  if (typeof milestoneId !== 'string') return body;
  const among: Among = {
    has: (entry) => projectId === null || entry.projectId === projectId,
    words: projectId === null ? '' : ' in the project of the issue',
  };
  return { ...body, milestoneId: idOfName(ctx, milestone, milestoneId, `${at}milestoneId`, among) };
}

/**
 * Returns the milestone after a patch, if the patch changes it. It must belong to the project of the issue; moving
 * the issue to another project clears it.
 * @param issue current issue; null for a creation
 * @param at prefix of the path in errors
 * @throws ApiError validation_failed
 */
function milestoneAfter(
  { milestones, projects }: Directory,
  issue: IssueMilestone | null,
  patch: Partial<IssueMilestone>,
  at: string,
): { readonly milestoneId?: string | null } {
  const { projectId = issue?.projectId ?? null, milestoneId } = patch;
  if (milestoneId === undefined) return leftBehind(issue, projectId);
  if (milestoneId !== null && milestones.get(milestoneId)?.projectId !== projectId)
    throw ofOther(projectId, at);
  if (milestoneId !== null) requireOpen(projects, projectId, issue?.milestoneId === milestoneId, at);
  return { milestoneId };
}

function leftBehind(issue: IssueMilestone | null, projectId: string | null): { milestoneId?: null } {
  return issue && issue.milestoneId !== null && projectId !== issue.projectId ? { milestoneId: null } : {};
}

const ofOther = (projectId: string | null, at: string): Error =>
  invalidField(`${at}milestoneId`, 'conflict', {
    why:
      projectId === null
        ? 'The issue has no project.'
        : 'The milestone belongs to another project than the issue.',
    fix: "Set projectId to the project of the milestone as well, or use a milestone of the issue's project.",
  });

/**
 * @param isOwn true if the issue already has the milestone
 * @throws ApiError validation_failed
 */
function requireOpen(
  projects: Directory['projects'],
  projectId: string | null,
  isOwn: boolean,
  at: string,
): void {
  if (projectId === null || isOwn || !projects.get(projectId)?.removed) return;
  throw invalidField(`${at}milestoneId`, 'conflict', {
    why: 'The project of this milestone was deleted.',
    fix: `Use another milestone, or restore the project with POST /api/v1/projects/${projectId}/restore.`,
  });
}

/**
 * Resolves the cycle in a request for an issue of a team.
 * @param issue current issue; null for a creation
 * @param at prefix of the path in errors
 * @throws ApiError validation_failed
 */
function resolveCycle(
  ctx: Naming,
  teamId: string,
  issue: { readonly cycleId: string | null } | null,
  requested: string | null,
  at: string,
): string | null {
  if (requested === null || requested === issue?.cycleId) return requested;
  const { directory } = ctx;
  const path = `${at}cycleId`;
  const cycleId = idOfName(ctx, cycle, requested, path, {
    has: (entry) => entry.teamId === teamId,
    words: ' in this team',
    rank: ({ status }) => (status === 'completed' ? 1 : 0),
    isOpen: true,
  });
  if (cycleId === issue?.cycleId) return cycleId;
  const match = directory.cycles.get(cycleId);
  if (match?.teamId !== teamId)
    throw invalidField(path, 'not_found', {
      why: `${cycleId} is not a cycle of the issue's team.`,
      fix: 'Use a cycle that GET /api/v1/cycles?team=KEY lists.',
    });
  if (match.status === 'completed')
    throw invalidField(path, 'conflict', {
      why: `${match.name} is completed.`,
      fix: 'Use an active or upcoming cycle of the team.',
    });
  return cycleId;
}

/** Returns the milestone of a restored issue; null if it was deleted in the meantime. */
export function milestoneLeft({ milestones }: Directory, milestoneId: string | null): string | null {
  const entry = milestoneId === null ? undefined : milestones.get(milestoneId);
  return entry && !entry.removed ? entry.id : null;
}

/**
 * Returns the cycle of a restored issue: an unfinished issue leaves a cycle that was completed in the
 * meantime.
 */
export function cycleAfterRestore(
  { cycles }: Directory,
  { cycleId, isFinished }: { readonly cycleId: string | null; readonly isFinished: boolean },
): string | null {
  const match = cycleId === null ? undefined : cycles.get(cycleId);
  return match && (isFinished || match.status !== 'completed') ? match.id : null;
}

/** Id of an issue in another system. */
export interface ExternalReference {
  readonly source: string;
  readonly externalId: string;
}

const byExternalId = issueTable.select(
  'by_external_id',
  ['id'],
  ['external_source', 'external_id'],
  'AND external_id IS NOT NULL',
);

/** Finds the issue even if it is deleted or hidden from the caller. */
export async function idOfExternal(
  { store, scope }: Context,
  { source, externalId }: ExternalReference,
): Promise<string | undefined> {
  return (await byExternalId.one(store, scope, { external_source: source, external_id: externalId }))?.id;
}

/**
 * External ids are unique in the workspace. Guests cannot set them, and get the same error whether an id is
 * free, visible or hidden: so a guest cannot probe the ids of hidden teams, or occupy an id that a
 * synchronization needs.
 * @throws ApiError conflict
 */
export async function requireExternalFree(
  ctx: Context,
  reference: ExternalReference,
  at: string,
): Promise<void> {
  const isGuest = ctx.visibleTeams !== null && ctx.actor.kind !== 'plugin';
  if (!isGuest && (await idOfExternal(ctx, reference)) === undefined) return;
  const why = isGuest
    ? 'Another issue has this external id, or you are a guest: guests cannot set external ids.'
    : 'Another issue has this external id.';
  const fix = 'Leave externalSource and externalId out, or change the issue that has them.';
  throw new ApiError('conflict', `${at}externalId: ${why} ${fix}`, {
    details: [{ path: `${at}externalId`, issue: 'already_exists', fix }],
  });
}
