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
    if (self === 'skip' && isOwn(install.id, event)) return false;
    if (passes === null) return true;
    const payer = scopeOf(scope.workspaceId, install.id);
    return turns.run(payer, () => passes(shown.data, searched, event.createdAt));
  };
}

/** Made by the plugin, or by somebody who takes back or approves what it did: then it did not happen anew. */
function isOwn(installId: string, { actor, cause }: EventRow): boolean {
  if (actor.id === installId) return true;
  if (actor.kind === 'plugin' || actor.kind === 'system' || cause.depth === 0) return false;
  return cause.path.some((step) => step === installId || step.startsWith(`${installId}:`));
}
