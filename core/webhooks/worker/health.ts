// How endpoints are doing: consecutive failures, and since when. Kept in memory for the workers and in a table for the next start.
// docs/spec/webhooks.md › Disabling.
import { LRUCache } from 'lru-cache';
import type { Op, Scope, Store } from '../../store/store.ts';
import { readHealth, writeHealthOp, type EndpointHealth } from '../deliveries/rows.ts';

/** After so many consecutive failures an endpoint is tried one delivery at a time. */
const probeAfter = 10;
/** An endpoint is switched off once all its deliveries have failed for this long. */
const disableAfterMs = 120 * 3_600_000;
/** The last success of an endpoint that works is written this often, so a crash forgets at most so much. */
const successNotedMs = 10_000;
/** Endpoints remembered, far more than have an attempt under way. The health of others is read from their row. */
export const endpointsMax = 10_000;

const healthy: EndpointHealth = { consecutiveFailures: 0, failingSince: null, succeededAt: null };

interface Known {
  readonly health: EndpointHealth;
  /** The last success that was written down since the health was read; 0 where none was. */
  readonly notedMs: number;
}

export interface Healths {
  isLoaded(endpointId: string): boolean;
  /** To be called before `note`, where the health is not loaded. */
  load(scope: Scope, endpointId: string): Promise<void>;
  /** Counts an attempt. @returns the op that records it, or none where an endpoint goes on working */
  note(scope: Scope, endpointId: string, worked: boolean, nowMs: number): Op[];
  /** Whether an endpoint has failed so often that it is tried one delivery at a time. */
  isProbing(endpointId: string): boolean;
  /** Whether an endpoint has failed for so long that it is to be switched off. */
  isHopeless(endpointId: string, nowMs: number): boolean;
  /** When a delivery to an endpoint last succeeded. */
  lastSucceededAt(scope: Scope, endpointId: string): Promise<number | null>;
  forgive(endpointId: string): void;
  forgiveOp(scope: Scope, endpointId: string): Op;
}

export function createHealths(store: Store): Healths {
  const known = new LRUCache<string, Known>({ max: endpointsMax });
  const healthOf = (endpointId: string): EndpointHealth => known.peek(endpointId)?.health ?? healthy;
  return {
    isLoaded: (endpointId) => known.has(endpointId),
    async load(scope, endpointId) {
      const row = await store.readOne(scope, readHealth, { id: endpointId });
      // Others may have counted while this was read.
      if (!known.has(endpointId)) known.set(endpointId, { health: row ? fromRow(row) : healthy, notedMs: 0 });
    },
    note(scope, endpointId, worked, nowMs) {
      const { health: before, notedMs } = known.get(endpointId) ?? { health: healthy, notedMs: 0 };
      const after = worked
        ? { ...healthy, succeededAt: nowMs }
        : {
            ...before,
            consecutiveFailures: before.consecutiveFailures + 1,
            // A time that is still to come was taken by a clock that has been set back since.
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
