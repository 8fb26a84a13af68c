// The directory of a workspace: teams, states, labels, members and projects by id, held in memory because every issue
// shown or checked needs them. Loaded once, then moved along by each committed change.
import { LRUCache } from 'lru-cache';
import type { Change } from '../changes/change.ts';
import type { Directory, LabelRef, MemberRef, NameRef, StateRef, TeamRef } from '../context.ts';
import { invalidField } from '../lib/errors.ts';
import { isDay } from '../lib/time.ts';
import { tenantStatement } from '../store/statement.ts';
import type { Scope, Store } from '../store/store.ts';

const workspacesMax = 1000;

const teams = tenantStatement<{ id: string; key: string; name: string; transitions_json: string | null }>(
  'directory.teams',
  'SELECT id, key, name, transitions_json FROM teams WHERE workspace_id = :ws ORDER BY created_at, id',
);
const states = tenantStatement<Omit<StateRef, 'removed'> & { deleted_at: number | null }>(
  'directory.states',
  'SELECT id, team_id AS "teamId", name, type, position, deleted_at FROM states WHERE workspace_id = :ws ORDER BY position, id',
);
const labels = tenantStatement<LabelRef>(
  'directory.labels',
  'SELECT id, team_id AS "teamId", name FROM labels WHERE workspace_id = :ws AND deleted_at IS NULL',
);
const members = tenantStatement<NameRef & { deleted_at: number | null }>(
  'directory.members',
  'SELECT id, name, deleted_at FROM members WHERE workspace_id = :ws',
);
const projects = tenantStatement<NameRef>(
  'directory.projects',
  'SELECT id, name FROM projects WHERE workspace_id = :ws',
);

export interface Directories {
  of(scope: Scope): Directory | Promise<Directory>;
  /** To be called with every committed batch. */
  moveAlong(workspaceId: string, changes: readonly Change[]): void;
}

export function createDirectories(store: Store): Directories {
  const loaded = new LRUCache<string, Directory>({ max: workspacesMax });
  const generation = new Map<string, number>();

  const load = async (scope: Scope): Promise<Directory> => {
    const { workspaceId } = scope;
    const before = generation.get(workspaceId) ?? 0;
    const byId = <T extends { id: string }>(rows: T[]): Map<string, T> =>
      new Map(rows.map((row) => [row.id, row]));
    const directory: Directory = {
      teams: byId(
        (await store.read(scope, teams)).map(({ transitions_json: json, ...team }) => ({
          ...team,
          transitions: json === null ? null : JSON.parse(json),
        })),
      ),
      states: byId(
        (await store.read(scope, states)).map(({ deleted_at: at, ...state }) => ({
          ...state,
          removed: at !== null,
        })),
      ),
      labels: byId(await store.read(scope, labels)),
      members: byId(
        (await store.read(scope, members)).map(({ id, name, deleted_at: at }) => ({
          id,
          name,
          removed: at !== null,
        })),
      ),
      projects: byId(await store.read(scope, projects)),
    };
    // A commit that fell between the reads may be in some of them only.
    if ((generation.get(workspaceId) ?? 0) !== before) return load(scope);
    loaded.set(workspaceId, directory);
    return directory;
  };

  return {
    of: (scope) => loaded.get(scope.workspaceId) ?? load(scope),
    moveAlong(workspaceId, changes) {
      if (!changes.some((change) => change.kind in sections)) return;
      generation.set(workspaceId, (generation.get(workspaceId) ?? 0) + 1);
      const directory = loaded.get(workspaceId);
      if (directory) loaded.set(workspaceId, directoryAfter(directory, changes));
    },
  };
}

const sections = {
  team: 'teams',
  state: 'states',
  label: 'labels',
  member: 'members',
  project: 'projects',
} as const;

/** The directory as it is once `changes` are committed; the same object when they do not concern it. */
export function directoryAfter(directory: Directory, changes: readonly Change[]): Directory {
  if (!changes.some((change) => change.kind in sections)) return directory;
  const next = {
    teams: new Map<string, TeamRef>(directory.teams),
    states: new Map<string, StateRef>(directory.states),
    labels: new Map<string, LabelRef>(directory.labels),
    members: new Map<string, MemberRef>(directory.members),
    projects: new Map<string, NameRef>(directory.projects),
  };
  for (const { kind, id, after } of changes) {
    if (!(kind in sections)) continue;
    const section = next[sections[kind as keyof typeof sections]] as Map<string, unknown>;
    const gone = 'deletedAt' in after && after.deletedAt !== null;
    if (kind === 'member' || kind === 'state') section.set(id, { ...after, removed: gone });
    else if (gone) section.delete(id);
    else section.set(id, after);
  }
  return next;
}

export function findTeam(directory: Directory, key: string): TeamRef | undefined {
  for (const team of directory.teams.values()) if (team.key === key) return team;
  return undefined;
}

/** The states a team's issues can stand in, by position. */
export function statesOf(directory: Directory, teamId: string): StateRef[] {
  return [...directory.states.values()]
    .filter((state) => state.teamId === teamId && !state.removed)
    .sort((a, b) => a.position - b.position);
}

/** Where new issues of a team go. */
export function firstState(directory: Directory, teamId: string): StateRef {
  const states = statesOf(directory, teamId);
  const state = states.find(({ type }) => type === 'backlog') ?? states[0];
  if (!state) throw new Error(`The team ${teamId} has no states.`);
  return state;
}

/** The state of that id which issues of the team can be moved to. */
export function findState(directory: Directory, teamId: string, id: string): StateRef | undefined {
  const state = directory.states.get(id);
  return state?.teamId === teamId && !state.removed ? state : undefined;
}

/** @throws ApiError validation_failed (not_found) */
export function requireMember(directory: Directory, path: string, id: string | null): void {
  if (id !== null && (directory.members.get(id)?.removed ?? true))
    throw invalidField(path, 'not_found', `There is no member ${id}.`);
}

/** @throws ApiError validation_failed (invalid_format) for days that no calendar has */
export function requireDay(path: string, day: string | null): void {
  if (day === null) return;
  if (!isDay(day)) throw invalidField(path, 'invalid_format', `${day} is not a day of the calendar.`);
}
