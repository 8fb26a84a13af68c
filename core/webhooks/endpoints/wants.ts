// Which events an endpoint wants, apart from where they go; and how that is kept when it is changed, so that each event is judged by
// what was wanted when it happened.
import { sameValue } from '../../changes/change.ts';
import { keepWantsOp } from '../../events/past-wants.ts';
import type { Op, Scope } from '../../store/store.ts';

/** Of the consumer that turns events into deliveries. */
export const consumerName = 'webhooks';

/** What of an endpoint decides which events are delivered to it, and in which order. */
export interface EndpointWants {
  readonly enabled: boolean;
  readonly events: readonly string[];
  readonly namespaces: readonly string[];
  readonly filter: unknown;
  readonly ordering: 'none' | 'entity';
  readonly sinceSequence: number;
}

type Stored = EndpointWants & { readonly id: string; readonly deletedAt: number | null };

function wantsOf({
  enabled,
  deletedAt,
  events,
  namespaces,
  filter,
  ordering,
  sinceSequence,
}: Stored): EndpointWants {
  return { enabled: enabled && deletedAt === null, events, namespaces, filter, ordering, sinceSequence };
}

/** What goes into the batch of a change, before its events. */
export function keepPastWants(scope: Scope, before: Stored, after: Stored): Op[] {
  const [wanted, wants] = [wantsOf(before), wantsOf(after)];
  return sameValue(wanted, wants) ? [] : [keepWantsOp(scope, consumerName, before.id, wanted)];
}
