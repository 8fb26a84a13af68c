// Plugin installs: one plugin in one workspace, with what it was granted. docs/spec/plugins.md › Upgrade.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, json, string, text } from '../../contract/field.ts';
import { Closed, nullable } from '../../lib/schema.ts';

const installStates = ['active', 'paused_by_admin', 'disabled_failures', 'disabled_sandbox'] as const;
/** `simulate` records what a run would have written and drops it. */
export const installModes = ['apply', 'simulate'] as const;

export const installSettings = Type.Record(Type.String(), Type.Unknown(), { maxProperties: 100 });

const never = { write: 'never' } as const;
const made = { write: 'never', computed: true } as const;
const pluginId = Type.String({ description: "The manifest's id; accepted wherever the install's id is." });
const reason = Type.String({
  description: 'Why it does not run, or is not sent all that it subscribes to.',
});
const scopes = Type.Array(
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
);
const events = Type.Array(Type.String(), {
  description: 'What it is sent: of what it subscribes to, that which it was granted to read.',
});
const schedules = Type.Array(Closed({ name: Type.String(), cron: Type.String(), tz: Type.String() }));

export const plugin = defineContract({
  name: 'plugin',
  path: 'plugins',
  title: 'Plugin',
  id: 'plg',
  doc: 'One plugin in the workspace, with what it was granted.',
  fields: {
    pluginId: string(pluginId, never),
    pluginVersion: text({ max: 60, ...never }),
    name: text({ max: 80, ...made }),
    description: text({ max: 500, ...made }),
    sha256: text({ max: 64, ...never }),
    scopes: json(scopes, made),
    events: json(events, made),
    schedules: json(schedules, made),
    settings: json(installSettings, never),
    mode: choice(installModes, never),
    state: choice(installStates, never),
    stateReason: string(reason, { ...never, nullable: true }),
  },
  operations: {},
  events: { created: 'plugin.installed', updated: 'plugin.updated', other: ['plugin.disabled'] },
  keepsDeleted: true,
});
