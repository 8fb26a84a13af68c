// The statements by which work comes and goes, as ops for a caller's batch.
import { tenantOp, type Op, type Scope } from '../../store/store.ts';
import * as rows from '../work-rows.ts';
import type { Intake } from './intake.ts';
import type { Leases } from './leases.ts';
import type { WorkItem } from './workers.ts';

export interface WorkOps extends Leases {
  /** Adds a row. Born leased when it is due and memory has room. */
  add(scope: Scope, subject: string, id: string, dueAtMs: number): Op;
  /** `add` for many at once, at a tenth of its cost. */
  addAll(
    scope: Scope,
    items: readonly { readonly id: string; readonly subject: string }[],
    dueAtMs: number,
  ): Op;
  /** A caller's own statement that makes rows due and ends with `returningWork`: the queue takes what it returns. */
  due(op: Op): Op;
  /** Leases for a plan of many rows, of which each counts although none is stored yet. */
  draft(): Leases;
  /** Ends the work; guards the batch it stands in. */
  finish(item: WorkItem): Op;
  /** Gives the work back until later; guards the batch it stands in. */
  defer(item: WorkItem, dueAtMs: number): Op;
  /** Drops a row whoever holds it (its subject is gone). */
  remove(scope: Scope, id: string): Op;
}

export function createWorkOps(options: {
  kind: string;
  owner: string;
  leases: Leases & { draft(): Leases };
  intake: Intake;
  nowMs(): number;
}): WorkOps {
  const { kind, owner, leases, intake, nowMs } = options;
  return {
    ...leases,
    add(scope, subject, id, dueAtMs) {
      const params = { id, kind, subject, ...leases.lease(scope, subject, dueAtMs) };
      return tenantOp(scope, rows.add, params, { taken: (returned) => intake(scope, returned) });
    },
    addAll(scope, items, dueAtMs) {
      const plan = leases.draft();
      const added = items.map(({ id, subject }) => {
        const { dueAt, leaseUntil } = plan.lease(scope, subject, dueAtMs);
        return { id, subject, epoch: 1, due_at: dueAt, lease_until: leaseUntil };
      });
      const values = added.map(({ id, subject, due_at, lease_until }) => [id, subject, due_at, lease_until]);
      const params = { kind, owner, rows: JSON.stringify(values) };
      return tenantOp(scope, rows.addAll, params, { taken: () => intake(scope, added) });
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
