// Decides if a subscription matches an event: the plugin can read it, did not cause it (unless `self` is `deliver`), and its filter
// passes it.
import type { EventEnvelope, EventRow } from '../../../kernel/events/event.ts';
import type { LoopQueue } from '../../../platform/lib/fairness/loop-queue.ts';
import type { Searched } from '../../../platform/lib/filter/filter-match.ts';
import { mayReadEvent } from '../../../kernel/rights/rights.ts';
import { scopeOf, type Scope } from '../../../platform/store/store.ts';
import type { Subscription } from '../registry.ts';

/** An event prepared for filters; all subscriptions to the event share it. */
interface Filtered {
  readonly envelope: EventEnvelope;
  readonly searched: Searched;
}

export type SubscriptionMatcher = (
  scope: Scope,
  subscription: Subscription,
  event: EventRow,
  filtered: Filtered,
) => Promise<boolean>;

/** @param fairQueue queue that runs the filters, charged to the plugin's account */
export function createMatcher(fairQueue: LoopQueue): SubscriptionMatcher {
  return async (scope, { install, self, passes, rights }, event, { envelope, searched }) => {
    if (!mayReadEvent(rights, envelope)) return false;
    if (self === 'skip' && isOwn(install.id, event)) return false;
    if (passes === null) return true;
    const billingAccount = scopeOf(scope.workspaceId, install.id);
    return fairQueue.run(billingAccount, () => passes(envelope.data, searched, event.createdAt));
  };
}

/** True if the plugin caused the event, directly or through a person who approved or undid its writes. */
function isOwn(installId: string, { actor, cause }: EventRow): boolean {
  if (actor.id === installId) return true;
  if (actor.kind === 'plugin' || actor.kind === 'system' || cause.depth === 0) return false;
  return cause.path.some((step) => step === installId || step.startsWith(`${installId}:`));
}
