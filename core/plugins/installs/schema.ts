// Plugin installs: one plugin in one workspace, with what it was granted. docs/spec/plugins.md › Upgrade.
import { Type, type Static } from 'typebox';
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import type { Entity } from '../../changes/change.ts';
import { defineKind, json } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { eventTypes } from '../../events/catalogue.ts';
import { allScopes } from '../../rights/scopes.ts';
import { Closed, id, named, nullable, time, version } from '../../lib/schema.ts';
import { heardTypes } from './hearing.ts';

const installStates = ['active', 'paused_by_admin', 'disabled_failures', 'disabled_sandbox'] as const;
/** `simulate` records what a run would have written and drops it. */
const installModes = ['apply', 'simulate'] as const;

const grant = Type.Array(Type.Enum([...allScopes]), { maxItems: 100, uniqueItems: true });
const settings = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 100 });

export const InstallShown = named(
  'Plugin',
  Closed({
    id: id('install'),
    pluginId: Type.String({ description: "The manifest's id; accepted wherever the install's id is." }),
    pluginVersion: Type.String(),
    name: Type.String(),
    description: Type.String(),
    sha256: Type.String(),
    scopes: Type.Array(
      Closed({
        scope: Type.String(),
        why: Type.String(),
        fields: nullable(Type.Array(Type.String(), { description: 'All that it writes with this scope.' })),
        where: nullable(
          Type.Record(Type.String(), Type.Array(Type.String()), {
            description: 'The only objects it reads and writes with it.',
          }),
        ),
        granted: Type.Boolean(),
      }),
    ),
    events: Type.Array(Type.Enum([...eventTypes]), {
      description: 'What it is sent: of what it subscribes to, that which it was granted to read.',
    }),
    schedules: Type.Array(Closed({ name: Type.String(), cron: Type.String(), tz: Type.String() })),
    settings,
    mode: Type.Enum([...installModes]),
    state: Type.Enum([...installStates]),
    stateReason: nullable(
      Type.String({ description: 'Why it does not run, or is not sent all that it subscribes to.' }),
    ),
    version,
    createdAt: time,
    updatedAt: time,
  }),
);

export const InstallCreate = Closed({
  package: Type.Object({}, { description: 'A package document, as `tatami plugin pack` writes it.' }),
  grant,
  settings: Type.Optional(settings),
  mode: Type.Optional(Type.Enum([...installModes])),
  downgrade: Type.Optional(Type.Boolean({ description: 'Allow an older version than the one installed.' })),
});
export const InstallUpdate = Closed({
  grant: Type.Optional(grant),
  settings: Type.Optional(settings),
  mode: Type.Optional(Type.Enum([...installModes])),
  state: Type.Optional(Type.Enum(['active', 'paused_by_admin'])),
});

export interface Install extends Entity {
  readonly pluginId: string;
  readonly pluginVersion: string;
  readonly sha256: string;
  readonly manifest: PluginManifest;
  readonly grant: readonly string[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly mode: (typeof installModes)[number];
  readonly state: (typeof installStates)[number];
  readonly stateReason: string | null;
  /** The last event before it was installed or switched on: it listens to what comes after. Set by the database. */
  readonly sinceSequence: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly deletedAt: number | null;
}

export const installKind = defineKind<Install, Static<typeof InstallShown>>({
  name: 'plugin',
  table: 'plugins',
  fields: {
    pluginId: 'plugin_id',
    pluginVersion: 'plugin_version',
    sha256: 'sha256',
    manifest: json('manifest_json'),
    grant: json('grant_json'),
    settings: json('settings_json'),
    mode: 'mode',
    state: 'state',
    stateReason: 'state_reason',
    sinceSequence: 'since_sequence',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
    deletedAt: 'deleted_at',
  },
  insertExpressions: {
    since_sequence: '(SELECT coalesce(max(sequence), 0) FROM events WHERE workspace_id = :ws)',
  },
  wire: (install) => ({
    id: install.id,
    pluginId: install.pluginId,
    pluginVersion: install.pluginVersion,
    name: install.manifest.name ?? install.pluginId,
    description: install.manifest.description ?? '',
    sha256: install.sha256,
    scopes: Object.entries(install.manifest.scopes ?? {}).map(([scope, { why, fields, where }]) => ({
      scope,
      why,
      fields: fields ?? null,
      where: where ?? null,
      granted: install.grant.includes(scope),
    })),
    events: heardTypes(install),
    schedules: Object.entries(install.manifest.schedules ?? {}).map(([name, { cron, tz }]) => ({
      name,
      cron,
      tz: tz ?? 'UTC',
    })),
    settings: install.settings,
    mode: install.mode,
    state: install.state,
    stateReason: install.stateReason,
    version: install.version,
    createdAt: isoTime(install.createdAt),
    updatedAt: isoTime(install.updatedAt),
  }),
  events(before, after) {
    if (!before) return ['plugin.installed'];
    const running = (install: Install): boolean => install.state === 'active' && install.deletedAt === null;
    return running(before) && !running(after) ? ['plugin.disabled'] : ['plugin.updated'];
  },
});
