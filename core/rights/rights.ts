// Rights of a caller: scopes held in full, and scopes held in part. A narrowing limits writes to fields, and reads and writes to
// the objects of teams. See docs/decisions/0015.
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
  /** Fields that may be written; for a read scope, fields that are returned. Null for any. */
  readonly fields: readonly string[] | null;
  /** Keys of the teams whose objects may be read and written; null for any object. */
  readonly teams: readonly string[] | null;
  /** Present if only the member's own objects are included. */
  readonly own?: true;
}

export interface Rights {
  /** Scopes held in full, including the reads that writes imply. */
  readonly scopes: ReadonlySet<string>;
  /** Scopes held in part; null if there are none. */
  readonly narrowed: ReadonlyMap<string, Narrowing> | null;
}

/** Scopes requested by a manifest, with the narrowing of each. */
export type ScopeRequests = Readonly<Record<string, ScopeRequest>>;
interface ScopeRequest {
  readonly why?: string;
  readonly fields?: readonly string[];
  readonly where?: Readonly<Record<string, readonly string[]>>;
}

/** Returns the read scope that a write scope implies; a read scope's own name. */
export function readScopeOf(scope: string): string {
  return scope.replace(/:write$/, ':read');
}

/**
 * Returns the rights of a grant for the requested scopes. If two scopes imply the same read, the read covers both. A narrowing with
 * an unknown condition gives nothing, because it could not be enforced.
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
    // Only a read can be given twice. A read implied by a write scope covers all fields and replaces one limited to fields.
    const before = narrowed.get(scope);
    if (before && fields !== null) return;
    const known = (before?.fields === null && before.teams) || [];
    // Team keys are stored in upper case; a manifest may use any case.
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

/** Returns the intersection of two rights: scopes in both, limited to the common fields and teams. */
export function commonRights(a: Rights, b: Rights): Rights {
  const scopes = new Set<string>();
  const narrowed = new Map<string, Narrowing>();
  for (const scope of new Set([...a.scopes, ...(a.narrowed?.keys() ?? [])])) {
    const [one, other] = [grantedNarrowing(a, scope), grantedNarrowing(b, scope)];
    if (!one || !other) continue;
    const fields = common(one.fields, other.fields);
    const teams = common(one.teams, other.teams);
    const own = one.own ?? other.own;
    if (fields === null && teams === null && !own) scopes.add(scope);
    else narrowed.set(scope, { fields, teams, ...(own && { own }) });
  }
  return { scopes, narrowed: narrowed.size === 0 ? null : narrowed };
}

/** Returns true if both rights are equal. */
export function areSameRights(a: Rights, b: Rights): boolean {
  return isDeepStrictEqual([a.scopes, a.narrowed], [b.scopes, b.narrowed]);
}

const whole: Narrowing = { fields: null, teams: null };

function grantedNarrowing({ scopes, narrowed }: Rights, scope: string): Narrowing | undefined {
  return scopes.has(scope) ? whole : narrowed?.get(scope);
}

/** Null stands for all. */
function common(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  return a.filter((one) => b.includes(one));
}

/** Recipient of events. A member behind a key receives their own events under a weaker scope; others have no events of their own. */
export type RightsReader = Rights & { readonly actor?: Pick<Actor, 'kind' | 'memberId'> };

/** Returns the read scope required to receive events of a type, regardless of whom they concern. */
export function scopeOfEvent(type: EventType): string {
  return namespaceScopes[namespaceOf(type)]!;
}

/** Returns true if any event of a type may reach the holder. */
export function mayHear(reader: RightsReader, type: EventType): boolean {
  const { scopes, narrowed } = reader;
  const scope = scopeOfEvent(type);
  return scopes.has(scope) || (narrowed?.has(scope) ?? false) || ownEventsMember(reader, type) !== null;
}

/** Returns the member whose own events of a type the holder receives; null if it receives none as their own. */
export function ownEventsMember({ scopes, narrowed, actor }: RightsReader, type: EventType): string | null {
  const scope = ownScopes[namespaceOf(type)];
  if (scope === undefined || !actor || actor.kind === 'plugin') return null;
  const isGranted = scopes.has(scope) || narrowed?.get(scope)?.own === true;
  return isGranted ? (actor.memberId ?? null) : null;
}

interface ReadEvent {
  readonly type: EventType;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Returns true if the holder may read this event, through any channel. */
export function mayReadEvent(reader: RightsReader, event: ReadEvent): boolean {
  const { scopes, narrowed } = reader;
  const scope = scopeOfEvent(event.type);
  if (scopes.has(scope)) return true;
  const own = ownEventsMember(reader, event.type);
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

/** Returns true if an event is about an object that belongs to the reader. */
function isOwn({ actor }: RightsReader, { data }: ReadEvent): boolean {
  const { member } = data as { member?: { id?: string } };
  return actor?.memberId !== undefined && member?.id === actor.memberId;
}

/** Returns true if the related issue of an event, if any, is in a team visible to the reader. */
function isAboutSeen({ narrowed }: Rights, data: ReadEvent['data']): boolean {
  const teams = narrowed?.get('issues:read')?.teams;
  const { issue } = data as { issue?: { identifier?: string | null } | null };
  return !teams || !issue || teams.includes(keyIn(issue.identifier));
}

/** Returns the team key of an identifier. */
function keyIn(identifier: string | null | undefined): string {
  return identifier?.split('-')[0] ?? '';
}

/** An object that may have a team but has none is visible to everybody. */
function isOfNoTeam(namespace: string, data: ReadEvent['data']): boolean {
  return namespacesOfTeams.includes(namespace) && data.team === null && data.issue === undefined;
}

/** Returns the narrowing of a scope; null if it is held in full. */
export function narrowingOf({ scopes, narrowed }: Rights, scope: string): Narrowing | null {
  return scopes.has(scope) ? null : (narrowed?.get(scope) ?? null);
}

/** A relation is visible to readers of both of its issues. */
function isRelatedWithin(teams: readonly string[], data: Readonly<Record<string, unknown>>): boolean {
  const { relation } = data as { relation?: { issue?: { identifier?: string | null } } };
  return relation === undefined || teams.includes(keyIn(relation.issue?.identifier));
}

/** Returns the key of the team that an event's object belongs to, from its API representation. */
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

/** Returns the ids of the teams whose objects are visible under a scope; null for all teams. */
export function teamsSeen(
  scope: string | null,
  { narrowed }: Rights,
  directory: Directory,
): ReadonlySet<string> | null {
  const teams = scope !== null && narrowed?.get(readScopeOf(scope))?.teams;
  return teams ? teamIdsByKeys(teams, directory) : null;
}

/** Returns the ids of teams by their keys. */
export function teamIdsByKeys(keys: readonly string[], { teams }: Directory): ReadonlySet<string> {
  return new Set([...teams.values()].filter(({ key }) => keys.includes(key)).map(({ id }) => id));
}
