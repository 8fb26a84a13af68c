// Health of endpoints: consecutive failures and their start. Cached in memory for the workers, and stored for the
// next start. Spec: docs/spec/webhooks.md › Disabling.
import { createLru } from '../../../platform/lib/lru.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import { endpointHealthTable } from '../tables.ts';

/** After this many consecutive failures an endpoint is probed with one delivery at a time. */
const probeAfter = 10;
/** An endpoint is disabled once all of its deliveries have failed for this long. */
const disableAfterMs = 120 * 3_600_000;
/** The last success of a working endpoint is stored this often, so a crash loses at most this much. */
const successNotedMs = 10_000;
/** Limit of cached endpoints, far more than have a running attempt. Others are read from their row. */
export const endpointsMax = 10_000;

/** Failures since the last success, the time of the first of them, and the time of the last success. */
type EndpointHealth = Omit<RowOf<typeof endpointHealthTable>, 'id'>;

const healthy: EndpointHealth = { failures: 0, failing_since: null, succeeded_at: null };

const readHealth = endpointHealthTable.select('read', ['failures', 'failing_since', 'succeeded_at'], ['id']);
const writeHealth = tenantStatement(
  'endpoint_health.write',
  `INSERT INTO endpoint_health (workspace_id, id, failures, failing_since, succeeded_at)
   VALUES (:ws, :id, :failures, :failing_since, :succeeded_at)
   ON CONFLICT (workspace_id, id) DO UPDATE SET failures = :failures, failing_since = :failing_since,
     succeeded_at = coalesce(:succeeded_at, succeeded_at)`,
);
const writeHealthOp = (scope: Scope, id: string, health: EndpointHealth): Op =>
  tenantOp(scope, writeHealth, { id, ...health });

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
  const known = createLru<string, KnownHealth>(endpointsMax);
  const healthOf = (endpointId: string): EndpointHealth => known.peek(endpointId)?.health ?? healthy;
  return {
    isLoaded: (endpointId) => known.has(endpointId),
    async load(scope, endpointId) {
      const health = (await readHealth.one(store, scope, { id: endpointId })) ?? healthy;
      // A concurrent attempt may have loaded and changed the health during the read.
      if (!known.has(endpointId)) known.set(endpointId, { health, notedMs: 0 });
    },
    note(scope, endpointId, worked, nowMs) {
      const { health: before, notedMs } = known.get(endpointId) ?? { health: healthy, notedMs: 0 };
      const after = worked
        ? { ...healthy, succeeded_at: nowMs }
        : {
            ...before,
            failures: before.failures + 1,
            // A time in the future was recorded before the clock was set back.
            failing_since: Math.min(before.failing_since ?? nowMs, nowMs),
          };
      const isNoted = worked && before.failures === 0 && Math.abs(nowMs - notedMs) < successNotedMs;
      known.set(endpointId, { health: after, notedMs: worked && !isNoted ? nowMs : notedMs });
      return isNoted ? [] : [writeHealthOp(scope, endpointId, after)];
    },
    isProbing: (endpointId) => healthOf(endpointId).failures >= probeAfter,
    async lastSucceededAt(scope, endpointId) {
      const remembered = healthOf(endpointId).succeeded_at;
      return remembered ?? (await readHealth.one(store, scope, { id: endpointId }))?.succeeded_at ?? null;
    },
    isHopeless(endpointId, nowMs) {
      const since = healthOf(endpointId).failing_since;
      return since !== null && nowMs - since >= disableAfterMs;
    },
    forgive(endpointId) {
      const { succeeded_at } = healthOf(endpointId);
      const notedMs = known.peek(endpointId)?.notedMs ?? 0;
      known.set(endpointId, { health: { ...healthy, succeeded_at }, notedMs });
    },
    forgiveOp: (scope, endpointId) => writeHealthOp(scope, endpointId, healthy),
  };
}
