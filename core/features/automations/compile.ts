// Compiles a rule for the plugin runtime: the subscriptions, scopes, schedules and hosts of a manifest, and the
// settings that the plugin `automations` reads.
import type { EventType } from '../../kernel/events/catalogue.ts';
import { scopeOfEvent, type ScopeRequests } from '../../kernel/rights/rights.ts';
import { fieldsOf } from '../../kernel/rights/table.ts';
import { IssueCreate, IssueMove, IssueUpdate } from '../issues/index.ts';
import type { Directory } from '../../kernel/context.ts';
import type { Scope, Store } from '../../platform/store/store.ts';
import { foldName } from '../../platform/lib/text/words.ts';
import { hostsIn } from '../automation-hosts/index.ts';
import type { Automation } from './model.ts';
import { ruleOf, type Action, type Conditions, type Rule, type Trigger } from './shape.ts';

/** Subscription of a rule to one event type: a filter, and tests of the change itself. */
export interface RuleSubscription {
  readonly filter?: Readonly<Record<string, unknown>>;
  readonly changed?: readonly string[];
  readonly from?: Readonly<Record<string, unknown>>;
  readonly to?: Readonly<Record<string, unknown>>;
  readonly actor?: Conditions['actor'];
  readonly time?: Conditions['time'];
}

/** Name of the schedule of the plugin that the trigger `schedule` uses. */
export const scheduleName = 'scheduled';

/** Returns true if the data of the events is the issue, so that a filter of issues applies to it. */
export const showsIssue = (event: EventType): boolean => event.startsWith('issue.');

/**
 * Returns the subscriptions of a rule by event type.
 * @param canFilter true if a filter can be tested on events of a type
 */
export function subscriptionsOf(
  { trigger, conditions }: Rule,
  canFilter: CanFilter,
): Readonly<Record<string, RuleSubscription>> {
  if (trigger.type !== 'event') return {};
  const { event, changed, from, to } = trigger;
  const filters = [trigger.filter, isMatched(trigger, conditions, canFilter) ? conditions.issue : undefined];
  const terms = filters.filter((one) => one !== undefined);
  return {
    [event]: {
      ...(terms.length === 0 ? {} : { filter: terms.length === 1 ? terms[0]! : { and: terms } }),
      ...(changed && { changed }),
      ...(from && { from }),
      ...(to && { to }),
      ...(conditions.actor && { actor: conditions.actor }),
      ...(conditions.time && { time: conditions.time }),
    },
  };
}

export type CanFilter = (event: EventType, filter: object) => boolean;

/** True if the condition on the issue is tested on the event, before a run exists. */
function isMatched(trigger: Trigger, { issue }: Conditions, canFilter: CanFilter): boolean {
  if (trigger.type !== 'event' || !showsIssue(trigger.event)) return false;
  return issue === undefined || canFilter(trigger.event, issue);
}

/** Facts of a workspace that a rule is compiled with. */
export interface Compiling {
  readonly canFilter: CanFilter;
  readonly hosts: Hosts;
  readonly members: Directory['members'];
}

/** Settings of the plugin `automations` for one rule. */
export function settingsOf(automation: Automation, { canFilter, hosts, members }: Compiling) {
  const rule = ruleOf(automation);
  const { actor: _, time: __, ...conditions } = rule.conditions;
  return {
    rule: { id: automation.id, name: automation.name, version: automation.revision },
    trigger: rule.trigger,
    conditions,
    issues: rule.issues,
    actions: rule.actions.map((action) => withMemberIds(action, members)),
    matched: isMatched(rule.trigger, rule.conditions, canFilter),
    hosts: Object.fromEntries(
      hostNamesOf(rule).flatMap((name) => {
        const host = hosts.get(name);
        if (!host) return [];
        const { origin, path, secret, header } = host;
        return [[name, { origin, path, secret, header }]];
      }),
    ),
  };
}

/** Replaces names and e-mail addresses of members by ids, because not all host calls accept them. */
function withMemberIds(action: Action, members: Directory['members']): Action {
  if (action.type !== 'assign' && action.type !== 'subscribe') return action;
  const idOf = (name: unknown): string => {
    if (members.has(String(name))) return String(name);
    const wanted = foldName(String(name));
    const found = [...members.values()].find(
      (one) => !one.removed && [one.name, one.email].some((text) => text && foldName(text) === wanted),
    );
    return found?.id ?? String(name);
  };
  return { ...action, members: action.members.map(idOf) };
}

