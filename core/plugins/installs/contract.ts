// Plugin installs: one plugin in one workspace, with what it was granted. docs/spec/plugins.md › Upgrade.
import { Type, type Static } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, json, string, text } from '../../contract/field.ts';
import { Closed, described, enumeration, nullable, time } from '../../lib/schema.ts';

/**
 * `active`, `probation` and `needs_consent` run: the second proposes, and of the third a newer version waits. These two are shown of an
 * install that is kept as `active`.
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
/** `propose` keeps what a run would have written for approval; `simulate` records it and drops it. */
const installModes = ['apply', 'propose', 'simulate'] as const;
export type InstallMode = (typeof installModes)[number];
/** By class of write, or by field of an update. */
export type InstallModes = Readonly<Record<string, InstallMode>>;

export const installModesGiven = Type.Record(
  Type.String({ pattern: '^(create|update(\\.[A-Za-z][A-Za-z0-9]{0,39})?|comment|delete)$' }),
  enumeration('PluginMode', installModes, 'What becomes of such writes.'),
  {
    maxProperties: 100,
    additionalProperties: false,
    description:
      'The mode of a class of writes where it is another than `mode`: `create`, `update`, `update.<field>`, `comment`, `delete`. A field has the name that the API shows, or one that a body gives it; one that no plugin updates is refused. Of a write of several fields the strictest counts. Deletions are proposed where the mode is `apply` and nothing is said of them.',
  },
);

export const installSettings = Type.Record(Type.String(), Type.Unknown(), {
  maxProperties: 100,
  description: 'By the names that its manifest gives them.',
});

/** The host's caps: far above what a plugin needs, so that they only end what has run away. */
export const hostBudget = {
  cpuMs: 6 * 3_600_000,
  runs: 10_000_000,
  calls: 100_000_000,
  egressBytes: 10 * 1024 ** 3,
} as const;
const cap = (description: string, maximum: number) => Type.Integer({ minimum: 0, maximum, description });
const caps = {
  cpuMs: cap('Processor time in the sandbox, in milliseconds.', hostBudget.cpuMs),
  runs: cap('Runs.', hostBudget.runs),
  calls: cap('Host calls.', hostBudget.calls),
  egressBytes: cap('Bytes sent to other hosts and received from them.', hostBudget.egressBytes),
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
  'Whether its runs wait for the next day, or propose what they would write.',
);

/** All of what applies. */
export const WholeBudget = Closed({ ...caps, whenSpent });
export const InstallBudget = Closed({ ...members, whenSpent });
export const BudgetGiven = Closed(
  { ...members, whenSpent: Type.Optional(whenSpent) },
  { description: 'In place of what was set; a member that is left out is as the host has it.' },
);
export type InstallBudget = Static<typeof InstallBudget>;

const never = { write: 'never' } as const;
const made = { write: 'never', computed: true } as const;
const pluginId = Type.String({ description: "The manifest's id; accepted wherever the install's id is." });
const reason = Type.String({
  description: 'Why it does not run, or is not sent all that it subscribes to.',
});
const scopes = Type.Array(
  Closed({
    scope: Type.String({ description: 'Such as `issues:write`.' }),
    sentence: Type.String({ description: 'What it lets the plugin do.' }),
    why: Type.String({ description: 'What it needs it for, as its author says.' }),
    fields: nullable(Type.Array(Type.String(), { description: 'All that it writes with this scope.' })),
    where: nullable(
      Type.Record(Type.String(), Type.Array(Type.String()), {
        description: 'The only objects it reads and writes with it.',
      }),
    ),
    granted: Type.Boolean({ description: 'Whether it was granted.' }),
  }),
);
export const publisher = nullable(
  Type.String({ description: 'Who signed it, of those the operator trusts; null for nobody.' }),
);

