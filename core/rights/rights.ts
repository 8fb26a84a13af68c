// What a caller may do: the scopes it holds in full, and those it holds in part. A narrowing binds what it writes to fields,
// and what it sees and writes to the objects of teams. See docs/decisions/0015.
import { isDeepStrictEqual } from 'node:util';
import type { Directory } from '../contracts.ts';
import {
  memberOfEvent,
  namespaceOf,
  namespaceScopes,
  namespacesOfTeams,
  ownScopes,
  type EventType,
} from '../events/catalogue.ts';
import type { Actor } from '../events/origin.ts';

export interface Narrowing {
  /** The only fields that may be written; of a scope to read, those that are shown. Null for any. */
  readonly fields: readonly string[] | null;
  /** The keys of the only teams whose objects may be seen and written; null for any object. */
  readonly teams: readonly string[] | null;
  /** Only what is the member's own. */
  readonly own?: true;
}

export interface Rights {
  /** Scopes that are held in full, with the reads that writes imply. */
  readonly scopes: ReadonlySet<string>;
  /** Scopes that are held in part; null when there are none. */
  readonly narrowed: ReadonlyMap<string, Narrowing> | null;
}

/** The scopes that a manifest asks for: scope → how the plugin narrows it. */
export type ScopeRequests = Readonly<Record<string, ScopeRequest>>;
interface ScopeRequest {
  readonly why?: string;
  readonly fields?: readonly string[];
  readonly where?: Readonly<Record<string, readonly string[]>>;
}

/** The read scope that a write scope implies; a read scope's own name. */
export function readScopeOf(scope: string): string {
  return scope.replace(/:write$/, ':read');
}

/**
 * What a grant gives of the scopes that were asked for. Where two scopes imply the same read, that is as wide as both together.
 * A narrowing in words that nothing here can enforce gives nothing.
 */
export function rightsOf(requests: ScopeRequests | undefined, grant: readonly string[]): Rights {
  const scopes = new Set<string>();
  const narrowed = new Map<string, Narrowing>();
  const give = (scope: string, fields: Narrowing['fields'], teams: Narrowing['teams']): void => {
    if (scopes.has(scope)) return;
    if (fields === null && teams === null) {
      scopes.add(scope);
      narrowed.delete(scope);
      return;
    }
    // Only a read can be given twice. One that a scope to write implies is of all fields, and holds in place of one of some.
    const before = narrowed.get(scope);
    if (before && fields !== null) return;
    const known = (before?.fields === null && before.teams) || [];
    // As teams have them: a manifest may give them in any case.
    const keys = teams?.map((key) => key.toUpperCase()) ?? [];
    narrowed.set(scope, { fields, teams: teams && [...new Set([...known, ...keys])] });
  };
  for (const scope of grant) {
    const { fields = null, where = {} } = requests?.[scope] ?? {};
    const { team: teams = null, ...unknown } = where;
    const read = readScopeOf(scope);
    if (Object.keys(unknown).length > 0) continue;
    give(scope, fields, teams);
    if (scope !== read) give(read, null, teams);
  }
  return { scopes, narrowed: narrowed.size === 0 ? null : narrowed };
}

/** What both of two may do: a scope that both hold, in the fields and teams of both. */
export function commonRights(a: Rights, b: Rights): Rights {
  const scopes = new Set<string>();
  const narrowed = new Map<string, Narrowing>();
  for (const scope of new Set([...a.scopes, ...(a.narrowed?.keys() ?? [])])) {
    const [one, other] = [heldNarrowing(a, scope), heldNarrowing(b, scope)];
    if (!one || !other) continue;
    const fields = common(one.fields, other.fields);
    const teams = common(one.teams, other.teams);
    const own = one.own ?? other.own;
    if (fields === null && teams === null && !own) scopes.add(scope);
    else narrowed.set(scope, { fields, teams, ...(own && { own }) });
  }
  return { scopes, narrowed: narrowed.size === 0 ? null : narrowed };
}

/** Whether two may do the same. */
export function areSameRights(a: Rights, b: Rights): boolean {
  return isDeepStrictEqual([a.scopes, a.narrowed], [b.scopes, b.narrowed]);
}

const whole: Narrowing = { fields: null, teams: null };

function heldNarrowing({ scopes, narrowed }: Rights, scope: string): Narrowing | undefined {
  return scopes.has(scope) ? whole : narrowed?.get(scope);
}

/** Null stands for all. */
function common(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  return a.filter((one) => b.includes(one));
}

/** Who hears of events. A member behind a key hears of their own what others need more for; nobody else has any of their own. */
export type Reader = Rights & { readonly actor?: Pick<Actor, 'kind' | 'memberId'> };

