// Second half of the table of rights, in addition to the roles (`roles.ts`): quotas, and effects other than
// writes of objects. docs/roles.md is generated from both. `core/kernel/http/limits/admission.ts` enforces
// the effects. Also redacts objects for callers with narrowed scopes.
import type { EventType } from '../events/catalogue.ts';
import type { EventEnvelope } from '../events/event.ts';
import { type Narrowing, narrowingOf, type Rights, scopeOfEvent } from './rights.ts';

/** `own`: only for objects of the member. */
type May = boolean | 'own';

export interface Effect {
  readonly doc: string;
  /** Additional scope of the effect; absent if the scope of the operation suffices. */
  readonly scope?: string;
  /**
   * Rights by role and for apps. Owners and admins always have the right; `app` also limits apps that act for
   * them.
   */
  readonly member: May;
  readonly guest: May;
  readonly app: May;
  /**
   * Operations with this effect. `always`: the effect applies to every call. Another text describes the
   * condition, or the code that decides; the operation itself then checks the right.
   */
  readonly operations: Readonly<Record<string, 'always' | (string & {})>>;
  /** Host calls of plugins that are not API operations. */
  readonly calls?: readonly string[];
}

const nobodyElse = { member: false, guest: false, app: false } as const;
const hiddenWithout = 'omitted from the response without the scope';
const byRank = 'as core/features/people/roles.ts decides';

