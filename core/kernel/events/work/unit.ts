// A unit is work planned from an event that has no row yet. Most units end within milliseconds and are written once,
// at their end. Units that have to wait get work rows.
import type { Op, Scope } from '../../../platform/store/store.ts';
import type { Leases } from './leases.ts';
import type { WorkItem } from './workers.ts';

export interface Unit {
  /** Scope whose account is the subscriber. */
  readonly scope: Scope;
  readonly subject: string;
  /** Derived from the event and the subscriber, so that planning it again gives the same id. */
  readonly id: string;
  /** Sequence of the event. */
  readonly sequence: number;
  /** Units with the same key run one after the other. Null for unordered units. */
  readonly orderKey: string | null;
  /** Same contract as `perform` of the queue, for work that has no row. */
  perform(item: WorkItem): Promise<void>;
}

/** Statements that store the units of a queue. */
export interface UnitRows<U extends Unit> {
  /** Returns true if an earlier stored and open unit blocks an ordered unit. */
  isBlocked(unit: U): Promise<boolean>;
  isStored(unit: U): Promise<boolean>;
  /** Inserts the rows of open units of one workspace. The rows of their work follow in the same batch. */
  insertOp(scope: Scope, units: readonly U[]): Op;
  /**
   * Inserts the work row of an ordered unit: due immediately if no open unit precedes it, otherwise after
   * that unit has ended.
   */
  addInOrderOp(unit: U, leases: Leases, nowMs: number): Op;
  /** Called for units that are stored and will run from their rows, before they run. */
  stored(unit: U): void;
}
