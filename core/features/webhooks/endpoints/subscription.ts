// Subscription of an endpoint: the properties that select its events. A change stores the previous subscription, so
// that each event is matched against the subscription at its time.
import { sameValue } from '../../../kernel/changes/change.ts';
import { storeSubscriptionOp } from '../../../kernel/events/consumers/past-subscriptions.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';

/** Name of the consumer that turns events into deliveries. */
export const consumerName = 'webhooks';

/** Properties that decide which events an endpoint receives, and in which order. */
export interface EndpointSubscription {
  readonly enabled: boolean;
  readonly events: readonly string[];
  readonly namespaces: readonly string[];
  readonly filter: unknown;
  readonly ordering: 'none' | 'entity';
  readonly sinceSequence: number;
}

type Stored = EndpointSubscription & { readonly id: string; readonly deletedAt: number | null };

function subscriptionOf({
  enabled,
  deletedAt,
  events,
  namespaces,
  filter,
  ordering,
  sinceSequence,
}: Stored): EndpointSubscription {
  return { enabled: enabled && deletedAt === null, events, namespaces, filter, ordering, sinceSequence };
}

/** Returns the ops that store the previous subscription, for the batch of the change, before its events. */
export function storePastSubscription(scope: Scope, before: Stored, after: Stored): Op[] {
  const [previous, subscription] = [subscriptionOf(before), subscriptionOf(after)];
  return sameValue(previous, subscription)
    ? []
    : [storeSubscriptionOp(scope, consumerName, before.id, previous)];
}
