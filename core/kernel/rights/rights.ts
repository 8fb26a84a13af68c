// Rights of a caller: full scopes and narrowed scopes. A narrowing limits writes to fields, and reads and
// writes to the objects of teams. docs/decisions/0015.
import { isDeepStrictEqual } from 'node:util';
import type { Directory } from '../../features/contracts.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import {
  type EventType,
  memberOfEvent,
  namespaceOf,
  namespaceScopes,
  namespacesOfTeams,
  ownScopes,
} from '../events/catalogue.ts';
import type { Actor } from '../events/event.ts';

export interface Narrowing {
  /** Fields that may be written, or for a read scope, fields that are returned; null for all fields. */
  readonly fields: readonly string[] | null;
  /** Keys of the teams whose objects may be read and written; null for all objects. */
  readonly teams: readonly string[] | null;
  /** True if only the member's own objects may be read and written. */
  readonly own?: true;
}

export interface Rights {
  /** Full scopes, including the reads that writes imply. */
  readonly scopes: ReadonlySet<string>;
  /** Narrowed scopes; null for none. */
  readonly narrowed: ReadonlyMap<string, Narrowing> | null;
}

/** Session of a person who uses the web app. */
export interface PersonSession {
  /** True shortly after a sign-in, as sensitive operations require. */
  readonly isRecent: boolean;
}

/** Scopes that a manifest requests, with their narrowing. */
export type ScopeRequests = Readonly<Record<string, ScopeRequest>>;
interface ScopeRequest {
  readonly why?: string;
  readonly fields?: readonly string[];
  readonly where?: Readonly<Record<string, readonly string[]>>;
}

/** Returns the read scope that a write scope implies; a read scope unchanged. */
export function readScopeOf(scope: string): string {
  return scope.replace(/:write$/, ':read');
}

/**
 * Returns the rights of a grant for the requested scopes. A read that several scopes give covers the objects
 * of all of them. A scope with an unknown condition is dropped, because the condition could not be enforced.
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
    // Only reads can be given twice. A read implied by a write scope covers all fields, so it replaces a read
    // that is limited to fields.
    const before = narrowed.get(scope);
    if (before && fields !== null) return;
    const known = (before?.fields === null && before.teams) || [];
    // Manifests may use any case; team keys are stored in upper case.
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

/** Returns the intersection: scopes in both rights, limited to the common fields, teams and own objects. */
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

export function areSameRights(a: Rights, b: Rights): boolean {
  return isDeepStrictEqual([a.scopes, a.narrowed], [b.scopes, b.narrowed]);
}

const whole: Narrowing = { fields: null, teams: null };

function grantedNarrowing({ scopes, narrowed }: Rights, scope: string): Narrowing | undefined {
  return scopes.has(scope) ? whole : narrowed?.get(scope);
}

/** Null stands for all values. */
function common(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  return a.filter((one) => b.includes(one));
}

/**
 * Recipient of events. With a scope of `ownScopes`, the credential of a member receives only that member's
 * own events.
 */
interface RightsReader extends Rights {
  readonly actor?: Actor;
}

/** Returns the read scope required to receive the events of a type for all members. */
export function scopeOfEvent(type: EventType): string {
  return namespaceScopes[namespaceOf(type)]!;
}

/** Returns true if the reader may receive some events of a type. */
export function mayReceive(reader: RightsReader, type: EventType): boolean {
  const { scopes, narrowed } = reader;
  const scope = scopeOfEvent(type);
  return scopes.has(scope) || (narrowed?.has(scope) ?? false) || ownEventsMember(reader, type) !== null;
}

/**
 * Returns the id of the member whose own events of a type the reader receives; null if the reader does not
 * receive events as their own.
 */
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

/** Returns true if the reader may read an event, through any channel. */
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

/** Returns true if the object of an event belongs to the reader. */
function isOwn({ actor }: RightsReader, { data }: ReadEvent): boolean {
  const { member } = data as { member?: { id?: string } };
  return actor?.memberId !== undefined && member?.id === actor.memberId;
}

/** Returns true if an event has no related issue, or its issue is in a team visible to the reader. */
function isAboutSeen({ narrowed }: Rights, data: ReadEvent['data']): boolean {
  const teams = narrowed?.get('issues:read')?.teams;
  const { issue } = data as { issue?: { identifier?: string | null } | null };
  return !teams || !issue || teams.includes(keyIn(issue.identifier));
}

/** Returns the team key of an issue identifier; '' for none. */
function keyIn(identifier: string | null | undefined): string {
  return identifier?.split('-')[0] ?? '';
}

/** Returns true for an object that can have a team but has none, which everybody can see. */
function isOfNoTeam(namespace: string, data: ReadEvent['data']): boolean {
  return namespacesOfTeams.includes(namespace) && data.team === null && data.issue === undefined;
}

/** Returns the narrowing of a scope; null if the scope is full or missing. */
export function narrowingOf({ scopes, narrowed }: Rights, scope: string): Narrowing | null {
  return scopes.has(scope) ? null : (narrowed?.get(scope) ?? null);
}

/**
 * Returns true unless the event is about a relation to an issue of another team. Readers must see both
 * issues.
 */
function isRelatedWithin(teams: readonly string[], data: Readonly<Record<string, unknown>>): boolean {
  const { relation } = data as { relation?: { issue?: { identifier?: string | null } } };
  return relation === undefined || teams.includes(keyIn(relation.issue?.identifier));
}

/** Returns the key of the team of an event's object; null for none. */
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

export function teamIdsByKeys(keys: readonly string[], { teams }: Directory): ReadonlySet<string> {
  return new Set([...teams.values()].filter(({ key }) => keys.includes(key)).map(({ id }) => id));
}

/**
 * Authority of an action: the credential whose role and scopes permit it. The author differs if one member
 * approves the proposal of another. docs/decisions/0073.
 */
export interface Authority {
  /** Holder of the credential: a member with a session, an API key, an app or a plugin. */
  readonly actor: Actor;
  /** Grant of an app; absent for all others. */
  readonly grantId?: string;
}

/** Returns the authority of a caller; by default the caller's own credential. */
export function authorityOf(caller: {
  readonly actor: Actor;
  readonly authority?: Authority;
  readonly grant?: { readonly id: string };
}): Authority {
  const { actor, authority, grant } = caller;
  return authority ?? (grant ? { actor, grantId: grant.id } : { actor });
}

/**
 * Returns the id of the member that the caller acts for, whose inbox, preferences and favorites are accessible.
 * @throws ApiError forbidden for plugins
 */
export function requireMember({ actor }: { readonly actor: Actor }): string {
  if (actor.kind !== 'plugin' && actor.memberId !== undefined) return actor.memberId;
  throw new ApiError('forbidden', `${actor.name} acts for no member. Use a key or token of a member.`);
}

export interface Authorized {
  readonly authority: Authority;
}

/**
 * Restricts decisions to persons, with their own session or key. Apps and plugins act on behalf of somebody,
 * and could otherwise approve their own proposals.
 * @param what completes the sentence, such as `approve proposals`
 * @throws ApiError forbidden for an app or a plugin
 */
export function requirePerson({ authority: { actor } }: Authorized, what: string): void {
  if (actor.kind !== 'app' && actor.kind !== 'plugin') return;
  throw new ApiError(
    'forbidden',
    `Only a person may ${what}, but ${actor.name} is ${actor.kind === 'app' ? 'an app' : 'a plugin'}. Use a key or session of a member.`,
  );
}
