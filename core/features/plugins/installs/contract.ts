// Contract of plugin installs: one plugin in one workspace, with its grant. docs/spec/plugins.md › Upgrade.
import { Type, type Static } from 'typebox';
import { defineContract } from '../../../kernel/contract/contract.ts';
import { choice, json, string, text } from '../../../kernel/contract/field.ts';
import { Closed, described, enumeration, idPattern, nullable, time } from '../../../platform/lib/schema.ts';

/**
 * A plugin runs in the states `active`, `probation` (its writes become proposals) and `needs_consent` (a
 * newer version is pending). The last two exist only in responses; the install is stored as `active`.
 */
const installStates = [
  'active',
  'probation',
  'needs_consent',
  'paused_by_admin',
  'disabled_failures',
  'disabled_sandbox',
  'incompatible',
] as const;
/** `propose` turns the writes of a run into a proposal; `simulate` records and drops them. */
const installModes = ['apply', 'propose', 'simulate'] as const;
export type InstallMode = (typeof installModes)[number];
/** Keyed by class of write, or by field of an update. */
export type InstallModes = Readonly<Record<string, InstallMode>>;

export const installModesInput = Type.Record(
  Type.String({ pattern: '^(create|update(\\.[A-Za-z][A-Za-z0-9]{0,39})?|comment|delete)$' }),
  enumeration('PluginMode', installModes, 'Mode of the writes of this class.'),
  {
    maxProperties: 100,
    additionalProperties: false,
    description:
      'Modes that override `mode` for one class of writes. Keys are `create`, `update`, `update.<field>`, `comment` and `delete`; `<field>` is the name of a field in responses or request bodies that plugins can update. For a write of several fields, the strictest mode applies. If `mode` is `apply` and `delete` is absent, deletions are proposed.',
  },
);

export const installSettings = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 100,
  description: 'Settings of the plugin, by their names in the manifest.',
});

/** Limits of the host per UTC day, high enough that only runaway plugins reach them. */
export const hostBudget = {
  cpuMs: 6 * 3_600_000,
  runs: 10_000_000,
  calls: 100_000_000,
  egressBytes: 10 * 1024 ** 3,
} as const;
const cap = (description: string, maximum: number) => Type.Integer({ minimum: 0, maximum, description });
const caps = {
  cpuMs: cap('CPU time in the sandbox, in milliseconds.', hostBudget.cpuMs),
  runs: cap('Number of runs.', hostBudget.runs),
  calls: cap('Number of host calls.', hostBudget.calls),
  egressBytes: cap('Bytes sent to and received from other hosts.', hostBudget.egressBytes),
};
const members = {
  cpuMs: Type.Optional(caps.cpuMs),
  runs: Type.Optional(caps.runs),
  calls: Type.Optional(caps.calls),
  egressBytes: Type.Optional(caps.egressBytes),
};
const whenSpent = enumeration(
  'BudgetEnd',
  ['stop', 'propose'],
  'Behavior with an exhausted budget: `stop` defers runs to the next day, `propose` turns their writes into proposals.',
);

/** Budget in which all limits are set. */
export const WholeBudget = Closed({ ...caps, whenSpent });
export const InstallBudget = Closed({ ...members, whenSpent });
export const BudgetInput = Closed(
  { ...members, whenSpent: Type.Optional(whenSpent) },
  { description: 'New budget, replacing the configured one; an omitted member has the limit of the host.' },
);
export type InstallBudget = Static<typeof InstallBudget>;

/** Id of an install, or of an automation, which runs like one. */
export const installId = (description: string) =>
  Type.String({ pattern: idPattern('(plg|atm)'), description });

const never = { write: 'never' } as const;
const computedField = { write: 'never', computed: true } as const;
const pluginId = Type.String({
  description: "Id of the plugin in its manifest; accepted in place of the install's id.",
});
const reason = Type.String({
  description:
    'Reason why the plugin does not run, or does not receive all subscribed events; null if there is none.',
});
const scopes = Type.Array(
  Closed({
    scope: Type.String({ description: 'Name of the scope, such as `issues:write`.' }),
    sentence: Type.String({ description: 'Description of what the scope allows.' }),
    why: Type.String({ description: 'Reason, by the author of the plugin.' }),
    fields: nullable(
      Type.Array(Type.String(), { description: 'Fields to which the scope is narrowed; null for all.' }),
    ),
    where: nullable(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'Rows to which the scope is narrowed; null for all.',
      }),
    ),
    granted: Type.Boolean({ description: 'True if the scope is granted.' }),
  }),
);
export const publisher = nullable(
  Type.String({ description: 'Trusted publisher who signed the package; null if there is none.' }),
);

