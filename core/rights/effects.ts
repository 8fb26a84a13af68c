// Effects that are no objects, and quotas: the second half of the table of rights, beside the roles (`roles.ts`). docs/roles.md is
// generated from both. An operation with such an effect is listed here; `core/http/admission.ts` enforces the list.

/** `own`: for what is the member's own. */
type May = boolean | 'own';

export interface Effect {
  readonly doc: string;
  /** Scope that the effect takes; absent where the scope of each operation decides alone. */
  readonly scope?: string;
  /** Owners and admins may always; an app that acts for them may where `app` says so. */
  readonly member: May;
  readonly guest: May;
  readonly app: May;
  /** Operations with this effect. A text names the condition, or the code that decides; the operation checks that itself. */
  readonly operations: Readonly<Record<string, 'always' | (string & {})>>;
  /** Host calls of plugins that are no operation of the API. */
  readonly calls?: readonly string[];
}

const nobodyElse = { member: false, guest: false, app: false } as const;
const hiddenWithout = 'left out of the answer without the scope';
/** Takes the scope of the operation, and a rank that only the members can tell. */
const byRank = 'as core/identity/members/roles.ts decides';

export const effectTable = {
  'outside-requests': {
    doc: 'Requests of a plugin to other servers, with its secrets, on behalf of whoever calls its action',
    scope: 'automations:write',
    ...{ member: true, guest: false, app: true },
    operations: {
      'plugins.call-action': 'where the manifest names hosts or secrets',
      'proposals.rerun': 'where the manifest names hosts or secrets, of a proposal of a plugin',
      'proposals.approve': 'the same, where what it was made on has moved',
    },
    calls: ['net.fetch'],
  },
  'repeated-runs': {
    doc: 'Another run of a plugin in place of one whose proposal is out of date',
    ...{ member: true, guest: false, app: false },
    operations: { 'proposals.rerun': 'always' },
  },
  'plugin-runs': {
    doc: 'Code of plugins, and runs with all that a plugin was granted, its requests and secrets included',
    ...nobodyElse,
    operations: {
      'plugins.install': 'always',
      'plugins.update': 'always',
      'plugins.consent.give': 'always',
      'plugins.rollback': 'always',
      'plugins.run-schedule': 'always',
      'plugins.catch-up': 'always',
      'plugins.open-route': 'always',
      'plugins.begin-shadow': 'always',
    },
  },
  'plugin-secrets': {
    doc: 'Secrets of plugins: setting and deleting them. Nobody reads their values',
    ...nobodyElse,
    operations: { 'plugins.secrets.set': 'always', 'plugins.secrets.delete': 'always' },
  },
  recordings: {
    doc: 'Recordings of runs: what a plugin saw, asked and was answered',
    scope: 'plugins:write',
    ...nobodyElse,
    operations: { 'runs.recording': 'always', 'runs.replay': 'always' },
  },
  logs: {
    doc: 'Text of plugins that may hold data from other servers: logs, results, error messages, values of effects and of one-off runs',
    scope: 'plugins:write',
    ...nobodyElse,
    operations: {
      'plugins.runs': hiddenWithout,
      'runs.get': hiddenWithout,
      'runs.recording': 'always',
      'runs.cancel': 'always',
      'plugins.run-schedule': 'always',
      'plugins.scheduled': hiddenWithout,
      'plugins.shadow': hiddenWithout,
      'issues.trail': hiddenWithout,
      'plugins.call-action': `${hiddenWithout}; whoever calls an action sees its result`,
      'plugins.action-run': `${hiddenWithout}; whoever called the action sees its result`,
    },
  },
  kv: {
    doc: 'Values that a plugin keeps. A plugin has its own',
    scope: 'plugins:write',
    ...nobodyElse,
    operations: {
      'plugins.kv.list': 'always',
      'plugins.kv.get': 'always',
      'plugins.kv.set': 'always',
      'plugins.kv.delete': 'always',
    },
    calls: ['kv.get', 'kv.list', 'kv.set', 'kv.delete', 'kv.increment', 'kv.compareAndSet'],
  },
  'one-off-runs': {
    doc: 'Runs that a plugin asks for later. They have the rights that are left of whoever asked',
    ...nobodyElse,
    operations: { 'plugins.unschedule': 'always' },
    calls: ['schedule.once', 'schedule.cancel'],
  },
  purge: {
    doc: 'Removing a deleted object for good',
    ...nobodyElse,
    operations: { 'issues.purge': 'always' },
  },
  seats: {
    doc: 'Seats and roles handed out: members, invitations, and what is joined through them',
    ...nobodyElse,
    operations: {
      'members.create': byRank,
      'members.update': byRank,
      'members.invite': byRank,
      'join.take': 'with the link of an invitation',
      'join.take-signed-in': 'with an invitation to an address that was verified',
    },
  },
  keys: {
    doc: 'API keys, shown once',
    ...{ member: 'own', guest: 'own', app: false },
    operations: { 'api-keys.create': 'always', 'api-keys.roll': 'always' },
  },
  'signing-secrets': {
    doc: 'Secrets of webhooks, OAuth apps and routes of plugins, shown once',
    ...nobodyElse,
    operations: {
      'webhooks.create': 'always',
      'webhooks.rotate': 'always',
      'oauth-apps.create': 'always',
      'oauth-apps.rotate-secret': 'always',
      'plugins.open-route': 'always',
    },
  },
  'webhook-requests': {
    doc: 'Requests to the receivers of webhooks',
    ...nobodyElse,
    operations: {
      'webhooks.create': 'always',
      'webhooks.update': 'always',
      'webhooks.ping': 'always',
      'webhooks.sample': 'always',
      'webhooks.replay': 'always',
      'deliveries.replay': 'always',
    },
  },
} as const satisfies Readonly<Record<string, Effect>>;

