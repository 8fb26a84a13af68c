// Claims work that is due or over quota, if its subscriber has capacity in memory. Due work without capacity
// is marked as over quota, so that the next claim finds other work.
import type { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import { systemOp, tenantOp, type Op, type Store } from '../../../platform/store/store.ts';
import { dueRows, markOverQuota, lease, leaseOverQuota, nextDue } from './rows.ts';
import type { Behind, BehindSubject } from './behind.ts';
import type { Intake } from './intake.ts';
import { leaseMs } from './leases.ts';

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
