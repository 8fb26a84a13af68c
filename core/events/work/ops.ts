// The statements by which work comes and goes, as ops for a caller's batch.
import { tenantOp, type Op, type Scope } from '../../store/store.ts';
import * as rows from '../work-rows.ts';
import type { Intake } from './intake.ts';
import { leaseMs, type Leases } from './leases.ts';
import type { WorkItem } from './workers.ts';

export interface WorkOps extends Leases {
  /** Adds a row. Born leased when it is due and memory has room. */
  add(scope: Scope, subject: string, id: string, dueAtMs: number): Op;
  /** `add` for many at once, at a tenth of its cost. @param plan its leases; by default of these alone */
  addAll(
    scope: Scope,
    items: readonly { readonly id: string; readonly subject: string }[],
    dueAtMs: number,
    plan?: Leases,
  ): Op;
  /** The rows of work that is under way already. @param stored told of each once it has its row */
  addLeased<K extends UnderWay>(scope: Scope, work: readonly K[], stored: (one: K) => void): Op;
  /** A caller's own statement that makes rows due and ends with `returningWork`: the queue takes what it returns. */
  due(op: Op): Op;
  /** Leases for a plan of many rows, of which each counts although none is stored yet. */
  draft(): Leases;
  /** Ends the row of work, which has one; guards the batch it stands in. */
  finish(item: WorkItem): Op;
  /** Gives the work back until later, where it has a row; guards the batch it stands in. */
  defer(item: WorkItem, dueAtMs: number): Op;
  /** Drops a row whoever holds it (its subject is gone). */
  remove(scope: Scope, id: string): Op;
}

/** Of a row that was just added. */
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
  nowMs(): number;
}): WorkOps {
  const { kind, owner, leases, intake, nowMs } = options;
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