export type EffectName = keyof typeof effectTable;

/** The effects that each operation always has. */
const alwaysOf = new Map<string, Effect[]>();
for (const effect of Object.values<Effect>(effectTable))
  for (const [name, when] of Object.entries(effect.operations))
    if (when === 'always') alwaysOf.set(name, [...(alwaysOf.get(name) ?? []), effect]);

/** The effects that an operation has in every case; undefined for most. */
export function effectsOf(operation: string): readonly Effect[] | undefined {
  return alwaysOf.get(operation);
}

/** A quota: who has which share. Its numbers stand in the code that counts, by the names given here. */
interface Quota {
  readonly doc: string;
  /** The constant or setting that holds the numbers, with its file. */
  readonly numbers: string;
  readonly member: string;
  readonly guest: string;
  readonly app: string;
}

const asMember = 'as of a member';
const withMember = 'out of the share of its member';

export const quotaTable: Readonly<Record<string, Quota>> = {
  requests: {
    doc: 'Requests a minute, below the total of the workspace',
    numbers: '`memberPerMinute` of `core/http/rate-limit.ts`; `--rate-member`',
    member:
      'all keys, sessions and grants together: half of the total at most, and a reserved share that others cannot use up',
    guest: asMember,
    app: 'half of the limit of its member at most, all apps together',
  },
  routes: {
    doc: 'Requests a minute of one credential on one route',
    numbers: '`perMinute` of `core/http/rate-limit.ts`',
    ...{
      member: 'each credential; a rolled key goes on with the count of its predecessor',
      guest: asMember,
      app: 'each grant',
    },
  },
  connections: {
    doc: 'Event streams and subscriptions that are open',
    numbers: '`connectionsOfMember` of `core/lib/fairness/shares.ts`',
    ...{ member: '20 for each credential, 50 together', guest: asMember, app: withMember },
  },
  'waiting-places': {
    doc: 'Places in fair queues, and memory of bodies, answers and staged writes',
    numbers: '`Shares` of `core/lib/fairness/shares.ts`',
    ...{
      member: 'half of what is free for a workspace alone, a quarter for one member',
      guest: asMember,
      app: 'a party of its own beside its member, one for all apps',
    },
  },
  'public-triage': {
    doc: 'Requests to `POST /triage` that are answered or wait, without a token',
    numbers: '`placesMax` of `core/plugins/public-triage/triage.ts`',
    ...{ member: 'a quarter of the places for each address', guest: asMember, app: asMember },
  },
  'client-documents': {
    doc: 'Client documents of OAuth that are fetched at once',
    numbers: '`fetchesAtOnceMax` of `core/oauth/clients/documents.ts`',
    ...{ member: 'a quarter of the places for each address', guest: asMember, app: asMember },
  },
};
