// Whether a subscription wants an event: the plugin may read it, did not cause it unless it asked for its own, and its filter
// takes it.
import type { EventEnvelope, EventRow } from '../events/event.ts';
import type { LoopTurns } from '../lib/fairness/loop-turns.ts';
import type { Searched } from '../lib/filter-match.ts';
import { mayReadEvent } from '../rights/rights.ts';
import { scopeOf, type Scope } from '../store/store.ts';
import type { Subscription } from './registry.ts';

/** An event as filters see it; subscriptions to one event share it. */
interface Filtered {
  readonly shown: EventEnvelope;
  readonly searched: Searched;
}

export type Wants = (
  scope: Scope,
  subscription: Subscription,
  event: EventRow,
  filtered: Filtered,
) => Promise<boolean>;

/** @param turns in which filters are looked at; the plugin pays for its own */
export function createWants(turns: LoopTurns): Wants {
  return async (scope, { install, self, passes, rights }, event, { shown, searched }) => {
    if (!mayReadEvent(rights, shown)) return false;
    if (self === 'skip' && event.actor.id === install.id) return false;
    if (passes === null) return true;
    const payer = scopeOf(scope.workspaceId, install.id);
    return turns.run(payer, () => passes(shown.data, searched, event.createdAt));
  };
}
