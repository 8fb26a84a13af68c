// A unit is a piece of work that an event means and that has no row as yet. Most are over within milliseconds, and are written once,
// when they have ended. What is to wait gets its rows, as all work had before it.
import type { Op, Scope } from '../../store/store.ts';
import type { Leases } from './leases.ts';
import type { WorkItem } from './workers.ts';

export interface Unit {
  /** Its payer is the subject. */
  readonly scope: Scope;
  readonly subject: string;
  /** Derived from its event and subject, so that whoever plans it again makes the same one. */
  readonly id: string;
  /** Of its event. */
  readonly sequence: number;
  /** Units of one key go one after the other. Null where it need not wait for others. */
  readonly orderKey: string | null;
  /** As the queue's own `perform`, for work that has no row. */
  perform(item: WorkItem): Promise<void>;
}

/** How the units of a queue are stored, where they have to be. */
export interface UnitRows<U extends Unit> {
  /** Whether something stored and open stands before a unit that is ordered. */
  isBlocked(unit: U): Promise<boolean>;
  isStored(unit: U): Promise<boolean>;
  /** The rows of units of one workspace, open. The rows of their work follow in the same batch. */
  insertOp(scope: Scope, units: readonly U[]): Op;
  /** The work row of a unit that is ordered: due where nothing open stands before it, else once that has ended. */
  addInOrderOp(unit: U, leases: Leases, nowMs: number): Op;
  /** Told of units that are stored and will be performed from their rows, before they are. */
  stored(unit: U): void;
}
