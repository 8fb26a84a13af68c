// Leases assign rows to one process for a limited time. A new row is leased to the process that creates it
// while its subscriber has memory quota left, which saves the claim.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { systemOp, type Scope, type Store } from '../../../platform/store/store.ts';
import { dropLeases, overQuotaMs, neverMs } from './rows.ts';

export const leaseMs = 600_000;

/** Lease columns of a new row, for a caller's own statement. */
interface Lease {
  readonly dueAt: number;
  /** 0 if not leased. */
  readonly leaseUntil: number;
  readonly owner: string | null;
}

export interface Leases {
  lease(scope: Scope, subject: string, dueAtMs: number): Lease;
}

export function createLeases(options: {
  owner: string;
  quota: FairQuota;
  nowMs(): number;
  /** Returns false while new rows must not be leased; they then wait for a claim. */
  mayWork(): boolean;
}): Leases & { draft(): Leases } {
  const { owner, quota, nowMs, mayWork } = options;
  const leaseFrom = (available: FairQuota, scope: Scope, subject: string, dueAtMs: number): Lease => {
    const now = nowMs();
    if (dueAtMs > now || !mayWork()) return { dueAt: dueAtMs, leaseUntil: 0, owner: null };
    if (available.remaining(scope.workspaceId, subject) === 0)
      return { dueAt: overQuotaMs, leaseUntil: 0, owner: null };
    return { dueAt: dueAtMs, leaseUntil: now + leaseMs, owner };
  };
  return {
    lease: (scope, subject, dueAtMs) => leaseFrom(quota, scope, subject, dueAtMs),
    draft() {
      const planned = quota.draft();
      return {
        lease(scope, subject, dueAtMs) {
          const leased = leaseFrom(planned, scope, subject, dueAtMs);
          if (leased.leaseUntil > 0) planned.take(scope.workspaceId, subject);
          return leased;
        },
      };
    },
  };
}

interface LeaseWatch {
  /** Frees all rows leased to other processes, and then regularly the rows whose lease expired. */
  start(): Promise<void>;
  stop(): void;
}

export function watchLeases(options: {
  store: Store;
  clock: Clock;
  log: Log;
  kind: string;
  owner: string;
  onFreed(): void;
}): LeaseWatch {
  const { store, clock, log, kind, owner } = options;
  let isStopped = false;
  let cancel = (): void => undefined;
  const free = (expired: number): Promise<unknown> =>
    store.commit([systemOp(dropLeases, { kind, owner, expired })]);
  const watch = (): void => {
    if (isStopped) return;
    cancel = clock.after(leaseMs, () => {
      free(clock.nowMs())
        .then(options.onFreed)
        .catch((error: unknown) => log('warn', 'lease check failed', { kind, error: errorForLog(error) }))
        .finally(watch);
    });
  };
  return {
    async start() {
      // Only one process uses the data directory, so every earlier lease holder is gone.
      await free(neverMs);
      watch();
    },
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
