// Resolves references of issues in requests. An unknown reference causes a 422 with `not_found` at its path.
import type { Context } from '../../../kernel/context.ts';
import { ApiError, invalidField } from '../../../platform/lib/errors/errors.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { storedValuesOf } from '../../../kernel/resource/input.ts';
import { findTeam, noTeam, type TeamEntry } from '../../../kernel/resource/names/teams.ts';
import { stateByName } from '../../workflows/index.ts';
import { milestoneAfter, resolveMilestone } from './milestone.ts';
import { fieldsAfter } from '../../fields/index.ts';
import { resolveCycle } from './cycle.ts';
import { labelsAfter } from './labels.ts';
import type { IssueInput, IssuePatch } from '../bodies.ts';
import { issue as contract } from '../contract.ts';
import { inState } from '../query/in-state.ts';
import { issueModel, type Issue } from '../model.ts';
import { lastRank } from '../order/sub-order.ts';

const parentDepthMax = 10;

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

const parentOf = tenantStatement<{ parent_id: string | null }>(
  'issues.parent_of',
  'SELECT parent_id FROM issues WHERE workspace_id = :ws AND id = :id',
);

async function resolveParent(
  ctx: Context,
  issue: Issue | null,
  parentId: string | null,
  at: string,
): Promise<Partial<Issue>> {
  if (parentId === null) return { parentId: null, parentPlace: null, subOrder: null };
  const parent = await issueModel.find(ctx, parentId);
  if (!parent || parent.deletedAt !== null)
    throw invalidField(`${at}parentId`, 'not_found', {
      why: `There is no issue ${parentId}.`,
      fix: 'Use the id or identifier of an existing issue.',
    });
  let above: string | null = parent.id;
  for (let depth = 0; above !== null; depth++) {
    if (above === issue?.id)
      throw invalidField(`${at}parentId`, 'conflict', {
        why: 'The issue would be its own ancestor.',
        fix: 'Use an issue that is not a descendant of this one.',
      });
    if (depth >= parentDepthMax)
      throw invalidField(`${at}parentId`, 'too_big', `Nest at most ${parentDepthMax} levels of parents.`);
    above = await parentIdOf(ctx, above);
  }
  const parentPlace = `${parent.teamId} ${parent.number ?? ''}`;
  if (parent.id === issue?.parentId) return { parentId: parent.id, parentPlace };
  return { parentId: parent.id, parentPlace, subOrder: lastRank(ctx.ids.next(contract.id)) };
}

async function parentIdOf(ctx: Context, id: string): Promise<string | null> {
  const staged = ctx.staged?.find(contract.name, id) as Issue | undefined;
  if (staged) return staged.parentId;
  return (await ctx.store.readOne(ctx.scope, parentOf, { id }))?.parent_id ?? null;
}
