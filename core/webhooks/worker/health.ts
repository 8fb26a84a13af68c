// How endpoints are doing: straight failures, and since when. In memory for the workers, in a row for the next start.
// Decisions › Webhooks, Disabling.
import type { Op, Scope, Store } from '../store/store.ts';
import { readHealth, writeHealthOp, type EndpointHealth } from './deliveries/rows.ts';
import type { Lanes } from './lanes.ts';

/** Straight failures after which an endpoint is tried one delivery at a time. */
const probeAfter = 10;
/** Nothing but failure for this long switches an endpoint off. */
const disableAfterMs = 120 * 3_600_000;

/** While an endpoint works, its last success is written down this often; a crash forgets no more. */
const successNotedMs = 10_000;

const healthy: EndpointHealth = { failures: 0, failingSince: null, succeededAt: null };

export interface Healths {
  /** To be called before the first attempt at an endpoint. */
  load(scope: Scope, endpointId: string): Promise<void>;
  /** Counts an attempt; the op that records it, or none when an endpoint that worked goes on working. */
  note(scope: Scope, endpointId: string, worked: boolean, nowMs: number): Op[];
  /** Whether an endpoint has failed for so long that it is to be switched off. */
  isHopeless(endpointId: string, nowMs: number): boolean;
  /** When a delivery to an endpoint last succeeded. */
  lastSucceededAt(scope: Scope, endpointId: string): Promise<number | null>;
  forgive(endpointId: string): void;
  forgiveOp(scope: Scope, endpointId: string): Op;
}

export function createHealths(store: Store, lanes: Lanes): Healths {
  const healths = new Map<string, EndpointHealth>();
  /** What the rows say of the last successes. */
  const noted = new Map<string, number>();
  const set = (endpointId: string, health: EndpointHealth): void => {
    healths.set(endpointId, health);
    lanes.setProbing(endpointId, health.failures >= probeAfter);
  };
  return {
    async load(scope, endpointId) {
      if (healths.has(endpointId)) return;
      const row = await store.readOne(scope, readHealth, { id: endpointId });
      // Others may have counted while this was read.
      if (!healths.has(endpointId)) set(endpointId, row ? fromRow(row) : healthy);
    },
    note(scope, endpointId, worked, nowMs) {
      const before = healths.get(endpointId) ?? healthy;
      const after = worked
        ? { ...healthy, succeededAt: nowMs }
        : { ...before, failures: before.failures + 1, failingSince: before.failingSince ?? nowMs };
      set(endpointId, after);
      const isNoted = Math.abs(nowMs - (noted.get(endpointId) ?? 0)) < successNotedMs;
      if (worked && before.failures === 0 && isNoted) return [];
      if (worked) noted.set(endpointId, nowMs);
      return [writeHealthOp(scope, endpointId, after)];
    },
    async lastSucceededAt(scope, endpointId) {
      const known = healths.get(endpointId)?.succeededAt ?? null;
      return known ?? (await store.readOne(scope, readHealth, { id: endpointId }))?.succeeded_at ?? null;
    },
    isHopeless(endpointId, nowMs) {
      const since = healths.get(endpointId)?.failingSince ?? null;
      return since !== null && nowMs - since >= disableAfterMs;
    },
    forgive: (endpointId) =>
      set(endpointId, { ...healthy, succeededAt: healths.get(endpointId)?.succeededAt ?? null }),
    forgiveOp: (scope, endpointId) => writeHealthOp(scope, endpointId, healthy),
  };
}

function fromRow(row: {
  failures: number;
  failing_since: number | null;
  succeeded_at: number | null;
}): EndpointHealth {
  return { failures: row.failures, failingSince: row.failing_since, succeededAt: row.succeeded_at };
}
