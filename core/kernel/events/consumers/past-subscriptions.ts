// Stores earlier subscriptions, because an event is matched against the subscriptions at the time it
// happened, even if it is read later or again after a crash. The batch that changes a subscription stores the
// old one with the last sequence it applies to; the batch that stores the consumer's cursor deletes those it
// no longer needs. See docs/decisions/0026.
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import { pastSubscriptionTable } from '../../tables.ts';

const insertPast = tenantStatement(
  'past_subscriptions.insert',
  `INSERT OR IGNORE INTO past_subscriptions (workspace_id, consumer, until_sequence, id, subscription_json)
   SELECT :ws, :consumer, coalesce(max(sequence), 0), :id, :wants FROM events WHERE workspace_id = :ws`,
);
const forget = tenantStatement(
  'past_subscriptions.delete',
  'DELETE FROM past_subscriptions WHERE workspace_id = :ws AND consumer = :consumer AND until_sequence <= :through',
);
const list = pastSubscriptionTable.select(
  'list',
  ['id', 'until_sequence', 'subscription_json'],
  ['consumer'],
  'ORDER BY until_sequence',
);

/** Subscription of a subscriber up to a sequence. */
export interface PastSubscription<W> {
  readonly id: string;
  /** Sequence of the last event before the change. */
  readonly until: number;
  readonly subscription: W;
}

/** Returns an op that must precede the events of its batch. */
export function storeSubscriptionOp(scope: Scope, consumer: string, id: string, subscription: object): Op {
  return tenantOp(scope, insertPast, { consumer, id, wants: JSON.stringify(subscription) });
}

export function forgetSubscriptionsOp(scope: Scope, consumer: string, through: number): Op {
  return tenantOp(scope, forget, { consumer, through });
}

/** Returns the earlier subscriptions in log order. */
export async function readPastSubscriptions<W>(
  store: Store,
  scope: Scope,
  consumer: string,
): Promise<PastSubscription<W>[]> {
  const rows = await list.all(store, scope, { consumer });
  return rows.map((row) => ({
    id: row.id,
    until: row.until_sequence,
    subscription: JSON.parse(row.subscription_json) as W,
  }));
}

/** Current listeners, and listeners at the time of an earlier event. */
export interface Eras<L> {
  readonly now: L;
  /** Returns the listeners at the time of the event with this sequence. */
  at(sequence: number): L;
  /** Last sequence that is matched against earlier subscriptions; 0 if there are none. */
  readonly pastUntil: number;
}

/**
 * @param then returns a subscriber with its earlier subscription; undefined if that subscription is irrelevant
 * @param listenersOf builds the lookup structure of the subscribers of one time; called on first use
 */
export function erasOf<S extends { readonly id: string }, W, L>(
  now: readonly S[],
  past: readonly PastSubscription<W>[],
  then: (past: PastSubscription<W>, now: S | undefined) => S | undefined,
  listenersOf: (subscribers: readonly S[]) => L,
): Eras<L> {
  const current = new Map(now.map((one) => [one.id, one]));
  const ends = [...new Set(past.map(({ until }) => until))].sort((a, b) => a - b);
  const listenersByEnd = new Map<number, L>();
  const subscribersUntil = (end: number): S[] => {
    const of = new Map<string, S | undefined>(current);
    // Latest first, so that the first change after an event decides.
    for (const one of past.toReversed()) if (one.until >= end) of.set(one.id, then(one, current.get(one.id)));
    return [...of.values()].filter((one) => one !== undefined);
  };
  const listeners = listenersOf(now);
  const pastUntil = ends.at(-1) ?? 0;
  return {
    now: listeners,
    pastUntil,
    at(sequence) {
      const end = sequence <= pastUntil ? ends.find((one) => sequence <= one) : undefined;
      if (end === undefined) return listeners;
      const known = listenersByEnd.get(end) ?? listenersOf(subscribersUntil(end));
      listenersByEnd.set(end, known);
      return known;
    },
  };
}
