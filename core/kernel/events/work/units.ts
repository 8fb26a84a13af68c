// A unit is work planned from an event that has no row yet. Most units end within milliseconds and are
// written once, at their end. Units that have to wait get work rows.
import type { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Op, Scope, Store } from '../../../platform/store/store.ts';
import type { Leases } from './claim.ts';
import type { Behind } from './clock.ts';
import type { WorkOps } from './ops.ts';
import { createUnitWriter, type UnitWriter } from './unit-writer.ts';
import { createWindow, type Window, type WindowEntry, type WorkItem } from './window.ts';
import type { WithoutRows } from './without-rows.ts';

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
  /** Returns true if any unit of the subscriber is stored and open; absent if few units are ordered. */
  hasRows?(unit: U): Promise<boolean>;
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

interface UnitStorage<U extends Unit> {
  /**
   * Stores units without capacity in memory. @throws StoreError, Error if the store refused; some units may
   * be stored nevertheless
   */
  store(units: readonly U[], onSettled: (unit: U) => void): Promise<void>;
  /** Stores units in memory so that they can be listed. Does not throw if the store refuses. */
  storeActive(scope: Scope, isMeant: (unit: U) => boolean): Promise<void>;
}

/** Functions that the performer of a work item calls, whether or not the item has a row. */
export interface ItemCalls {
  /**
   * Commits a change to an item with exclusive access. Build the ops inside `commit`, because the row of the
   * item may have been stored meanwhile.
   */
  whileSealed<T>(item: WorkItem, commit: () => Promise<T>): Promise<T>;
  /** Wraps an op so that an item without a row has ended once the batch is committed. */
  ending(item: WorkItem, op: Op): Op;
  /** Postpones work, with or without rows; the first op guards the batch. */
  putOff(item: WorkItem, dueAtMs: number): Op[];
  /** Removes work that was ended elsewhere. */
  drop(item: WorkItem): void;
}

export interface Units<U extends Unit> extends UnitStorage<U>, ItemCalls {
  /**
   * Starts a unit, or lets it wait for an earlier one of its order key.
   * @param onSettled called once it has ended or is stored
   * @returns false if its subscriber has no capacity
   */
  offer(unit: U, onSettled: () => void): Promise<boolean>;
  hasCapacity(scope: Scope, subject: string): boolean;
  /** Returns the units in memory that are not stored. */
  unstored(): Iterable<U>;
  isActive(id: string): boolean;
}

interface UnitsOptions<U extends Unit> {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly kind: string;
  readonly quota: FairQuota;
  readonly behind: Behind;
  readonly withoutRows: WithoutRows;
  readonly ops: WorkOps;
  /** Null for a queue without units. */
  readonly rows: UnitRows<U> | null;
  hold(item: WorkItem, perform: (item: WorkItem) => Promise<void>): void;
  isStopped(): boolean;
  onChange(): void;
}

/**
 * Starts the units of a queue or lets them wait, writes those that wait too long, and serializes writes to
 * the same unit.
 */
export function createUnits<U extends Unit>(
  options: UnitsOptions<U>,
): { readonly units: Units<U>; isWriting(): boolean } {
  const { quota, behind, ops } = options;
  const rows = options.rows ?? noRows;
  const writer = createUnitWriter({ ...options, rows, window: () => window, onRest: options.onChange });
  const window: Window<U> = createWindow({ ...options, rows, write: writer.write });

  const storing = createStoring({ window, writer, isStopped: options.isStopped });

  const units: Units<U> = {
    offer: (unit, onSettled) =>
      behind.has(unit.scope, unit.subject) ? Promise.resolve(false) : window.offer(unit, onSettled),
    // Requires half of the quota, so that a lagging subscriber proceeds by more than one unit at a time.
    hasCapacity: ({ workspaceId }, subject) =>
      quota.remaining(workspaceId, subject) >= Math.max(1, quota.taken(workspaceId, subject)),
    ...storing,
    *unstored() {
      for (const { unit } of window.all()) yield unit;
    },
    isActive: (id) => window.find(id) !== undefined,
    async whileSealed(item, commit) {
      const entry = window.find(item.id);
      // The commit must not overlap a write of the same unit.
      while (entry?.writing) await entry.writing.catch(() => undefined);
      if (!entry || item.epoch !== null) return commit();
      const done = commit();
      entry.sealed = done.catch(() => undefined);
      try {
        return await done;
      } finally {
        // The store hands out rows one microtask after a commit resolves; only then does the item leave the
        // window.
        await Promise.resolve();
        entry.sealed = null;
        writer.goOn();
      }
    },
    ending(item, op) {
      const entry = window.find(item.id);
      if (!entry) return op;
      const taken: Op['taken'] = (returned) => {
        op.taken?.(returned);
        window.ended(entry);
      };
      return { ...op, taken };
    },
    putOff(item, dueAtMs) {
      const entry = window.find(item.id);
      if (item.epoch !== null || !entry) return [ops.defer(item, dueAtMs)];
      const { scope, subject, id } = entry.unit;
      // Due at least 1 ms later, because this item has to leave the window first.
      const add = ops.add(scope, subject, id, Math.max(dueAtMs, options.clock.nowMs() + 1));
      const taken: Op['taken'] = (returned) => {
        window.written(entry);
        add.taken?.(returned);
      };
      return [rows.insertOp(scope, [entry.unit]), { ...add, taken }];
    },
    drop(item) {
      const entry = window.find(item.id);
      if (entry) window.ended(entry);
    },
  };
  return { units, isWriting: () => writer.isBusy };
}

function createStoring<U extends Unit>(parts: {
  readonly window: Window<U>;
  readonly writer: UnitWriter<U>;
  isStopped(): boolean;
}): UnitStorage<U> {
  const { window, writer } = parts;
  const unsealed = async (list: readonly WindowEntry<U>[]): Promise<void> => {
    for (const entry of list) for (const one of window.chainOf(entry)) await one.sealed;
  };
  const left = (list: readonly WindowEntry<U>[]): WindowEntry<U>[] =>
    list.filter((entry) => window.find(entry.unit.id) === entry);
  return {
    async store(units, onSettled) {
      const list = units.map((unit) => window.admit(unit, () => onSettled(unit)));
      writer.write(list);
      for (let rest = left(list); rest.length > 0; rest = left(list)) {
        if (parts.isStopped() || !(await writer.flush())) {
          for (const entry of left(list)) window.ended(entry);
          throw new Error('The store refused work that exceeds the capacity in memory.');
        }
        await unsealed(left(list));
      }
    },
    async storeActive(scope, isMeant) {
      const list = [...window.all()].filter(
        ({ unit }) => unit.scope.workspaceId === scope.workspaceId && isMeant(unit),
      );
      for (let rest = left(list); rest.length > 0 && !parts.isStopped(); rest = left(list)) {
        await unsealed(rest);
        writer.write(left(rest));
        if (!(await writer.flush())) return;
      }
    },
  };
}

function refuse(): never {
  throw new Error('This queue has no units.');
}

const noRows = {
  isBlocked: refuse,
  isStored: refuse,
  insertOp: refuse,
  addInOrderOp: refuse,
  stored: refuse,
};
