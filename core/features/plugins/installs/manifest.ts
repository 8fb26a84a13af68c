// Reads a manifest: its handlers, the event types that an install receives, the time zones of schedules, and
// references.
import { type EventType, eventTypes, unsentType } from '../../../kernel/events/catalogue.ts';
import { expandScopes, allScopes } from '../../../kernel/rights/table.ts';
import { mayReceive, rightsOf, scopeOfEvent, type Rights } from '../../../kernel/rights/rights.ts';
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import { checkZone } from '../../../platform/lib/time/time.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { isRunEvent } from '../../../../sdk/plugin/event-types.ts';
import { sameValue } from '../../../kernel/changes/change.ts';
import type { Context } from '../../../kernel/context.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import type { CheckFilter } from '../../../kernel/resource/filter/filtering.ts';
import { namesSeen } from '../../../kernel/resource/names/names.ts';
import { team } from '../../teams/contract.ts';

/**
 * Finds a handler by a name from the caller. `hasOwn` excludes inherited members such as
 * `constructor`.
 */
export function declared<T>(members: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return members && Object.hasOwn(members, name) ? members[name] : undefined;
}

/** Parts of an install that decide which events it receives. */
interface Subscriber {
  readonly manifest: PluginManifest;
  readonly grant: readonly string[];
}

/** By install, which is a new object after each change. */
const rightsByInstall = new WeakMap<Subscriber, Rights>();

export function rightsOfInstall(install: Subscriber): Rights {
  const known = rightsByInstall.get(install) ?? rightsOf(install.manifest.scopes, install.grant);
  rightsByInstall.set(install, known);
  return known;
}

export function subscribedTypes(manifest: PluginManifest): EventType[] {
  return Object.keys(manifest.on ?? {}) as EventType[];
}

/** Returns the event types that an install receives: subscribed to, and readable under its grant. */
export function matchingTypes(install: Subscriber): EventType[] {
  const rights = rightsOfInstall(install);
  return subscribedTypes(install.manifest).filter((type) => mayReceive(rights, type));
}

/** Returns why an active install does not receive all subscribed events, and what to do; null if it does. */
export function unmatchedReason(install: Subscriber): string | null {
  const matching = matchingTypes(install);
  const unmatched = subscribedTypes(install.manifest).filter((type) => !matching.includes(type));
  if (unmatched.length === 0) return null;
  const needs = unmatched.map((type) => `${type} needs ${scopeOfEvent(type)}`);
  const requestedScopes = expandScopes(Object.keys(install.manifest.scopes ?? {}));
  const fix = unmatched.every((type) => requestedScopes.has(scopeOfEvent(type)))
    ? 'Grant the scope.'
    : 'Install a version of the plugin that requests the scope.';
  return `Not delivered: ${needs.join(', ')}. ${fix}`;
}

type Schedule = NonNullable<PluginManifest['schedules']>[string];

/** Returns an IANA name; default UTC. */
export function zoneOf({ timeZone, tz }: Schedule): string {
  return timeZone ?? tz ?? 'UTC';
}

/**
 * @param path path of the schedule in the package
 * @throws ApiError validation_failed
 */
export function requireZone(schedule: Schedule, path: string): void {
  const { timeZone, tz } = schedule;
  if (timeZone !== undefined && tz !== undefined)
    throw invalidField(`${path}.tz`, 'conflict', {
      why: 'The schedule has both `timeZone` and its former name `tz`.',
      fix: 'Remove `tz`.',
    });
  const wrong = checkZone(zoneOf(schedule));
  if (wrong !== null)
    throw invalidField(`${path}.${timeZone === undefined ? 'tz' : 'timeZone'}`, 'not_found', { why: wrong });
}

/**
 * Requires known scopes and event types; the message suggests the nearest name.
 * @param document an unchecked package. @throws ApiError validation_failed
 */
export function requireKnown(document: object): void {
  const manifest = partOf(document, 'manifest');
  requireScopes(partOf(manifest, 'scopes'));
  requireSentTypes(partOf(manifest, 'on'));
}

function requireScopes(scopes: object | null): void {
  const unknown = Object.keys(scopes ?? {}).find((scope) => !allScopes.includes(scope));
  if (unknown !== undefined)
    throw invalidField(`package.manifest.scopes.${unknown}`, 'invalid_enum', {
      why: `The scope ${unknown} does not exist.`,
      fix: `Use a scope listed at /docs/scopes.${didYouMean(unknown, allScopes)}`,
    });
}

function requireSentTypes(on: object | null): void {
  const ofRun = Object.keys(on ?? {}).find(isRunEvent);
  if (ofRun !== undefined)
    throw invalidField(`package.manifest.on.${ofRun}`, 'invalid_enum', {
      why: `Plugins cannot subscribe to ${ofRun}, because each run would trigger another.`,
      fix: 'Subscribe to the events of changes, such as issue.updated, or use a webhook.',
    });
  const unsent = Object.keys(on ?? {}).find((type) => !eventTypes.some((sent) => sent === type));
  if (unsent !== undefined)
    throw invalidField(`package.manifest.on.${unsent}`, 'invalid_enum', unsentType(unsent));
}

function partOf(value: object | null, name: string): object | null {
  const part: unknown = value !== null && name in value ? value[name as keyof typeof value] : null;
  return typeof part === 'object' ? part : null;
}

/** @param known the installed version. @throws ApiError validation_failed */
export async function requireReferenced(
  ctx: Context,
  manifest: PluginManifest,
  known: { readonly manifest: PluginManifest } | undefined,
  checkFilter: CheckFilter,
): Promise<void> {
  const { scopes = {}, on = {} }: Partial<PluginManifest> = known?.manifest ?? {};
  requireTeams(ctx, manifest.scopes ?? {}, scopes);
  for (const [type, { filter }] of Object.entries(manifest.on ?? {}))
    if (filter && !sameValue(filter, on[type]?.filter))
      await checkFilter(ctx, type, filter, `package.manifest.on.${type}.filter`);
}

type Scopes = NonNullable<PluginManifest['scopes']>;

function requireTeams(ctx: Context, scopes: Scopes, before: Scopes): void {
  const { directory, visibleTeams } = ctx;
  const isThere = (key: string): boolean => {
    const match = [...directory.teams.values()].find((one) => one.key === key.toUpperCase());
    return match !== undefined && (visibleTeams === null || visibleTeams.has(match.id));
  };
  for (const [scope, { where }] of Object.entries(scopes)) {
    if (sameValue(where, before[scope]?.where)) continue;
    const teams = where?.team ?? [];
    const index = teams.findIndex((key) => !isThere(key));
    const key = teams[index];
    if (key !== undefined)
      throw invalidField(`package.manifest.scopes.${scope}.where.team.${index}`, 'not_found', {
        why: `The team ${key} does not exist.`,
        fix: `Use an existing team.${didYouMean(key, namesSeen(ctx, team, 'key'))}`,
      });
  }
}
