// Subscriptions of installs by event type. An index by the equality terms of their filters finds the few that an
// event can match, so that an event costs the same with one or hundreds of other automations.
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import {
  parseFilter,
  type Filter,
  type FilterFields,
  type FilterValue,
} from '../../../platform/lib/filter/filter.ts';
import {
  createSearched,
  equalityOf,
  passesOf,
  type Passes,
} from '../../../platform/lib/filter/filter-match.ts';
import type { Rights } from '../../../kernel/rights/rights.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { changeTestOf, type ChangeTest, type RuleSubscription } from '../../automations/index.ts';
import { matchingTypes, rightsOfInstall } from './manifest.ts';
import type { Install } from './model.ts';

export interface Subscription {
  readonly install: Install;
  readonly rights: Rights;
  readonly type: string;
  /** Matches event data against the filter; null if the subscription has none. */
  readonly passes: Passes | null;
  /** Matches the change, the actor and the time of an event; null for a plugin. */
  readonly changes: ChangeTest | null;
  readonly self: 'skip' | 'deliver';
  readonly order: 'issue' | 'none';
}

/** Subscriptions to one event type. */
export interface Subscribed {
  readonly all: readonly Subscription[];
  /** Returns the subscriptions that events with this data can match, in the order of `all`. */
  candidates(data: EventRow['data']): readonly Subscription[];
}

export type ByType = ReadonlyMap<string, Subscribed>;

export const unsubscribed: Subscribed = { all: [], candidates: () => [] };

/** Dependencies for building a subscription. */
interface Reading {
  readonly log: Log;
  readonly filterFields: (eventType: string) => FilterFields;
}

/** Returns the subscriptions of installs by event type, limited to events that they can read. */
export function byTypeOf(reading: Reading, installs: readonly Install[]): ByType {
  const byType = new Map<string, Indexed[]>();
  for (const install of installs) {
    const rights = rightsOfInstall(install);
    for (const type of matchingTypes(install)) {
      const list = byType.get(type) ?? [];
      byType.set(type, list);
      list.push(subscriptionOf(reading, install, rights, type));
    }
  }
  return new Map([...byType].map(([type, list]) => [type, subscribedOf(list)]));
}

interface Indexed {
  readonly subscription: Subscription;
  readonly term: Term | null;
}

/** Term that every matching event has: one of `values` is among those that `read` returns. */
interface Term {
  readonly key: string;
  readonly values: readonly FilterValue[];
  read(data: EventRow['data']): readonly FilterValue[];
}

function subscriptionOf(reading: Reading, install: Install, rights: Rights, type: string): Indexed {
  const subscription = install.manifest.on?.[type] ?? {};
  const { self = 'skip', order = 'issue' } = subscription;
  const base = { install, rights, type, self, order };
  const fields = reading.filterFields(type);
  try {
    const filter = parsed(subscription.filter, fields);
    const passes = filter && passesOf(filter, fields);
    // Only rules have tests of the change; the manifest of a package has none.
    const rule = subscription as RuleSubscription;
    const to = parsed(rule.to, fields);
    return {
      subscription: { ...base, passes, changes: changeTestOf(rule, fields) },
      term: (filter && equalityOf(filter, fields)) ?? (to && equalityOf(to, fields)) ?? changedTerm(rule),
    };
  } catch (error) {
    // The filter was valid under the rules at installation; one invalid filter must not block the workspace.
    reading.log('error', 'plugin filter is invalid', {
      pluginId: install.id,
      error: errorForLog(error),
    });
    return { subscription: { ...base, passes: () => false, changes: null }, term: null };
  }
}

const parsed = (filter: unknown, fields: FilterFields): Filter | null =>
  filter ? parseFilter(filter, fields, 'filter', { wasTaken: true }) : null;

function changedTerm({ changed }: RuleSubscription): Term | null {
  if (!changed) return null;
  return { key: 'changed', values: changed, read: ({ previous }) => Object.keys(previous ?? {}) };
}

function subscribedOf(list: readonly Indexed[]): Subscribed {
  const all = list.map(({ subscription }) => subscription);
  const byKey = new Map<string, { readonly read: Term['read']; readonly at: Map<FilterValue, number[]> }>();
  const others: number[] = [];
  for (const [position, { term }] of list.entries()) {
    if (!term) {
      others.push(position);
      continue;
    }
    const group = byKey.get(term.key) ?? { read: term.read, at: new Map<FilterValue, number[]>() };
    byKey.set(term.key, group);
    for (const value of term.values) group.at.set(value, [...(group.at.get(value) ?? []), position]);
  }
  const groups = [...byKey.values()];
  if (groups.length === 0) return { all, candidates: () => all };
  return {
    all,
    candidates(data) {
      const found = new Set(others);
      for (const { read, at } of groups)
        for (const value of read(data)) for (const position of at.get(value) ?? []) found.add(position);
      return [...found].sort((a, b) => a - b).map((position) => all[position]!);
    },
  };
}

/** Returns true if a filter can be tested on the events of a type. */
export function isTestable(filter: object, fields: FilterFields): boolean {
  try {
    passesOf(parseFilter(filter, fields, 'filter'), fields)({}, createSearched(), 0);
    return true;
  } catch {
    return false;
  }
}
