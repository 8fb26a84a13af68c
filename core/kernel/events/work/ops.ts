// Ops that add and end work, for a caller's batch.
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';
import * as rows from './rows.ts';
import { type Intake, leaseMs, type Leases } from './claim.ts';
import type { WorkItem } from './window.ts';
import type { WithoutRows } from './without-rows.ts';

export interface WorkOps extends Leases {
  /** Adds a row, leased if it is due and memory has capacity. */
  add(scope: Scope, subject: string, id: string, dueAtMs: number): Op;
  /**
   * Adds many rows at a tenth of the cost of `add`.
   * @param plan leases to use; default: a draft that counts only these rows
   */
  addAll(
    scope: Scope,
    items: readonly { readonly id: string; readonly subject: string }[],
    dueAtMs: number,
    plan?: Leases,
  ): Op;
  /** Adds the rows of work that is already running. @param stored called for each once it has its row */
  addLeased<K extends UnderWay>(scope: Scope, work: readonly K[], stored: (one: K) => void): Op;
  /**
   * Wraps a caller's statement that makes rows due and returns `WorkRow`s, so that the queue takes them.
   */
  due(op: Op): Op;
  /** Leases for planning many rows: each counts against the quota although none is stored yet. */
  draft(): Leases;
  /** Deletes the row of the work, which must have one; guards its batch. */
  finish(item: WorkItem): Op;
  /** Postpones work that has a row; guards its batch. */
  defer(item: WorkItem, dueAtMs: number): Op;
  /** Deletes a row regardless of its lease, because its subscriber was deleted. */
  remove(scope: Scope, id: string): Op;
}

/** Epoch of a new row. */
const firstEpoch = 1;

interface UnderWay {
  readonly unit: { readonly id: string; readonly subject: string };
  readonly item: { epoch: WorkItem['epoch'] };
}

export function createWorkOps(options: {
  kind: string;
  owner: string;
  leases: Leases & { draft(): Leases };
  intake: Intake;
  withoutRows: WithoutRows;
  nowMs(): number;
}): WorkOps {
  const { kind, owner, leases, intake, withoutRows, nowMs } = options;
  return {
    ...leases,
    add(scope, subject, id, dueAtMs) {
      const params = { id, kind, subject, ...leases.lease(scope, subject, dueAtMs) };
      return tenantOp(scope, rows.add, params, { taken: (returned) => intake(scope, returned) });
    },
    addAll(scope, items, dueAtMs, plan = leases.draft()) {
      const added = items.map(({ id, subject }) => {
        const { dueAt, leaseUntil } = plan.lease(scope, subject, dueAtMs);
        return { id, subject, epoch: firstEpoch, due_at: dueAt, lease_until: leaseUntil };
      });
      const values = added.map(({ id, subject, due_at, lease_until }) => [id, subject, due_at, lease_until]);
      const params = { kind, owner, rows: JSON.stringify(values) };
      return tenantOp(scope, rows.addAll, params, { taken: () => intake(scope, added) });
    },
    addLeased(scope, work, stored) {
      const now = nowMs();
      const values = work.map(({ unit: { id, subject } }) => [id, subject, now, now + leaseMs]);
      const taken = (): void => {
        for (const one of work) {
          one.item.epoch = firstEpoch;
          withoutRows.noteAdded(scope, one.unit.subject);
          stored(one);
        }
      };
      return tenantOp(scope, rows.addAll, { kind, owner, rows: JSON.stringify(values) }, { taken });
    },
    due: (op) => ({ ...op, taken: (returned) => intake(op.scope, returned) }),
    finish: ({ scope, id, epoch }) => tenantOp(scope, rows.finish, { id, epoch }, { expectRows: 1 }),
    defer({ scope, id, epoch }, dueAtMs) {
      nowMs();
      return tenantOp(scope, rows.defer, { id, epoch, dueAt: dueAtMs }, { expectRows: 1 });
    },
    remove: (scope, id) => tenantOp(scope, rows.remove, { id }),
  };
}
