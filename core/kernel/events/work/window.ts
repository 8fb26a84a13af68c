// Work in memory: the workers that perform it, and the window of units without rows, which are running or
// wait for an earlier one of their order key. Units that take long are written (`unit-writer.ts`), so that
// little is planned again after a crash.
import { createLru } from '../../../platform/lib/lru.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Scope } from '../../../platform/store/store.ts';
import type { Unit, UnitRows } from './units.ts';
import type { WithoutRows } from './without-rows.ts';

/** Delay before failed work is due again; doubles with each failure up to `most`. */
const failedMs = { first: 5_000, most: 300_000 };
/**
 * Limit of work items whose delay is remembered. While it is reached, other failing work starts with the
 * longest delay.
 */
const failingMax = 10_000;
export const againMs = 1_000;

export interface WorkItem {
  /** Scope whose account is the subscriber. */
  readonly scope: Scope;
  readonly id: string;
  /** Epoch of the lease, which fences the row; null while the item has no row. */
  readonly epoch: number | null;
}

/** Performs the work in memory. Failed work is postponed with growing delays. */
interface Workers {
  /** @param perform default: the `perform` function of the queue */
  hold(item: WorkItem, perform?: (item: WorkItem) => Promise<void>): void;
  isActive(id: string): boolean;
  readonly isBusy: boolean;
}

export function createWorkers(options: {
  clock: Clock;
  log: Log;
  kind: string;
  quota: FairQuota;
  perform(item: WorkItem): Promise<void>;
  /** Commits the postponement. */
  putOff(item: WorkItem, forMs: number): Promise<void>;
  isStopped(): boolean;
  onFree(scope: Scope): void;
}): Workers {
  const { clock, log, kind, quota, isStopped } = options;
  // A process does not claim its own leased rows again, even after the lease expires. Rows are leased only
  // within capacity, so this set is hardly larger.
  const active = new Set<string>();
  const nextDelays = createLru<string, number>(failingMax);

  const delayOf = (id: string): number => {
    const delayMs = nextDelays.get(id) ?? (nextDelays.size < failingMax ? failedMs.first : failedMs.most);
    nextDelays.set(id, Math.min(delayMs * 2, failedMs.most));
    return delayMs;
  };

  /**
   * Postpones failed work. Retries until that succeeds, because no other process can claim the work before
   * this process ends.
   */
  const postpone = async (item: WorkItem): Promise<void> => {
    const delayMs = delayOf(item.id);
    for (;;) {
      try {
        return await options.putOff(item, delayMs);
      } catch (error) {
        if (isStopped()) return;
        log('warn', 'postponing work failed', { kind, id: item.id, error: errorForLog(error) });
        await new Promise<void>((resolve) => void clock.after(againMs, resolve));
      }
    }
  };

  const performOne = async (item: WorkItem, perform: (item: WorkItem) => Promise<void>): Promise<void> => {
    const { id, scope } = item;
    try {
      await perform(item);
      nextDelays.delete(id);
    } catch (error) {
      log('error', 'work failed', { kind, id, workspaceId: scope.workspaceId, error: errorForLog(error) });
      await postpone(item);
    }
    active.delete(id);
    quota.give(scope.workspaceId, scope.billingAccount ?? '');
    options.onFree(scope);
  };

  return {
    hold(item, perform = options.perform) {
      // Work leased to a stopping process is left to the next one.
      if (isStopped()) return;
      active.add(item.id);
      quota.take(item.scope.workspaceId, item.scope.billingAccount ?? '');
      void performOne(item, perform);
    },
    isActive: (id) => active.has(id),
    get isBusy() {
      return active.size > 0;
    },
  };
}

/**
 * Units in memory for longer than this are written, so that slow work does not hold back the cursor. A burst is no
 * reason to write: its work is in the log, and most of it ends within seconds.
 */
export const writtenAfterMs = 10_000;

export interface WindowEntry<U extends Unit> {
  readonly unit: U;
  readonly item: WorkItem & { epoch: number | null };
  /** Time at which the unit was added, in monotonic milliseconds. */
  readonly sinceMs: number;
  /** True if the unit is running, false if it waits. */
  isUnderWay: boolean;
  /** True if the unit counts against the capacity. */
  readonly hasQuota: boolean;
  /** Set while the completion of the unit is being committed; its rows must not be written then. */
  sealed: Promise<unknown> | null;
  /** Set while the rows of the unit are being written. */
  writing: Promise<void> | null;
  readonly onSettled: () => void;
}

interface WindowParts<U extends Unit> {
  readonly clock: Clock;
  readonly quota: FairQuota;
  readonly rows: UnitRows<U>;
  readonly withoutRows: WithoutRows;
  /** Starts a unit. */
  hold(item: WorkItem, perform: (item: WorkItem) => Promise<void>): void;
  /** Schedules units for writing. */
  write(entries: readonly WindowEntry<U>[]): void;
  isStopped(): boolean;
  onChange(): void;
}

export interface Window<U extends Unit> {
  find(id: string): WindowEntry<U> | undefined;
  all(): Iterable<WindowEntry<U>>;
  /** Starts a unit or lets it wait. @returns false if its subscriber has no capacity */
  offer(unit: U, onSettled: () => void): Promise<boolean>;
  /** Adds a unit that is to be written. */
  admit(unit: U, onSettled: () => void): WindowEntry<U>;
  /** Returns all units of its order key, in order; they can only be written together. */
  chainOf(entry: WindowEntry<U>): readonly WindowEntry<U>[];
  /** Removes a unit that has ended. */
  ended(entry: WindowEntry<U>): void;
  /** Removes a unit that has rows, and schedules the units that wait behind it for writing. */
  written(entry: WindowEntry<U>): void;
}

