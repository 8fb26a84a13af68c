// What a person is told before a plugin is installed: what it will read and write, in the words of the table of rights.
import type { PluginManifest } from '../../sdk/plugin/manifest.ts';

export const scopeWidth = 16;

export interface Narrowing {
  readonly fields?: readonly string[] | null | undefined;
  readonly where?: Readonly<Record<string, readonly string[]>> | null | undefined;
}

/** Lines for a terminal; a manifest holds no control characters (`parsePackage`). */
export function consentLines(manifest: PluginManifest): string[] {
  const requests = Object.entries(manifest.scopes ?? {});
  const scopes = requests.flatMap(([scope, request]) => [
    `  ${scope.padEnd(scopeWidth)} ${request.why}`,
    ...narrowingLines(request),
  ]);
  const types = Object.keys(manifest.on ?? {});
  const schedules = Object.entries(manifest.schedules ?? {}).map(
    ([name, { cron }]) => `${name} (${cron ?? 'once, when it asks'})`,
  );
  const routes = Object.entries(manifest.routes ?? {}).map(([name, { auth }]) => routeText(name, auth));
  const actions = Object.keys(manifest.actions ?? {});
  return [
    `${manifest.id} ${manifest.version} asks for:`,
    ...(scopes.length > 0 ? scopes : ['  nothing']),
    ...netLines(manifest),
    ...(types.length > 0 ? [`  ${'reads events'.padEnd(scopeWidth)} ${types.join(', ')}`] : []),
    ...(actions.length > 0 ? [`  ${'can be called'.padEnd(scopeWidth)} ${actions.join(', ')}`] : []),
    ...(routes.length > 0 ? [`  ${'is sent, if open'.padEnd(scopeWidth)} ${routes.join(', ')}`] : []),
    ...(schedules.length > 0 ? [`  ${'runs on its own'.padEnd(scopeWidth)} ${schedules.join(', ')}`] : []),
  ];
}

function netLines({ net = [], secrets = {} }: PluginManifest): string[] {
  return [
    ...net.flatMap((one) => [`  ${'reaches'.padEnd(scopeWidth)} ${netText(one)}`, more(one.why)]),
    ...Object.entries(secrets).map(
      ([name, { hosts, header }]) =>
        `  ${'needs the secret'.padEnd(scopeWidth)} ${name}, sent as ${header} to ${hosts.join(', ')}`,
    ),
  ];
}

/** Of a manifest, or of an install as it is shown. */
export interface Reached {
  readonly origin: string;
  readonly methods?: readonly string[] | null | undefined;
  readonly path?: string | null | undefined;
}

export function netText({ origin, methods, path }: Reached): string {
  return `${origin}${path ?? ''} (${methods?.join(', ') ?? 'all methods'})`;
}

export const routeText = (name: string, auth: 'hmac' | 'public'): string =>
  `${name} (${auth === 'hmac' ? 'signed' : 'public'})`;

/** Below what is asked for. */
export const more = (text: string): string => `  ${''.padEnd(scopeWidth)} ${text}`;

/** What a scope is narrowed to; `null` says that it is not. */
export function narrowingLines(request: Narrowing | null): string[] {
  if (request === null) return [more('all fields, all teams')];
  return [
    ...(request.fields ? [more(`writes only ${request.fields.join(', ') || 'nothing'}`)] : []),
    ...Object.entries(request.where ?? {}).map(([word, values]) =>
      more(`only where ${word} is ${values.join(' or ') || 'nothing'}`),
    ),
  ];
}
