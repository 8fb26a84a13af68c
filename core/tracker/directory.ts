// What operations ask of a workspace's directory about teams, states and members.
import type { Entry } from '../contract/contract.ts';
import type { Directory } from '../context.ts';
import { invalidField, type Wrong } from '../lib/errors.ts';
import { idOfName, type Among, type Naming } from '../resource/names.ts';
import type { team } from './teams/contract.ts';
import { state, type StateType } from './workflows/contract.ts';

export type TeamEntry = Entry<typeof team>;
export type StateEntry = Entry<typeof state>;

/** @param name its key, in any case, or its id */
export function findTeam({ teams }: Directory, name: string): TeamEntry | undefined {
  const named = teams.get(name);
  if (named) return named;
  const wanted = name.toUpperCase();
  for (const team of teams.values()) if (team.key === wanted) return team;
  return undefined;
}

/** What to say of a team that is not there, without naming those that the caller may not see. @param given its key or its id */
export function noTeam(given: string): Wrong {
  return { why: `There is no team ${given}.`, fix: 'Use a team that GET /api/v1/teams lists.' };
}

/** The team that a list is asked for. @throws ApiError validation_failed (not_found) */
export function getTeam(directory: Directory, name: string): TeamEntry {
  const team = findTeam(directory, name);
  if (!team) throw invalidField('team', 'not_found', noTeam(name));
  return team;
}

/** The states a team's issues can stand in, by position; those that share one in the order of their creation. */
export function statesOf(directory: Directory, teamId: string): StateEntry[] {
  return [...directory.states.values()]
    .filter((state) => state.teamId === teamId && !state.removed)
    .sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
}

const finished: ReadonlySet<StateType | undefined> = new Set(['completed', 'canceled', 'duplicate']);

/** Whether nothing is left to do of an issue in a state of that type. */
export const isFinishedState = (type: StateType | undefined): boolean => finished.has(type);

/** Where new issues of a team go. */
export function firstState(directory: Directory, teamId: string): StateEntry {
  const states = statesOf(directory, teamId);
  const state = states.find(({ type }) => type === 'backlog') ?? states[0];
  if (!state) throw new Error(`The team ${teamId} has no states.`);
  return state;
}

/** Names of states in requests: names of the team's states, and types, which stand for the first state of the type. */
function statesIn(teamId: string): Among {
  return {
    has: (entry) => entry.teamId === teamId,
    words: ' in this team',
    rank: (entry) => Number(entry.position),
    isOpen: true,
  };
}

/** Id of a state that issues of the team can be moved to, by its id, name or type. @throws ApiError validation_failed */
export function stateNamed(ctx: Naming, teamId: string, given: string, path: string): string {
  const { directory } = ctx;
  const name = given === 'cancelled' ? 'canceled' : given;
  const id = idOfName(ctx, state, name, path, statesIn(teamId));
  if (findState(directory, teamId, id)) return id;
  throw invalidField(path, 'not_found', {
    why: `${id} is not a state of this team.`,
    fix: `Use one of its states, as GET /api/v1/workflows?team=${directory.teams.get(teamId)?.key ?? ''} lists them.`,
  });
}

/** The state of that id which issues of the team can be moved to. */
export function findState(directory: Directory, teamId: string, id: string): StateEntry | undefined {
  const state = directory.states.get(id);
  return state?.teamId === teamId && !state.removed ? state : undefined;
}
