// How endpoints are doing: straight failures, and since when. In memory for the workers, in a row for the next start.
// Decisions › Webhooks, Disabling.
import type { Op, Scope, Store } from '../store/store.ts';
import { readHealth, writeHealthOp, type EndpointHealth } from './deliveries/rows.ts';
import type { Lanes } from './lanes.ts';

/** Straight failures after which an endpoint is tried one delivery at a time. */
const probeAfter = 10;
/** Nothing but failure for this long switches an endpoint off. */
const disableAfterMs = 120 * 3_600_000;

const healthy: EndpointHealth = { failures: 0, failingSince: null };

export interface Healths {
  /** To be called before the first attempt at an endpoint. */
  load(scope: Scope, endpointId: string): Promise<void>;
  isLoaded(endpointId: string): boolean;
  /** Counts an attempt; the op that records it, or none when an endpoint that worked goes on working. */
  note(scope: Scope, endpointId: string, worked: boolean, nowMs: number): Op[];
  /** Whether an endpoint has failed for so long that it is to be switched off. */
  isHopeless(endpointId: string, nowMs: number): boolean;
  forgive(endpointId: string): void;
  forgiveOp(scope: Scope, endpointId: string): Op;
}

export function createHealths(store: Store, lanes: Lanes): Healths {
  const healths = new Map<string, EndpointHealth>();
  const set = (endpointId: string, health: EndpointHealth): void => {
    healths.set(endpointId, health);
    lanes.setProbing(endpointId, health.failures >= probeAfter);
  };
  return {
    async load(scope, endpointId) {
      if (healths.has(endpointId)) return;
      const row = await store.readOne(scope, readHealth, { id: endpointId });
      // Others may have counted while this was read.
      if (!healths.has(endpointId))
        set(endpointId, row ? { failures: row.failures, failingSince: row.failing_since } : healthy);
    },
    isLoaded: (endpointId) => healths.has(endpointId),
    note(scope, endpointId, worked, nowMs) {
      const before = healths.get(endpointId) ?? healthy;
      if (worked && before.failures === 0) return [];
      const after = worked
        ? healthy
        : { failures: before.failures + 1, failingSince: before.failingSince ?? nowMs };
      set(endpointId, after);
      return [writeHealthOp(scope, endpointId, after)];
    },
    isHopeless(endpointId, nowMs) {
      const since = healths.get(endpointId)?.failingSince ?? null;
      return since !== null && nowMs - since >= disableAfterMs;
    },
    forgive: (endpointId) => set(endpointId, healthy),
    forgiveOp: (scope, endpointId) => writeHealthOp(scope, endpointId, healthy),
  };
}