export const effectTable = {
  'outside-requests': {
    doc: 'Requests of a plugin to other servers, with its secrets, on behalf of the caller of its action',
    scope: 'automations:write',
    member: true,
    guest: false,
    app: true,
    operations: {
      'plugins.call-action': 'if the manifest names hosts or secrets',
      'automations.run': 'if an action of the automation sends requests',
      'proposals.rerun': 'for a proposal of a plugin, if the manifest names hosts or secrets',
      'proposals.approve':
        'for a proposal of a plugin whose base has changed, if the manifest names hosts or secrets',
    },
    calls: ['net.fetch', 'actions.call'],
  },
  'repeated-runs': {
    doc: 'Rerun of a plugin for a proposal that is out of date',
    member: true,
    guest: false,
    app: false,
    operations: { 'proposals.rerun': 'always' },
  },
  'plugin-runs': {
    doc: 'Code of plugins, and runs with everything granted to a plugin, including requests and secrets',
    ...nobodyElse,
    operations: {
      'plugins.install': 'always',
      'plugins.update': 'always',
      'plugins.consent.give': 'always',
      'plugins.rollback': 'always',
      'plugins.run-schedule': 'always',
      'runs.retry': 'always',
      'plugins.catch-up': 'always',
      'plugins.open-route': 'always',
      'automations.open-webhook': 'by the owner of the automation or an admin',
      'plugins.begin-shadow': 'always',
    },
  },
  'plugin-secrets': {
    doc: 'Setting and deleting secrets of plugins. Their values cannot be read',
    ...nobodyElse,
    operations: {
      'plugins.secrets.set': 'always',
      'plugins.secrets.delete': 'always',
      'automation-hosts.set-secret': 'always',
    },
  },
  recordings: {
    doc: 'Recordings of runs: input, calls and responses',
    scope: 'plugins:write',
    ...nobodyElse,
    operations: { 'runs.recording': 'always', 'runs.replay': 'always' },
  },
  logs: {
    doc: 'Text of plugins that may contain data from other servers: logs, results, error messages, values of effects and of one-time jobs',
    scope: 'plugins:write',
    ...nobodyElse,
    operations: {
      'plugins.runs': hiddenWithout,
      'runs.get': hiddenWithout,
      'runs.recording': 'always',
      'runs.cancel': 'always',
      'runs.retry': 'always',
      'plugins.run-schedule': 'always',
      'plugins.scheduled': hiddenWithout,
      'plugins.shadow': hiddenWithout,
      'issues.trail': hiddenWithout,
      'plugins.call-action': `${hiddenWithout}; the caller of an action sees its result`,
      'plugins.action-run': `${hiddenWithout}; the caller of the action sees its result`,
      'automations.health': `${hiddenWithout}; the owner of the automation sees error messages`,
      'automations.run': `${hiddenWithout}; the caller sees the result`,
      'automations.simulate': 'with the rights of the caller: lines about unmet conditions',
    },
  },
  kv: {
    doc: 'Stored values of a plugin. A plugin has access to its own values',
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
  'one-time-jobs': {
    doc: 'One-time jobs scheduled by a plugin. They run with the current rights of the requester',
    ...nobodyElse,
    operations: { 'plugins.unschedule': 'always' },
    calls: ['schedule.once', 'schedule.cancel'],
  },
  purge: {
    doc: 'Permanent removal of a deleted object',
    ...nobodyElse,
    operations: { 'issues.purge': 'always' },
  },
  memberships: {
    doc: 'Memberships and roles: members, invitations, and joining through them',
    ...nobodyElse,
    operations: {
      'members.create': byRank,
      'members.update': byRank,
      'members.invite': byRank,
      'join.take': 'with an invitation link',
      'join.take-signed-in': 'with an invitation to a verified address',
    },
  },
  keys: {
    doc: 'Creation of API keys, which are shown once',
    member: 'own',
    guest: 'own',
    app: false,
    operations: { 'api-keys.create': 'always', 'api-keys.roll': 'always' },
  },
  'signing-secrets': {
    doc: 'Creation of secrets of webhooks, OAuth apps and plugin routes, which are shown once',
    ...nobodyElse,
    operations: {
      'webhooks.create': 'always',
      'webhooks.rotate': 'always',
      'oauth-apps.create': 'always',
      'oauth-apps.rotate-secret': 'always',
      'plugins.open-route': 'always',
      'automations.open-webhook': 'by the owner of the automation or an admin',
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

/** Effects with `always`, by operation. */
const alwaysOf = new Map<string, Effect[]>();
for (const effect of Object.values<Effect>(effectTable))
  for (const [name, when] of Object.entries(effect.operations))
    if (when === 'always') alwaysOf.set(name, [...(alwaysOf.get(name) ?? []), effect]);

/** Returns the effects that every call of an operation has; undefined for none. */
export function effectsOf(operation: string): readonly Effect[] | undefined {
  return alwaysOf.get(operation);
}

/** Effects whose operations need a recent sign-in of a person who uses the web app. */
const sensitiveEffects = ['plugin-secrets', 'memberships', 'keys', 'signing-secrets'] as const;

/** Operations that let plugins run code or settings that they did not run before, or that approve any change. */
const sensitiveRuns = [
  ...['proposals.approve', 'plugins.install', 'plugins.update', 'plugins.consent.give', 'plugins.rollback'],
  'plugins.begin-shadow',
];

/**
 * Acceptance of an invitation gives access to the account of the person only, which still needs a sign-in.
 * docs/decisions/0101.
 */
const invitationPages = ['join.take', 'join.take-signed-in'];

type Sensitive = 'always' | readonly string[];

/**
 * Operations that a person may perform by session only shortly after a sign-in: a passer-by at an unlocked
 * browser must not be able to create lasting access. The value is `always`, or the fields that the condition
 * is limited to: those that send events, or codes of OAuth, to another address, that show issues to anybody, or
 * that decide which writes of agents need approval.
 */
export const sensitiveOperations: ReadonlyMap<string, Sensitive> = new Map<string, Sensitive>([
  ...[...sensitiveRuns, ...sensitiveEffects.flatMap((name) => Object.keys(effectTable[name].operations))]
    .filter((name) => !invitationPages.includes(name))
    .map((name) => [name, 'always'] as const),
  ['webhooks.update', ['url']],
  ['oauth-apps.update', ['redirectUris']],
  ['workspace.update', ['publicTriage', 'guarded']],
]);

/** Distribution of a quota among callers. */
interface Quota {
  readonly doc: string;
  /** Constant or setting with the numbers, and its file. */
  readonly numbers: string;
  readonly member: string;
  readonly guest: string;
  readonly app: string;
}

const asMember = 'same as a member';
const withMember = 'counts toward the share of its member';

export const quotaTable: Readonly<Record<string, Quota>> = {
  requests: {
    doc: 'Requests per minute, within the limit of the workspace',
    numbers: '`memberPerMinute` of `core/kernel/http/limits/rate-limit.ts`; `--rate-member`',
    member:
      'over all keys, sessions and grants: at most half of the limit, with a reserved share that others cannot use up',
    guest: asMember,
    app: 'over all apps: at most half of the limit of the member',
  },
  routes: {
    doc: 'Requests per minute, credential and route',
    numbers: '`perMinute` of `core/kernel/http/limits/rate-limit.ts`',
    member: 'per credential; a rolled key continues the count of its predecessor',
    guest: asMember,
    app: 'per grant',
  },
  connections: {
    doc: 'Open event streams and subscriptions',
    numbers: '`connectionsOfMember` of `core/platform/lib/fairness/fair-quota.ts`',
    member: '20 per credential, 50 in total',
    guest: asMember,
    app: withMember,
  },
  'waiting-places': {
    doc: 'Slots in fair queues, and memory of bodies, responses and staged writes',
    numbers: '`FairQuota` of `core/platform/lib/fairness/fair-quota.ts`',
    member: 'at most half of the capacity for one workspace, and a quarter for one member',
    guest: asMember,
    app: 'one share for all apps of a member, in addition to the share of the member',
  },
  'public-triage': {
    doc: 'Running and queued requests to `POST /triage`, without a token',
    numbers: '`queuedMax` of `core/features/plugins/public-triage.ts`',
    member: 'a quarter of the slots per address',
    guest: asMember,
    app: asMember,
  },
  'client-documents': {
    doc: 'OAuth client documents fetched at the same time',
    numbers: '`fetchesAtOnceMax` of `core/features/oauth/clients/documents.ts`',
    member: 'a quarter of the slots per address',
    guest: asMember,
    app: asMember,
  },
};

/** Fields that are never removed, because they identify the object and its version. */
const always = ['id', 'version', 'createdAt', 'updatedAt'];

/**
 * Returns what a caller with a narrowed scope may see: only the fields of the scope, and only references to
 * issues of its teams. Responses do not disclose if an invisible object exists.
 * @param value object, page of objects, or event data
 */
export function redact(value: unknown, { fields, teams }: Narrowing): unknown {
  const visible = fields === null ? value : onlyFields(value, fields);
  return teams === null ? visible : withoutOthers(visible, teams);
}

/**
 * Redacts an event that the holder may read. The path of the cause is removed, because it contains issues
 * without their teams.
 */
export function redactEvent(rights: Rights, event: EventEnvelope): EventEnvelope {
  const narrowing = rights.narrowed && narrowingOf(rights, scopeOfEvent(event.type));
  if (!narrowing) return event;
  const cause = narrowing.teams === null ? event.cause : { ...event.cause, path: [] };
  return { ...event, cause, data: redactEventData(rights, event) };
}

export function redactEventData(
  rights: Rights,
  { type, data }: { readonly type: EventType; readonly data: EventEnvelope['data'] },
): EventEnvelope['data'] {
  const narrowing = rights.narrowed && narrowingOf(rights, scopeOfEvent(type));
  return narrowing ? (redact(data, narrowing) as EventEnvelope['data']) : data;
}

function onlyFields(value: unknown, fields: readonly string[]): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value.data) && 'pageInfo' in value)
    return { ...value, data: value.data.map((item) => onlyFields(item, fields)) };
  const entries = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    if (name === 'previous') return [[name, onlyFields(inner, fields)]];
    return always.includes(name) || fields.includes(name) ? [[name, inner]] : [];
  });
  return Object.fromEntries(entries);
}

/** Replaces references to issues of other teams with null, and removes them from lists. */
function withoutOthers(value: unknown, teams: readonly string[]): unknown {
  if (Array.isArray(value))
    return value.map((item) => withoutOthers(item, teams)).filter((item) => item !== null);
  if (!isObject(value)) return value;
  if (isOfOther(value, teams)) return null;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutOthers(inner, teams)]),
  );
}

function isOfOther({ identifier }: Readonly<Record<string, unknown>>, teams: readonly string[]): boolean {
  const [, key] = (typeof identifier === 'string' && /^([A-Z][A-Z0-9]*)-\d+$/.exec(identifier)) || [];
  return key !== undefined && !teams.includes(key);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object';
}