/** Host that an administrator added, by its name. */
interface Host {
  readonly id: string;
  readonly origin: string;
  /** Allowed path; null for all. */
  readonly path: string | null;
  /** Name of the secret in the sandbox; null if none is set. */
  readonly secret: string | null;
  readonly header: string | null;
  readonly format: string | null;
}
export type Hosts = ReadonlyMap<string, Host>;

/** Returns the hosts of a workspace by name. */
export async function readHosts(store: Store, scope: Scope): Promise<Hosts> {
  const rows = await hostsIn(store, scope);
  return new Map(
    rows.map(({ id, name, origin, path, header, format, secret_set_at: setAt }) => {
      const secret = setAt === null || header === null ? null : `HOST_${id.slice(4).toUpperCase()}`;
      return [name, { id, origin, path, secret, header, format }];
    }),
  );
}

export function hostNamesOf({ actions }: Rule): readonly string[] {
  return [...new Set(actions.flatMap((action) => (action.type === 'http' ? [action.host] : [])))];
}

/** Returns the scopes that a rule needs, narrowed to the fields that it writes. */
export function scopesOf(rule: Rule): ScopeRequests {
  const fields = new Set(rule.actions.flatMap(writtenFieldsOf));
  const others = new Set(rule.actions.flatMap(otherScopesOf));
  const { trigger } = rule;
  if (trigger.type === 'event') others.add(scopeOfEvent(trigger.event));
  const written = fields.size > 0;
  if (written) others.delete('issues:read');
  else others.add('issues:read');
  return {
    ...(written ? { 'issues:write': { fields: [...fields].toSorted() } } : {}),
    ...Object.fromEntries([...others].toSorted().map((scope) => [scope, {}])),
  };
}

/** Returns the issue fields that an action writes, by their names in the rights. */
function writtenFieldsOf(action: Action): readonly string[] {
  switch (action.type) {
    case 'set':
      return fieldsOf({ body: IssueUpdate }, action.fields);
    case 'add':
    case 'remove':
      return [action.field];
    case 'assign':
      return fieldsOf({ body: IssueUpdate }, { assigneeId: null });
    case 'cycle':
      return fieldsOf({ body: IssueUpdate }, { cycleId: null });
    case 'move':
      return [
        ...fieldsOf({ body: IssueMove }, { team: '', stateId: '' }),
        'number',
        'labels',
        'snoozedUntil',
      ];
    case 'create':
      return action.issues.flatMap((one) =>
        fieldsOf({ body: IssueCreate }, { ...(one as object), team: '', parentId: null }),
      );
    case 'board':
      return cardFields;
    case 'relate':
      return ['type', 'issueId', 'stateId'];
    case 'subscribe':
      return ['memberId', 'subscribers'];
    default:
      return [];
  }
}

/** Fields that a move to a column of any board can change. */
const cardFields = fieldsOf(
  { body: IssueUpdate },
  {
    ...{ stateId: '', assigneeId: '', priority: '', labels: [], fields: {} },
    ...{ projectId: '', milestoneId: '', cycleId: '', parentId: '' },
  },
);

function otherScopesOf(action: Action): readonly string[] {
  switch (action.type) {
    case 'comment':
      return ['comments:write'];
    case 'board':
      return ['boards:write'];
    case 'release':
      return ['releases:write'];
    case 'cycle':
      return ['cycles:read'];
    case 'set':
      return namesIn(action.fields);
    case 'create':
      return action.issues.flatMap((one) => namesIn(one as object));
    default:
      return [];
  }
}

/** Scopes without which a write finds an object only by its id. */
const scopesOfNames: Readonly<Record<string, string>> = {
  assignee: 'members:read',
  project: 'projects:read',
  milestone: 'projects:read',
  cycle: 'cycles:read',
};

/** Returns the scopes by which the fields can be given as names. */
function namesIn(fields: object): readonly string[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const scope = scopesOfNames[field];
    const isNamed = typeof value === 'string' && !/^[a-z]{3}_/.test(value);
    return scope !== undefined && isNamed ? [scope] : [];
  });
}