export function createWindow<U extends Unit>(parts: WindowParts<U>): Window<U> {
  const { clock, quota } = parts;
  /** Units within the capacity, and units beyond it while they are being written. */
  const units = new Map<string, WindowEntry<U>>();
  const chains = new Chains<U>();
  const watch = createWatch(parts, units);

  const addEntry = (unit: U, onSettled: () => void, hasQuota: boolean): WindowEntry<U> => {
    const item: WindowEntry<U>['item'] = { scope: unit.scope, id: unit.id, epoch: null };
    const facts = { unit, item, sinceMs: clock.monotonicMs(), hasQuota, onSettled };
    const entry: WindowEntry<U> = { ...facts, isUnderWay: false, sealed: null, writing: null };
    units.set(unit.id, entry);
    chains.add(entry);
    watch();
    return entry;
  };

  const begin = (entry: WindowEntry<U>): void => {
    entry.isUnderWay = true;
    parts.hold(entry.item, entry.unit.perform);
  };

  /** @returns the remaining units of the entry's chain; none if the entry was already removed */
  const remove = (entry: WindowEntry<U>): readonly WindowEntry<U>[] => {
    const { scope, subject, id } = entry.unit;
    if (units.get(id) !== entry) return [];
    units.delete(id);
    if (entry.hasQuota && !entry.isUnderWay) quota.give(scope.workspaceId, subject);
    entry.onSettled();
    return chains.remove(entry);
  };

  const ended = (entry: WindowEntry<U>): void => {
    const [next] = remove(entry);
    if (next && !next.isUnderWay && !next.writing && next.hasQuota) {
      // The next unit is counted again when it starts.
      quota.give(next.unit.scope.workspaceId, next.unit.subject);
      begin(next);
    }
    parts.onChange();
  };

  return {
    find: (id) => units.get(id),
    all: () => units.values(),
    chainOf: (entry) => chains.of(entry),
    async offer(unit, onSettled) {
      const { scope, subject, orderKey } = unit;
      if (quota.remaining(scope.workspaceId, subject) === 0) return false;
      const isBlocked = orderKey !== null && !chains.has(orderKey) && (await isBlockedByRow(parts, unit));
      const mustWait = isBlocked || chains.has(orderKey);
      const entry = addEntry(unit, onSettled, true);
      if (!mustWait) begin(entry);
      else {
        quota.take(scope.workspaceId, subject);
        // A unit behind a stored unit has to be stored as well.
        if (isBlocked || chains.of(entry).some(({ writing }) => writing !== null)) parts.write([entry]);
      }
      return true;
    },
    admit: (unit, onSettled) => addEntry(unit, onSettled, false),
    ended,
    written(entry) {
      parts.write(remove(entry));
      parts.onChange();
    },
  };
}

async function isBlockedByRow<U extends Unit>(
  { rows, withoutRows }: WindowParts<U>,
  unit: U,
): Promise<boolean> {
  const { scope, subject } = unit;
  const { hasRows } = rows;
  if (hasRows && (await withoutRows.includes(scope, subject, () => hasRows(unit)))) return false;
  return rows.isBlocked(unit);
}

/**
 * Returns a function to call when a unit is added. It writes units that have been in the window for too long.
 */
function createWatch<U extends Unit>(
  { clock, write, isStopped }: WindowParts<U>,
  units: ReadonlyMap<string, WindowEntry<U>>,
): () => void {
  let isWatching = false;
  const watch = (): void => {
    if (isWatching) return;
    isWatching = true;
    clock.after(writtenAfterMs / 2, () => {
      isWatching = false;
      if (isStopped()) return;
      const oldMs = clock.monotonicMs() - writtenAfterMs;
      write([...units.values()].filter(({ sinceMs }) => sinceMs <= oldMs));
      if (units.size > 0) watch();
    });
  };
  return watch;
}

/**
 * Chains of units in the window that share an order key, in order. The first unit of a chain runs; the others
 * wait.
 */
class Chains<U extends Unit> {
  /** By order key; a chain is removed with its last unit. */
  readonly #chains = new Map<string, readonly WindowEntry<U>[]>();

  has(orderKey: string | null): boolean {
    return orderKey !== null && this.#chains.has(orderKey);
  }

  add(entry: WindowEntry<U>): void {
    const { orderKey } = entry.unit;
    if (orderKey !== null) this.#chains.set(orderKey, [...(this.#chains.get(orderKey) ?? []), entry]);
  }

  /** Returns the chain of a unit; only the unit itself if it has no order key. */
  of(entry: WindowEntry<U>): readonly WindowEntry<U>[] {
    const { orderKey } = entry.unit;
    return (orderKey === null ? undefined : this.#chains.get(orderKey)) ?? [entry];
  }

  /** @returns the remaining units of the chain */
  remove(entry: WindowEntry<U>): readonly WindowEntry<U>[] {
    const { orderKey } = entry.unit;
    if (orderKey === null) return [];
    const rest = this.of(entry).filter((one) => one !== entry);
    if (rest.length > 0) this.#chains.set(orderKey, rest);
    else this.#chains.delete(orderKey);
    return rest;
  }
}