const pending = nullable(
  Closed({
    version: Type.String({ description: 'The version that waits.' }),
    sha256: Type.String({ description: 'The SHA-256 of its code, in hex.' }),
    digest: Type.String({ description: 'SHA-256 of its manifest and code, in hex; a consent sends it.' }),
    publisher,
    adds: Type.Array(Type.String(), { description: 'What it asks for beyond this version, in sentences.' }),
    since: described(time, 'When it was sent.'),
  }),
);
const probation = nullable(
  Closed({
    runsLeft: Type.Integer({
      minimum: 1,
      description: 'Runs that people have still to approve before the plugin writes by itself.',
    }),
    message: Type.String({ description: 'The same in words, with the ways to end probation.' }),
  }),
);
const events = Type.Array(Type.String());
const filters = Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
  description: 'By the type of the events.',
});
/** Of a schedule, as it is shown. */
export const scheduleFields = {
  name: Type.String({ description: 'What it is called in the manifest.' }),
  cron: nullable(
    Type.String({
      description: 'When it runs, as a cron expression; null where only a run of the plugin asks for it.',
    }),
  ),
  timeZone: Type.String({ description: 'IANA time zone of `cron`, such as `Europe/Berlin`.' }),
  tz: Type.String({ description: 'Earlier name of `timeZone`, with the same value.' }),
};
const schedules = Type.Array(Closed(scheduleFields));

const net = Type.Array(
  Closed({
    origin: Type.String({ description: 'Such as `https://api.acme.dev`.' }),
    methods: nullable(Type.Array(Type.String(), { description: 'The only methods.' })),
    path: nullable(Type.String({ description: 'The only path, or with `/` at its end all below it.' })),
    why: Type.String({ description: 'What it sends them for, as its author says.' }),
  }),
);
const secrets = Type.Array(
  Closed({
    name: Type.String({ description: 'Such as `ACME_KEY`.' }),
    hosts: Type.Array(Type.String(), { description: 'The only origins that it is sent to.' }),
    header: Type.String({ description: 'The only header that it is sent in.' }),
    setAt: nullable(described(time, 'When it was set; null while it is not.')),
  }),
);

export const plugin = defineContract({
  name: 'plugin',
  path: 'plugins',
  title: 'Plugin',
  id: 'plg',
  doc: 'One plugin in the workspace, with what it was granted.',
  fields: {
    pluginId: string(pluginId, never),
    pluginVersion: text({ max: 60, ...never, doc: 'The version of its package.' }),
    name: text({ max: 80, ...made, doc: 'What it is called.' }),
    description: text({ max: 500, ...made, doc: 'What it does, as its author says.' }),
    sha256: text({ max: 64, ...never, doc: 'The SHA-256 of its code, in hex.' }),
    scopes: json(scopes, { ...made, doc: 'What its manifest asks, and what it was granted.' }),
    events: json(events, {
      ...made,
      doc: 'What it is sent: of what it subscribes to, that which it was granted to read.',
    }),
    filters: json(filters, {
      ...made,
      doc: 'Which events of a type it hears, by the type; of a type that is not named, all.',
    }),
    schedules: json(schedules, { ...made, doc: 'When it runs without an event.' }),
    net: json(net, { ...made, doc: 'Where it may send requests.' }),
    secrets: json(secrets, {
      ...made,
      doc: 'What an administrator puts in for it, and where it is sent. The values are never shown.',
    }),
    settings: json(installSettings, {
      ...made,
      doc: 'What it was set to, and the defaults of its manifest for what nobody set.',
    }),
    mode: choice(installModes, {
      ...never,
      doc: 'What becomes of what its runs write: with `propose` it waits for approval, with `simulate` it is recorded and dropped.',
    }),
    modes: json(installModesGiven, never),
    state: choice(installStates, { ...never, doc: 'Whether it runs, and if not, who switched it off.' }),
    stateReason: string(reason, { ...never, nullable: true }),
    publisher: text({
      max: 100,
      ...never,
      nullable: true,
      doc: 'Who signed its package, of those the operator trusts.',
    }),
    pending: json(pending, {
      ...made,
      doc: 'A version that asks for more than was granted, and waits for consent.',
    }),
    probation: json(probation, {
      ...made,
      doc: 'Approvals missing until the plugin writes by itself; null of a plugin that is not on probation.',
    }),
    budget: json(InstallBudget, { ...never, doc: 'What it may use in a UTC day, where somebody set that.' }),
  },
  undo: 'operations',
  operations: {},
  events: { created: 'plugin.installed', updated: 'plugin.updated', other: ['plugin.disabled'] },
  keepsDeleted: true,
});