/** The read scope that one must hold to hear of an event, whoever it concerns. */
export function scopeOfEvent(type: EventType): string {
  return namespaceScopes[namespaceOf(type)]!;
}

/** Whether any event of a type may reach the holder. */
export function mayHear(reader: Reader, type: EventType): boolean {
  const { scopes, narrowed } = reader;
  const scope = scopeOfEvent(type);
  return scopes.has(scope) || (narrowed?.has(scope) ?? false) || hearsOwn(reader, type) !== null;
}

/** The member whose events of a type the holder hears of, as these are theirs; null where it hears of none for that. */
export function hearsOwn({ scopes, narrowed, actor }: Reader, type: EventType): string | null {
  const scope = ownScopes[namespaceOf(type)];
  if (scope === undefined || !actor || actor.kind === 'plugin') return null;
  const isHeld = scopes.has(scope) || narrowed?.get(scope)?.own === true;
  return isHeld ? (actor.memberId ?? null) : null;
}

interface ReadEvent {
  readonly type: EventType;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Whether the holder may read this event, in whichever way it comes. */
export function mayReadEvent(reader: Reader, event: ReadEvent): boolean {
  const { scopes, narrowed } = reader;
  const scope = scopeOfEvent(event.type);
  if (scopes.has(scope)) return true;
  const own = hearsOwn(reader, event.type);
  if (own !== null && own === memberOfEvent(event)) return isAboutSeen(reader, event.data);
  const narrowing = narrowed?.get(scope);
  if (!narrowing) return false;
  const { teams } = narrowing;
  if (narrowing.own) return isOwn(reader, event);
  if (teams === null) return true;
  const namespace = namespaceOf(event.type);
  if (isOfNoTeam(namespace, event.data)) return true;
  const team = teamKeyOf(namespace, event.data);
  return team !== null && teams.includes(team) && isRelatedWithin(teams, event.data);
}

/** Whether an event is of an object that belongs to the reader. */
function isOwn({ actor }: Reader, { data }: ReadEvent): boolean {
  const { member } = data as { member?: { id?: string } };
  return actor?.memberId !== undefined && member?.id === actor.memberId;
}

/** Whether the issue that something tells of, if any, is of a team whose issues the reader sees. */
function isAboutSeen({ narrowed }: Rights, data: ReadEvent['data']): boolean {
  const teams = narrowed?.get('issues:read')?.teams;
  const { issue } = data as { issue?: { identifier?: string | null } | null };
  return !teams || !issue || teams.includes(keyIn(issue.identifier));
}

/** The key that an identifier begins with. */
function keyIn(identifier: string | null | undefined): string {
  return identifier?.split('-')[0] ?? '';
}

/** What may belong to a team and belongs to none is everybody's. */
function isOfNoTeam(namespace: string, data: ReadEvent['data']): boolean {
  return namespacesOfTeams.includes(namespace) && data.team === null && data.issue === undefined;
}

/** How what is read under a scope is narrowed; null where it is held in full. */
export function narrowingOf({ scopes, narrowed }: Rights, scope: string): Narrowing | null {
  return scopes.has(scope) ? null : (narrowed?.get(scope) ?? null);
}

/** A relation is seen by whoever sees both of its issues. */
function isRelatedWithin(teams: readonly string[], data: Readonly<Record<string, unknown>>): boolean {
  const { relation } = data as { relation?: { issue?: { identifier?: string | null } } };
  return relation === undefined || teams.includes(keyIn(relation.issue?.identifier));
}

/** The team an event's object belongs to, by the object's public shape. */
function teamKeyOf(namespace: string, data: Readonly<Record<string, unknown>>): string | null {
  if (!namespacesOfTeams.includes(namespace)) return null;
  const { team, issue, key } = data as {
    team?: { key?: string } | string | null;
    issue?: { identifier?: string | null };
    key?: string;
  };
  if (namespace === 'team') return key ?? null;
  return (typeof team === 'string' ? team : team?.key) ?? (keyIn(issue?.identifier) || null);
}

/** The ids of the teams whose objects the holder sees under a scope; null for all teams. */
export function teamsSeen(
  scope: string | null,
  { narrowed }: Rights,
  directory: Directory,
): ReadonlySet<string> | null {
  const teams = scope !== null && narrowed?.get(readScopeOf(scope))?.teams;
  return teams ? teamsNamed(teams, directory) : null;
}

/** The ids of teams, by their keys. */
export function teamsNamed(keys: readonly string[], { teams }: Directory): ReadonlySet<string> {
  return new Set([...teams.values()].filter(({ key }) => keys.includes(key)).map(({ id }) => id));
}
