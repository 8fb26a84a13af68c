// What a person is told before a plugin is installed: what it will read and write, in the words of the table of rights.
import type { PluginManifest } from '../../sdk/plugin/manifest.ts';

const scopeWidth = 16;

/** Lines for a terminal; a manifest holds no control characters (`parsePackage`). */
export function consentLines(manifest: PluginManifest): string[] {
  const requests = Object.entries(manifest.scopes ?? {});
  const more = (text: string): string => `  ${''.padEnd(scopeWidth)} ${text}`;
  const scopes = requests.flatMap(([scope, { why, fields, where = {} }]) => [
    `  ${scope.padEnd(scopeWidth)} ${why}`,
    ...(fields ? [more(`writes only ${fields.join(', ') || 'nothing'}`)] : []),
    ...Object.entries(where).map(([word, values]) =>
      more(`only where ${word} is ${values.join(' or ') || 'nothing'}`),
    ),
  ]);
  const types = Object.keys(manifest.on ?? {});
  const schedules = Object.entries(manifest.schedules ?? {}).map(([name, { cron }]) => `${name} (${cron})`);
  return [
    `${manifest.id} ${manifest.version} asks for:`,
    ...(scopes.length > 0 ? scopes : ['  nothing']),
    ...(types.length > 0 ? [`  ${'reads events'.padEnd(scopeWidth)} ${types.join(', ')}`] : []),
    ...(schedules.length > 0 ? [`  ${'runs on its own'.padEnd(scopeWidth)} ${schedules.join(', ')}`] : []),
  ];
}
