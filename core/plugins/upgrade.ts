// What a person is told before another version of a plugin takes the place of the one installed: the difference of what the two ask.
import type { PluginManifest, PluginPackage } from '../../sdk/plugin/manifest.ts';
import { sameValue } from '../changes/change.ts';
import {
  more,
  narrowingLines,
  netText,
  routeText,
  scopeWidth,
  type Narrowing,
  type Reached,
} from './consent.ts';

/** Of an install as it is shown. */
export interface Installed {
  readonly id: string;
  readonly pluginVersion: string;
  readonly sha256: string;
  readonly scopes: readonly (Narrowing & { readonly scope: string; readonly granted: boolean })[];
  readonly events: readonly string[];
  readonly net: readonly Reached[];
  readonly secrets: readonly { readonly name: string }[];
  readonly filters: Readonly<Record<string, unknown>>;
  readonly schedules: readonly { readonly name: string; readonly cron: string | null; readonly tz: string }[];
  /** Names. */
  readonly actions: readonly string[];
  readonly routes: readonly { readonly name: string; readonly auth: 'hmac' | 'public' }[];
}

/** Lines for a terminal; a manifest holds no control characters (`parsePackage`). */
export function upgradeLines(
  { manifest, sha256 }: Pick<PluginPackage, 'manifest' | 'sha256'>,
  installed: Installed,
): string[] {
  const differences = [
    ...scopeLines(manifest.scopes ?? {}, installed.scopes),
    ...namedLines('reads events', Object.keys(manifest.on ?? {}), installed.events),
    ...filterLines(manifest.on ?? {}, installed),
    ...namedLines('reaches', (manifest.net ?? []).map(netText), installed.net.map(netText)),
    ...namedLines(
      'needs the secret',
      Object.keys(manifest.secrets ?? {}),
      installed.secrets.map(({ name }) => name),
    ),
    ...namedLines('can be called', Object.keys(manifest.actions ?? {}), installed.actions),
    ...namedLines(
      'is sent, if open',
      Object.entries(manifest.routes ?? {}).map(([name, { auth }]) => routeText(name, auth)),
      installed.routes.map(({ name, auth }) => routeText(name, auth)),
    ),
    ...namedLines('runs on its own', schedulesOf(manifest), installed.schedules.map(scheduleText)),
  ];
  return [
    headline({ manifest, sha256 }, installed),
    ...(differences.length > 0 ? differences : ['  asks for the same as before']),
  ];
}

function headline(
  { manifest: { id, version }, sha256 }: Pick<PluginPackage, 'manifest' | 'sha256'>,
  installed: Installed,
): string {
  if (version !== installed.pluginVersion)
    return `${id} ${version} replaces ${installed.pluginVersion}, installed as ${installed.id}:`;
  if (sha256 === installed.sha256) return `${id} ${version} is installed already, as ${installed.id}:`;
  const [now, before] = [sha256, installed.sha256].map((hash) => hash.slice(0, 12));
  return `${id} ${version} is installed already, as ${installed.id}; this is other code (sha256 ${now}…, before ${before}…):`;
}

function filterLines(on: NonNullable<PluginManifest['on']>, { events, filters }: Installed): string[] {
  const shown = (filter: unknown): string => (filter === undefined ? 'all' : JSON.stringify(filter));
  return Object.entries(on).flatMap(([type, { filter }]) =>
    !events.includes(type) || sameValue(filter, filters[type])
      ? []
      : [
          line('~', 'filter of', type),
          ...indented([more(`before: ${shown(filters[type])}`), more(`now: ${shown(filter)}`)]),
        ],
  );
}

function scopeLines(asked: NonNullable<PluginManifest['scopes']>, installed: Installed['scopes']): string[] {
  const granted = new Map(installed.filter((one) => one.granted).map((one) => [one.scope, one]));
  const unchanged: string[] = [];
  const lines: string[] = [];
  for (const [scope, now] of Object.entries(asked)) {
    const before = granted.get(scope);
    if (before ? isSame(before, now) : isImplied(scope, granted.keys())) unchanged.push(scope);
    else if (before) lines.push(line('~', scope, now.why), ...indented(shiftLines(before, now)));
    else lines.push(line('+', scope, now.why), ...indented(narrowingLines(now)));
  }
  const gone = [...granted.keys()].filter(
    (scope) => !(scope in asked) && !isImplied(scope, Object.keys(asked)),
  );
  return [
    ...lines,
    ...gone.map((scope) => line('-', scope, 'asked for no longer')),
    ...(unchanged.length > 0 ? [line(' ', 'as before', unchanged.join(', '))] : []),
  ];
}

/** Reading, by a scope to write. */
function isImplied(scope: string, scopes: Iterable<string>): boolean {
  return scope.endsWith(':read') && [...scopes].includes(scope.replace(/:read$/, ':write'));
}

/** Below the sign of its scope. */
function indented(lines: readonly string[]): string[] {
  return lines.map((text) => `  ${text}`);
}

function isSame(before: Narrowing, now: Narrowing): boolean {
  return narrowingLines(before).join() === narrowingLines(now).join();
}

/** How the narrowing of a scope moves; without one, all is meant. */
function shiftLines(before: Narrowing, now: Narrowing): string[] {
  const shown = (one: Narrowing): string[] => {
    const lines = narrowingLines(one);
    return lines.length > 0 ? lines : narrowingLines(null);
  };
  return [
    ...shown(before).map((text) => text.replace(/^( +)/, '$1before: ')),
    ...shown(now).map((text) => text.replace(/^( +)/, '$1now: ')),
  ];
}

function namedLines(what: string, now: readonly string[], before: readonly string[]): string[] {
  const added = now.filter((name) => !before.includes(name));
  const gone = before.filter((name) => !now.includes(name));
  return [
    ...(added.length > 0 ? [line('+', what, added.join(', '))] : []),
    ...(gone.length > 0 ? [line('-', what, gone.join(', '))] : []),
  ];
}

function schedulesOf({ schedules = {} }: PluginManifest): string[] {
  return Object.entries(schedules).map(([name, { cron, tz = 'UTC' }]) =>
    scheduleText({ name, cron: cron ?? null, tz }),
  );
}

function scheduleText({ name, cron, tz }: Installed['schedules'][number]): string {
  return cron === null ? `${name} (once, when it asks)` : `${name} (${cron}${tz === 'UTC' ? '' : ` ${tz}`})`;
}

function line(sign: '+' | '-' | '~' | ' ', name: string, text: string): string {
  return `  ${sign} ${name.padEnd(scopeWidth)} ${text}`;
}