const pending = nullable(
  Closed({
    version: Type.String({ description: 'Pending version.' }),
    sha256: Type.String({ description: 'SHA-256 of the code, in hex.' }),
    digest: Type.String({ description: 'SHA-256 of manifest and code, in hex, to be sent with a consent.' }),
    publisher,
    adds: Type.Array(Type.String(), {
      description: 'Sentences of the requests beyond the installed version.',
    }),
    since: described(time, 'Time of the upload.'),
  }),
);
const probation = nullable(
  Closed({
    runsLeft: Type.Integer({
      minimum: 1,
      description: 'Number of runs to approve until probation ends.',
    }),
    message: Type.String({ description: 'Message about the probation and how to end it.' }),
  }),
);
const events = Type.Array(Type.String());
const filters = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()));
export const scheduleFields = {
  name: Type.String({ description: 'Name of the schedule in the manifest.' }),
  cron: nullable(
    Type.String({
      description: 'Cron expression; null if the schedule only runs one-time jobs.',
    }),
  ),
  timeZone: Type.String({ description: 'IANA time zone of `cron`, such as `Europe/Berlin`.' }),
  tz: Type.String({ description: 'Former name of `timeZone`, with the same value.' }),
};
const schedules = Type.Array(Closed(scheduleFields));

const net = Type.Array(
  Closed({
    origin: Type.String({ description: 'Origin, such as `https://api.acme.dev`.' }),
    methods: nullable(Type.Array(Type.String(), { description: 'Allowed methods; null for all.' })),
    path: nullable(
      Type.String({
        description: 'Allowed path; a path that ends with `/` includes all paths below; null for all.',
      }),
    ),
    why: Type.String({ description: 'Reason, by the author of the plugin.' }),
  }),
);
const secrets = Type.Array(
  Closed({
    name: Type.String({ description: 'Name of the secret, such as `ACME_KEY`.' }),
    hosts: Type.Array(Type.String(), { description: 'Origins that the secret is sent to.' }),
    header: Type.String({ description: 'Header that the secret is sent in.' }),
    setAt: nullable(described(time, 'Time at which the secret was last set; null while unset.')),
  }),
);

export const plugin = defineContract({
  name: 'plugin',
  path: 'plugins',
  title: 'Plugin',
  id: 'plg',
  doc: 'Plugin installed in the workspace, with its grant.',
  fields: {
    pluginId: string(pluginId, never),
    pluginVersion: text({ max: 60, ...never, doc: 'Version of the plugin.' }),
    name: text({ max: 80, ...computedField, doc: 'Name of the plugin.' }),
    description: text({ max: 500, ...computedField, doc: 'Description by the author of the plugin.' }),
    sha256: text({ max: 64, ...never, doc: 'SHA-256 of the code, in hex.' }),
    scopes: json(scopes, { ...computedField, doc: 'Scopes of the manifest, with their grants.' }),
    events: json(events, {
      ...computedField,
      doc: 'Event types that the plugin receives: those subscribed to and readable under the grant.',
    }),
    filters: json(filters, {
      ...computedField,
      doc: 'Filters of the subscriptions by event type; a type without a filter receives all events.',
    }),
    schedules: json(schedules, { ...computedField, doc: 'Schedules of the plugin.' }),
    net: json(net, { ...computedField, doc: 'Hosts that the plugin can send requests to.' }),
    secrets: json(secrets, {
      ...computedField,
      doc: 'Secrets of the plugin and where they are sent. The values are never shown.',
    }),
    settings: json(installSettings, {
      ...computedField,
      doc: 'Effective settings: unset ones have the default of the manifest.',
    }),
    mode: choice(installModes, {
      ...never,
      doc: 'Mode of the writes of runs: `apply` commits them, `propose` requires approval, `simulate` records and drops them.',
    }),
    modes: json(installModesInput, never),
    state: choice(installStates, {
      ...never,
      doc: 'State of the plugin. Only plugins in the states `active`, `probation` and `needs_consent` run.',
    }),
    stateReason: string(reason, { ...never, nullable: true }),
    publisher: text({
      max: 100,
      ...never,
      nullable: true,
      doc: 'Trusted publisher who signed the package; null if there is none.',
    }),
    pending: json(pending, {
      ...computedField,
      doc: 'Version that requests more than was granted and is pending consent; null if there is none.',
    }),
    probation: json(probation, {
      ...computedField,
      doc: 'Probation of the plugin: its writes need approval until enough runs are approved. Null if the plugin is not on probation.',
    }),
    budget: json(InstallBudget, { ...never, doc: 'Configured budget per UTC day.' }),
  },
  undo: 'operations',
  operations: {},
  events: { created: 'plugin.installed', updated: 'plugin.updated', other: ['plugin.disabled'] },
  retainsDeleted: true,
});
