// Claims work that is due or over quota, if its subscriber has capacity in memory. Due work without capacity
// is marked as over quota, so that the next claim finds other work.
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { SqlRow } from '../../../platform/store/statement.ts';
import {
  type Op,
  type Scope,
  scopeOf,
  type Store,
  systemOp,
  tenantOp,
} from '../../../platform/store/store.ts';
import type { Behind, BehindSubject } from './clock.ts';
import {
  dropLeases,
  dueRows,
  lease,
  leaseOverQuota,
  markOverQuota,
  neverMs,
  nextDue,
  overQuotaMs,
} from './rows.ts';
import type { WorkItem } from './window.ts';
import type { WithoutRows } from './without-rows.ts';

/** Rows examined per claim. */
const lookedAtMax = 1_000;
/** Subscribers refilled per batch. */
const refilledMax = 16;

interface ClaimOptions {
  readonly store: Store;
  readonly kind: string;
  readonly owner: string;
  readonly quota: FairQuota;
  readonly behind: Behind;
  readonly intake: Intake;
  nowMs(): number;
  isStopped(): boolean;
}

/** @returns delay before the next claim in ms; null to wait for a wake-up */
export async function claim(options: ClaimOptions): Promise<number | null> {
  const hasRefilled = !options.behind.isEmpty && (await refill(options));
  const waitMs = await claimDue(options);
  return hasRefilled ? 0 : waitMs;
}

/**
 * Claims work over quota, in fair order, for subscribers with at least half of their quota free.
 * @returns true if it claimed for at least one subscriber
 */
async function refill(options: ClaimOptions): Promise<boolean> {
  const { store, behind } = options;
  if (behind.isExhausted) await behind.look();
  const refilled: BehindSubject[] = [];
  const ops = refillOps(options, refilled);
  if (ops.length === 0) return false;
  let isStored = false;
  try {
    isStored = (await store.commit(ops)).ok;
  } finally {
    if (!isStored) for (const { scope, subject } of refilled) behind.note(scope, subject);
  }
  return true;
}

/** @param refilled receives the subscribers of the ops */
function refillOps(
  { kind, owner, quota, behind, intake, nowMs }: ClaimOptions,
  refilled: BehindSubject[],
): Op[] {
  const draft = quota.draft();
  const ops: Op[] = [];
  const now = nowMs();
  while (refilled.length < refilledMax) {
    const next = behind.take(
      (workspaceId, subject) =>
        draft.remaining(workspaceId, subject) >= Math.max(1, quota.taken(workspaceId, subject)),
      (workspaceId) => draft.hasCapacity(workspaceId),
    );
    if (!next) break;
    refilled.push(next);
    const { scope, subject } = next;
    const limit = draft.remaining(scope.workspaceId, subject);
    draft.take(scope.workspaceId, subject, limit);
    const params = { kind, subject, limit, now, until: now + leaseMs, owner };
    const taken: Op['taken'] = (returned) => {
      if (returned.length === limit) behind.note(scope, subject);
      intake(scope, returned);
    };
    ops.push(tenantOp(scope, leaseOverQuota, params, { taken }));
  }
  return ops;
}

async function claimDue(options: ClaimOptions): Promise<number | null> {
  const { store, kind, owner, quota, intake, nowMs, isStopped } = options;
  const now = nowMs();
  const [due] = await store.readSystem(nextDue, { kind });
  if (!due || isStopped()) return null;
  if (due.due_at > now) return due.due_at - now;
  const draft = quota.draft();
  const [fits, others] = [[] as string[][], [] as string[][]];
  for (const row of await store.readSystem(dueRows, { kind, now, limit: lookedAtMax })) {
    const hasCapacity = draft.remaining(row.workspace_id, row.subject) > 0;
    if (hasCapacity) draft.take(row.workspace_id, row.subject);
    (hasCapacity ? fits : others).push([row.workspace_id, row.id]);
  }
  if (isStopped()) return null;
  const taken: Op['taken'] = (returned) => intake(null, returned);
  const leased = { now, until: now + leaseMs, owner, rows: JSON.stringify(fits) };
  const outcome = await store.commit([
    systemOp(lease, leased, { taken }),
    systemOp(markOverQuota, { now, rows: JSON.stringify(others) }, { taken }),
  ]);
  return outcome.ok ? 0 : null;
}

/**
 * Receives rows that became due: passes leased rows to the workers, and notes the subscribers of rows over
 * quota.
 * @param scope null if each row names its workspace
 */
export type Intake = (scope: Scope | null, returned: readonly SqlRow[]) => void;

export function createIntake(options: {
  behind: Behind;
  withoutRows: WithoutRows;
  hold(item: WorkItem): void;
  /** Called when work without a lease is or will be due. */
  onDue(): void;
}): Intake {
  return (scope, returned) => {
    for (const row of returned) {
      const subject = String(row.subject);
      const billingAccount = scopeOf(scope?.workspaceId ?? String(row.workspace_id), subject);
      options.withoutRows.noteAdded(billingAccount, subject);
      // The lease decides, not the clock, which may have been set back since.
      if (Number(row.lease_until) > 0)
        options.hold({ scope: billingAccount, id: String(row.id), epoch: Number(row.epoch) });
      else {
        if (row.due_at === overQuotaMs) options.behind.note(billingAccount, subject);
        if (row.due_at !== neverMs) options.onDue();
      }
    }
  };
}

export const leaseMs = 600_000;

/** Lease columns of a new row, for a caller's own statement. */
interface Lease {
  readonly dueAt: number;
  /** 0 if not leased. */
  readonly leaseUntil: number;
  readonly owner: string | null;
}

/**
 * Leases assign rows to one process for a limited time. A new row is leased to the process that creates it
 * while its subscriber has memory quota left, which saves the claim.
 */
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
