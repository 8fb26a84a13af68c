// Lookups of workflow states in the directory of a workspace.
import type { Entry } from '../../kernel/contract/contract.ts';
import type { Directory } from '../../kernel/context.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { idOfName, type Among, type Naming } from '../../kernel/resource/names/names.ts';
import { state, type StateType } from './contract.ts';

export type StateEntry = Entry<typeof state>;

/** Returns the states that issues of a team can be in, by position and then by creation. */
export function statesOf(directory: Directory, teamId: string): StateEntry[] {
  return [...directory.states.values()]
    .filter((state) => state.teamId === teamId && !state.removed)
    .sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
}

const finished: ReadonlySet<StateType | undefined> = new Set(['completed', 'canceled', 'duplicate']);

/** Returns true for `completed`, `canceled` and `duplicate`. */
export const isFinishedState = (type: StateType | undefined): boolean => finished.has(type);

/**
 * Returns the initial state of issues of a team: the first backlog state, else the first state.
 * @throws Error if the team has no states
 */
export function firstState(directory: Directory, teamId: string): StateEntry {
  const states = statesOf(directory, teamId);
  const state = states.find(({ type }) => type === 'backlog') ?? states[0];
  if (!state) throw new Error(`The team ${teamId} has no states.`);
  return state;
}

/**
 * Scope of state names in requests: states of the team, and state types, which mean the first state of the
 * type.
 */
function statesIn(teamId: string): Among {
  return {
    has: (entry) => entry.teamId === teamId,
    words: ' in this team',
    rank: (entry) => Number(entry.position),
    isOpen: true,
  };
}

/** Returns the id of a state of the team, given its id, name or type. @throws ApiError validation_failed */
export function stateByName(ctx: Naming, teamId: string, input: string, path: string): string {
  const { directory } = ctx;
  const name = input === 'cancelled' ? 'canceled' : input;
  const id = idOfName(ctx, state, name, path, statesIn(teamId));
  if (findState(directory, teamId, id)) return id;
  throw invalidField(path, 'not_found', {
    why: `${id} is not a state of this team.`,
    fix: `Use a state that GET /api/v1/workflows?team=${directory.teams.get(teamId)?.key ?? ''} lists.`,
  });
}

/** Returns the state with that id, if issues of the team can be moved to it. */
export function findState(directory: Directory, teamId: string, id: string): StateEntry | undefined {
  const state = directory.states.get(id);
  return state?.teamId === teamId && !state.removed ? state : undefined;
}
