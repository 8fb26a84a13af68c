// Health of endpoints: consecutive failures and their start. Cached in memory for the workers, and stored for the
// next start. Spec: docs/spec/webhooks.md › Disabling.
import { LRUCache } from 'lru-cache';
import type { Op, Scope, Store } from '../../../platform/store/store.ts';
import { readHealth, writeHealthOp, type EndpointHealth } from './rows.ts';

/** After this many consecutive failures an endpoint is probed with one delivery at a time. */
const probeAfter = 10;
/** An endpoint is disabled once all of its deliveries have failed for this long. */
const disableAfterMs = 120 * 3_600_000;
/** The last success of a working endpoint is stored this often, so a crash loses at most this much. */
const successNotedMs = 10_000;
/** Limit of cached endpoints, far more than have a running attempt. Others are read from their row. */
export const endpointsMax = 10_000;

const healthy: EndpointHealth = { consecutiveFailures: 0, failingSince: null, succeededAt: null };

interface KnownHealth {
  readonly health: EndpointHealth;
  /** Time of the last success that was stored since the health was read; 0 if none. */
  readonly notedMs: number;
}

export interface Healths {
  isLoaded(endpointId: string): boolean;
  /** Call before `note` if the health is not loaded. */
  load(scope: Scope, endpointId: string): Promise<void>;
  /** Counts an attempt. @returns the op that stores the health; none while an endpoint keeps working */
  note(scope: Scope, endpointId: string, worked: boolean, nowMs: number): Op[];
  /** Returns true if an endpoint failed so often that it gets one delivery at a time. */
  isProbing(endpointId: string): boolean;
  /** Returns true if an endpoint failed for so long that it must be disabled. */
  isHopeless(endpointId: string, nowMs: number): boolean;
  /** Returns the time of the last successful delivery in Unix milliseconds; null if there is none. */
  lastSucceededAt(scope: Scope, endpointId: string): Promise<number | null>;
  forgive(endpointId: string): void;
  forgiveOp(scope: Scope, endpointId: string): Op;
}

export function createHealths(store: Store): Healths {
  const known = new LRUCache<string, KnownHealth>({ max: endpointsMax });
  const healthOf = (endpointId: string): EndpointHealth => known.peek(endpointId)?.health ?? healthy;
  return {
    isLoaded: (endpointId) => known.has(endpointId),
    async load(scope, endpointId) {
      const row = await store.readOne(scope, readHealth, { id: endpointId });
      // A concurrent attempt may have loaded and changed the health during the read.
      if (!known.has(endpointId)) known.set(endpointId, { health: row ? fromRow(row) : healthy, notedMs: 0 });
    },
    note(scope, endpointId, worked, nowMs) {
      const { health: before, notedMs } = known.get(endpointId) ?? { health: healthy, notedMs: 0 };
      const after = worked
        ? { ...healthy, succeededAt: nowMs }
        : {
            ...before,
            consecutiveFailures: before.consecutiveFailures + 1,
            // A time in the future was recorded before the clock was set back.
            failingSince: Math.min(before.failingSince ?? nowMs, nowMs),
          };
      const isNoted =
        worked && before.consecutiveFailures === 0 && Math.abs(nowMs - notedMs) < successNotedMs;
      known.set(endpointId, { health: after, notedMs: worked && !isNoted ? nowMs : notedMs });
      return isNoted ? [] : [writeHealthOp(scope, endpointId, after)];
    },
    isProbing: (endpointId) => healthOf(endpointId).consecutiveFailures >= probeAfter,
    async lastSucceededAt(scope, endpointId) {
      const remembered = healthOf(endpointId).succeededAt;
      return remembered ?? (await store.readOne(scope, readHealth, { id: endpointId }))?.succeeded_at ?? null;
    },
    isHopeless(endpointId, nowMs) {
      const since = healthOf(endpointId).failingSince;
      return since !== null && nowMs - since >= disableAfterMs;
    },
    forgive(endpointId) {
      const { succeededAt } = healthOf(endpointId);
      const notedMs = known.peek(endpointId)?.notedMs ?? 0;
      known.set(endpointId, { health: { ...healthy, succeededAt }, notedMs });
    },
    forgiveOp: (scope, endpointId) => writeHealthOp(scope, endpointId, healthy),
  };
}

function fromRow(row: {
  failures: number;
  failing_since: number | null;
  succeeded_at: number | null;
}): EndpointHealth {
  return {
    consecutiveFailures: row.failures,
    failingSince: row.failing_since,
    succeededAt: row.succeeded_at,
  };
}
