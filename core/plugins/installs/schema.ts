// How installs are stored and shown, and the bodies that make and change them.
import { Type } from 'typebox';
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { json, plain } from '../../changes/columns.ts';
import { isoTime } from '../../changes/operations.ts';
import { schemasOf } from '../../contract/schemas.ts';
import { Closed, enumeration, named } from '../../lib/schema.ts';
import { kindOf, type EntityOf } from '../../resource/kind.ts';
import { allScopes } from '../../rights/scopes.ts';
import {
  installModesGiven,
  installSettings,
  plugin,
  type InstallMode,
  type InstallModes,
} from './contract.ts';
import { heardTypes } from './hearing.ts';
import { effectiveSettings } from './settings.ts';
import { keepPastWants } from './wants.ts';

const kept = {
  manifest: json<PluginManifest>('manifest_json'),
  grant: json<readonly string[]>('grant_json'),
  /** What somebody gave; shown, and given to runs, with the defaults of the manifest. */
  settings: json<Readonly<Record<string, unknown>>>('settings_json'),
  /** When each of its secrets was set, by name. */
  secretsSet: json<Readonly<Record<string, number>>>('secrets_set_json'),
  /** The last event before it was installed or switched on: it listens to what comes after. Set by the database. */
  sinceSequence: plain<number>('since_sequence'),
};
export type Install = EntityOf<typeof plugin, typeof kept>;

export const installKind = kindOf(plugin, {
  kept,
  shows: {
    name: ({ manifest, pluginId }) => manifest.name ?? pluginId,
    description: ({ manifest }) => manifest.description ?? '',
    scopes: ({ manifest, grant }) =>
      Object.entries(manifest.scopes ?? {}).map(([scope, { why, fields, where }]) => ({
        scope,
        why,
        fields: fields ?? null,
        where: where ?? null,
        granted: grant.includes(scope),
      })),
    events: heardTypes,
    net: ({ manifest }) =>
      (manifest.net ?? []).map(({ origin, methods, path, why }) => ({
        ...{ origin, methods: methods ?? null, path: path ?? null, why },
      })),
    secrets: ({ manifest, secretsSet }) =>
      Object.entries(manifest.secrets ?? {}).map(([name, { hosts, header }]) => ({
        ...{ name, hosts: [...hosts], header, setAt: isoTime(secretsSet[name] ?? null) },
      })),
    settings: effectiveSettings,
    filters: ({ manifest }) =>
      Object.fromEntries(
        Object.entries(manifest.on ?? {}).flatMap(([type, { filter }]) => (filter ? [[type, filter]] : [])),
      ),
    schedules: ({ manifest }) =>
      Object.entries(manifest.schedules ?? {}).map(([name, { cron, tz }]) => ({
        name,
        cron: cron ?? null,
        tz: tz ?? 'UTC',
      })),
  },
  events(before, after) {
    if (!before) return ['plugin.installed'];
    const running = ({ state, deletedAt }: Install): boolean => state === 'active' && deletedAt === null;
    return running(before) && !running(after) ? ['plugin.disabled'] : ['plugin.updated'];
  },
  special: {
    insertExpressions: {
      since_sequence: '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)',
    },
    related: (scope, before, after) => ({ first: before ? keepPastWants(scope, before, after) : [] }),
  },
});

export const InstallShown = schemasOf(plugin).shown;

const grant = Type.Array(enumeration('Scope', allScopes), {
  maxItems: 100,
  uniqueItems: true,
  description: 'The scopes that it gets, of those its manifest asks.',
});
const mode = Type.Optional(Type.Unsafe<InstallMode>(plugin.fields.mode.given));
const modes = Type.Optional(Type.Unsafe<InstallModes>(installModesGiven));

export const InstallCreate = named(
  'PluginInstall',
  Closed({
    package: Type.Object({}, { description: 'A package document, as `tatami plugin pack` writes it.' }),
    grant,
    settings: Type.Optional(installSettings),
    mode,
    modes,
    downgrade: Type.Optional(Type.Boolean({ description: 'Allow an older version than the one installed.' })),
  }),
);
export const InstallUpdate = named(
  'PluginUpdate',
  Closed({
    grant: Type.Optional(grant),
    settings: Type.Optional(installSettings),
    mode,
    modes,
    state: Type.Optional(enumeration('PluginStateGiven', ['active', 'paused_by_admin'], 'Whether it runs.')),
  }),
);
