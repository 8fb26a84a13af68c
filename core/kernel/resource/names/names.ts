// Resolves names to ids of objects in the directory, ignoring case. An index is built once for each version
// of a section.
import { listPathOf, type Contract } from '../../contract/contract.ts';
import type { ReferenceTarget } from '../../contract/field.ts';
import type { Context, Directory } from '../../context.ts';
import type { Actor } from '../../events/event.ts';
import { addressKey } from '../../../platform/lib/address.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { foldName, didYouMeanAny } from '../../../platform/lib/text/words.ts';
import { requireMe } from '../../../platform/lib/me.ts';
import { inOneLine } from '../../../platform/lib/text/printable.ts';
import { idPattern } from '../../../platform/lib/schema.ts';
import { entriesOf, type DirectoryEntry } from '../directory.ts';

type Entries = ReadonlyMap<string, DirectoryEntry>;
type Index = ReadonlyMap<string, readonly string[]>;

const indexes = new WeakMap<Entries, Map<string, Index>>();
const nobody: readonly string[] = [];

/**
 * Returns the ids of the objects with a name, which may be several. A name is also found in the form that a
 * write would store.
 */
export function idsByName(entries: Entries, property: string, name: string): readonly string[] {
  const known = indexes.get(entries) ?? new Map<string, Index>();
  indexes.set(entries, known);
  const index = known.get(property) ?? indexOf(entries, property);
  known.set(property, index);
  return index.get(normalized(property, name)) ?? index.get(normalized(property, inOneLine(name))) ?? nobody;
}

function indexOf(entries: Entries, property: string): Index {
  const index = new Map<string, string[]>();
  for (const entry of entries.values()) {
    const value = entry[property];
    if (value === null || value === undefined) continue;
    const name = normalized(property, String(value));
    const ids = index.get(name);
    if (ids) ids.push(entry.id);
    else index.set(name, [entry.id]);
  }
  return index;
}

const normalized = (property: string, name: string): string =>
  (property === 'email' ? addressKey(name) : null) ?? foldName(name);

/** Restricts a name to some objects, such as the states of the team. */
export interface Among {
  has(entry: DirectoryEntry): boolean;
  /** Description for error messages, at the end of a sentence: ` in this team`. */
  readonly words: string;
  /**
   * Chooses among objects with the same name: the lowest rank wins. If absent, or if ranks are equal, the
   * name is ambiguous.
   */
  rank?(entry: DirectoryEntry): number;
  /** True if the right to write in this place suffices to name the objects, without their read scope. */
  readonly isOpen?: true;
  /** Objects to use in place of the directory. */
  readonly entries?: Entries;
}

/** Caller that names objects. */
export interface Naming {
  readonly scopes: Context['scopes'];
  readonly narrowed: Context['narrowed'];
  readonly directory: Directory;
  readonly visibleTeams: Context['visibleTeams'];
  readonly actor: Actor;
  readonly resolved?: Context['resolved'];
}

const anywhere: Among = { has: () => true, words: '' };
const shapes = new Map<string | null, RegExp>();

/** Returns true for a text in the form of an id of the contract, which is never looked up as a name. */
export function isIdOf({ id }: ReferenceTarget, text: string): boolean {
  const shape = shapes.get(id) ?? new RegExp(idPattern(id));
  shapes.set(id, shape);
  return shape.test(text);
}

/**
 * Returns the id of the object that a request body names. An id is returned unchanged: the operation checks
 * whether it exists.
 * @param path path of the value in the body
 * @throws ApiError validation_failed for a name that no object has, or that several have
 */
export function idOfName(
  ctx: Naming,
  to: ReferenceTarget,
  name: string,
  path: string,
  among: Among = anywhere,
): string {
  if (isIdOf(to, name)) return name;
  if (name === 'me' && to.alias?.isCaller) return requireMe(ctx.actor.memberId, path);
  const target = to as Contract;
  const searchScope = { ...among, entries: among.entries ?? entriesOf(ctx.directory, target) };
  const matches = matchesBy(ctx, target, name, searchScope);
  const [only] = matches;
  if (!only) throw unknown(ctx, target, name, path, searchScope);
  if (matches.length > 1) throw ambiguous(target, path, matches);
  ctx.resolved?.(path, only.id);
  return only.id;
}

type SearchScope = Among & { readonly entries: Entries };

/** Returns the entries that match by the first property with any match. */
function matchesBy(
  ctx: Naming,
  to: Contract,
  name: string,
  searchScope: SearchScope,
): readonly DirectoryEntry[] {
  const { entries } = searchScope;
  const isOpen = searchScope.isOpen || isKnownByKey(to);
  for (const property of to.names?.by ?? []) {
    if (!isOpen && !mayReadProperty(ctx, to, property)) continue;
    const matches = idsByName(entries, property, name)
      .map((id) => entries.get(id)!)
      .filter((entry) => isThere(ctx, to, entry) && searchScope.has(entry));
    if (matches.length > 0) return lowest(matches, searchScope);
  }
  return [];
}

