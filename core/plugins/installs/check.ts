// What is checked of a package before it is installed: that it is one, that this server can keep what its manifest asks for, and
// that the installer may grant it.
import { requirePerson } from '../../rights/person.ts';
import { PackageError, parsePackage, type PluginManifest } from '../../../sdk/plugin/manifest.ts';
import type { Context } from '../../context.ts';
import { expandScopes } from '../../rights/scopes.ts';
import type { EventType } from '../../events/catalogue.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { parseFilter, type FilterFields } from '../../lib/filter.ts';
import { scopeOfEvent, type ScopeRequests } from '../../rights/rights.ts';
import type { Unheld } from '../../rights/table.ts';
import { checkCron } from '../../lib/cron.ts';
import { checkNetShape } from '../outside/net.ts';
import { checkSourceMap } from '../source-places.ts';
import { subscribedTypes } from './hearing.ts';
import { requireKnown } from './named.ts';
import { requireZone, zoneOf } from './schedule-zone.ts';
import { checkSettingsSchema } from './settings-schema.ts';

/** What a manifest's scopes and subscriptions are checked by. */
interface RequestRules {
  /** The fields that a subscription to an event type can be filtered by. */
  filterFields(eventType: string): FilterFields;
  /** The field whose parts a workspace names. */
  addedFields(eventType: string): string | null;
  /** The first narrowing that a door could not hold. */
  unheldNarrowing(requests: ScopeRequests): Unheld | null;
}

export interface PackageRules extends RequestRules {
  /** Semantic version of this server, for `engines`. */
  readonly serverVersion: string;
}

export async function readPackage(document: object) {
  requireKnown(document);
  try {
    const read = await parsePackage(JSON.stringify(document));
    if (read.sourceMap) checkSourceMap(read.sourceMap);
    return read;
  } catch (error) {
    if (!(error instanceof PackageError)) throw error;
    // The place stands in the path.
    const why = error.message.replace(`${error.path}: `, '');
    throw invalidField(`package${error.path.replaceAll('/', '.')}`, 'invalid_format', { why });
  }
}

/** @throws ApiError validation_failed, naming the first thing that this server cannot keep */
export function checkManifest(manifest: PluginManifest, rules: PackageRules): void {
  if (!fitsServer(manifest, rules.serverVersion))
    throw invalidField('package.manifest.engines.tatami', 'conflict', {
      why: `The plugin wants Tatami ${manifest.engines.tatami}; this is ${rules.serverVersion}.`,
    });
  checkRequests(manifest, rules);
}

export function fitsServer({ engines: { tatami } }: PluginManifest, serverVersion: string): boolean {
  return tatami === '*' || Bun.semver.satisfies(serverVersion, tatami);
}

/** The part that is the same on every server of this version. @throws ApiError validation_failed */
export function checkRequests(manifest: PluginManifest, rules: RequestRules): void {
  checkScopes(manifest, rules);
  checkSubscriptions(manifest, rules);
  checkNetShape(manifest);
  checkSettingsSchema(manifest.settings);
  checkActions(manifest);
  for (const [name, schedule] of Object.entries(manifest.schedules ?? {})) {
    requireZone(schedule, `package.manifest.schedules.${name}`);
    const { cron } = schedule;
    const wrong = cron === undefined ? null : checkCron(cron, zoneOf(schedule));
    if (wrong) throw invalidField(`package.manifest.schedules.${name}`, 'invalid_format', { why: wrong });
  }
}

function checkActions({ actions = {}, scopes = {} }: PluginManifest): void {
  const asked = expandScopes(Object.keys(scopes));
  for (const [name, { input, target }] of Object.entries(actions)) {
    const path = `package.manifest.actions.${name}`;
    checkSettingsSchema(input, `${path}.input`);
    const read = `${target}s:read`;
    if (target !== 'none' && !asked.has(read))
      throw invalidField(`${path}.target`, 'required', {
        why: `The action gets ${target === 'issue' ? 'an' : 'a'} ${target}, which the plugin reads.`,
        fix: `Add "${read}": { why: … } to the plugin's scopes.`,
      });
  }
}

function checkScopes({ scopes = {} }: PluginManifest, rules: RequestRules): void {
  const unheld = rules.unheldNarrowing(scopes);
  if (unheld) throw invalidField(`package.manifest.scopes.${unheld.path}`, 'conflict', unheld.fix);
}

function checkSubscriptions(manifest: PluginManifest, rules: RequestRules): void {
  const asked = expandScopes(Object.keys(manifest.scopes ?? {}));
  for (const type of subscribedTypes({ manifest }))
    if (!asked.has(scopeOfEvent(type)))
      throw invalidField(`package.manifest.on.${type}`, 'required', {
        why: `A plugin that hears of ${type} reads it.`,
        fix: `Add "${scopeOfEvent(type)}": { why: … } to its scopes.`,
      });
  for (const [type, { filter }] of Object.entries(manifest.on ?? {}))
    if (filter) {
      requireShownFields(manifest, type, filter);
      parseFilter(filter, rules.filterFields(type), `package.manifest.on.${type}.filter`, {
        under: rules.addedFields(type),
      });
    }
}

/** Whether its handler ran would tell a plugin what it is not shown. */
function requireShownFields({ scopes = {} }: PluginManifest, type: string, filter: object): void {
  const scope = scopeOfEvent(type as EventType);
  const fields = scopes[scope]?.fields;
  const outside = fields && Object.keys(filter).find((name) => !fields.includes(name));
  if (outside !== undefined)
    throw invalidField(`package.manifest.on.${type}.filter.${outside}`, 'conflict', {
      why: `The plugin narrows ${scope} to ${fields!.join(', ')}, so that ${outside} is not for it to know.`,
      fix: `Leave it out, or add it to the fields of ${scope}.`,
    });
}

/** @throws ApiError forbidden, validation_failed */
export function checkGrant(ctx: Context, manifest: PluginManifest, grant: readonly string[]): void {
  requirePerson(ctx, 'consent to what a plugin may do');
  const asked = Object.keys(manifest.scopes ?? {});
  for (const [index, scope] of grant.entries())
    if (!asked.includes(scope))
      throw invalidField(`grant.${index}`, 'not_found', {
        why: `The plugin does not ask for ${scope}; it asks for ${asked.join(', ') || 'nothing'}.`,
        fix: 'Leave it out.',
      });
  const missing = grant.filter((scope) => !ctx.scopes.has(scope));
  if (missing.length > 0)
    throw new ApiError(
      'forbidden',
      `A plugin cannot get more than its installer has: ${missing.join(', ')}.`,
    );
}