function lowest(matches: readonly DirectoryEntry[], { rank }: Among): readonly DirectoryEntry[] {
  if (!rank || matches.length === 1) return matches;
  const least = Math.min(...matches.map(rank));
  return matches.filter((entry) => rank(entry) === least);
}

/**
 * Identifiers of issues begin with the key of their team, so callers who can see the issues of a team know
 * its key.
 */
const isKnownByKey = ({ name }: Contract): boolean => name === 'team';

function isThere(ctx: Naming, to: Contract, entry: DirectoryEntry): boolean {
  if (entry.removed) return false;
  return isSeen(ctx, entry) || (to.name === 'team' && ctx.scopes.has('teams:read'));
}

/** Returns false for an object of a team that the caller cannot see. */
export function isSeen({ visibleTeams, directory }: Naming, entry: DirectoryEntry | undefined): boolean {
  if (!entry || visibleTeams === null) return entry !== undefined;
  const teamId = teamIdOf(directory, entry);
  return teamId === null || visibleTeams.has(teamId);
}

function teamIdOf({ teams }: Directory, entry: DirectoryEntry): string | null {
  if (teams.has(entry.id)) return entry.id;
  return typeof entry.teamId === 'string' ? entry.teamId : null;
}

const readScopeOf = ({ path, scope = path }: Contract): string => `${scope}:read`;

function mayReadProperty({ scopes, narrowed }: Naming, to: Contract, property: string): boolean {
  const scope = readScopeOf(to);
  if (scopes.has(scope)) return true;
  const part = narrowed?.get(scope);
  return part !== undefined && !part.own && (part.fields === null || part.fields.includes(property));
}

/** Returns true if the read scope of the caller, which may be limited to teams, covers the object. */
function isReadable(ctx: Naming, to: Contract, entry: DirectoryEntry): boolean {
  const teams = ctx.scopes.has(readScopeOf(to)) ? null : ctx.narrowed?.get(readScopeOf(to))?.teams;
  const teamId = teams ? teamIdOf(ctx.directory, entry) : null;
  return !teams || teamId === null || teams.includes(ctx.directory.teams.get(teamId)?.key ?? '');
}

/** Returns the names that the caller may read, which an error may therefore show. */
export function namesSeen(
  ctx: Naming,
  to: {
    readonly name: string;
    readonly path?: string;
    readonly scope?: string;
    readonly directory?: { readonly as: string };
  },
  property: string,
  among: Among = anywhere,
): string[] {
  const target = to as Contract;
  if (target.path === undefined || !mayReadProperty(ctx, target, property)) return [];
  const entries = among.entries ?? (to.directory ? entriesOf(ctx.directory, to) : null);
  return [...(entries?.values() ?? [])]
    .filter((entry) => !entry.removed && isSeen(ctx, entry) && isReadable(ctx, target, entry))
    .filter((entry) => entry[property] !== null && among.has(entry))
    .map((entry) => String(entry[property]));
}

/** Maximum number of names that an error lists. */
const listedMax = 12;

function unknown(ctx: Naming, to: Contract, name: string, path: string, searchScope: SearchScope): Error {
  const by = to.names?.by ?? [];
  const known = [...new Set(by.flatMap((property) => namesSeen(ctx, to, property, searchScope)))];
  const listed = [...new Set(namesSeen(ctx, to, by.includes('key') ? 'key' : 'name', searchScope))];
  const isAllowed = searchScope.isOpen || by.some((property) => mayReadProperty(ctx, to, property));
  const use =
    listed.length > 0 && listed.length <= listedMax
      ? `Use one of ${listed.join(', ')}, or an id.`
      : isAllowed
        ? `Use an object that GET ${listPathOf(to)} lists.`
        : `Give an id: names need the scope ${readScopeOf(to)}.`;
  return invalidField(path, 'not_found', {
    // The given text is not repeated, because it may be a secret that was pasted by mistake.
    why: `There is no such ${to.name}${searchScope.words}.`,
    fix: `${use}${didYouMeanAny(name, known)}`,
  });
}

function ambiguous(to: Contract, path: string, matches: readonly DirectoryEntry[]): Error {
  const ids = matches.slice(0, 5).map(({ id }) => id);
  const more = matches.length > ids.length ? ` and ${matches.length - ids.length} more` : '';
  return invalidField(path, 'conflict', {
    why: `${matches.length} ${to.path} have this name.`,
    fix: `Give the id of one: ${ids.join(', ')}${more}.`,
  });
}
