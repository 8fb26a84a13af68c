// Units in memory without rows: running units, and units that wait for an earlier one of their order key. Units that
// take long are written (`unit-writer.ts`), so that little is planned again after a crash.
import type { Clock } from '../../lib/clock.ts';
import type { Shares } from '../../lib/fairness/shares.ts';
import { Chains } from './chains.ts';
import type { Unit, UnitRows } from './unit.ts';
import type { WorkItem } from './workers.ts';

/** Units in memory for longer than this are written. */
const writtenAfterMs = 250;

export interface Kept<U extends Unit> {
  readonly unit: U;
  readonly item: WorkItem & { epoch: number | null };
  /** Monotonic milliseconds. */
  readonly sinceMs: number;
  /** True if it is running, false if it waits. */
  isUnderWay: boolean;
  /** True if it counts against the capacity. */
  readonly hasRoom: boolean;
  /** Set while its completion is being committed; nobody else may write it then. */
  sealed: Promise<unknown> | null;
  /** Set while its rows are being written. */
  writing: Promise<void> | null;
  readonly onSettled: () => void;
}

export interface WindowParts<U extends Unit> {
  readonly clock: Clock;
  readonly shares: Shares;
  readonly rows: UnitRows<U>;
  /** Starts a unit. */
  hold(item: WorkItem, perform: (item: WorkItem) => Promise<void>): void;
  /** Schedules units for writing. */
  write(kept: readonly Kept<U>[]): void;
  isStopped(): boolean;
  onChange(): void;
}

export interface Window<U extends Unit> {
  find(id: string): Kept<U> | undefined;
  all(): Iterable<Kept<U>>;
  /** Starts a unit or lets it wait. @returns false if its subscriber has no capacity */
  offer(unit: U, onSettled: () => void): Promise<boolean>;
  /** Adds a unit that is to be written. */
  admit(unit: U, onSettled: () => void): Kept<U>;
  /** Returns all units of its order key, in order; they can only be written together. */
  chainOf(kept: Kept<U>): readonly Kept<U>[];
  /** Removes a unit that has ended. */
  ended(kept: Kept<U>): void;
  /** Removes a unit that has rows, and schedules the units that wait behind it for writing. */
  written(kept: Kept<U>): void;
}

export function createWindow<U extends Unit>(parts: WindowParts<U>): Window<U> {
  const { clock, shares, rows } = parts;
  /** Units within the capacity, and units beyond it while they are being written. */
  const units = new Map<string, Kept<U>>();
  const chains = new Chains<U>();
  const watch = createWatch(parts, units);

  const keep = (unit: U, onSettled: () => void, hasRoom: boolean): Kept<U> => {
    const item: Kept<U>['item'] = { scope: unit.scope, id: unit.id, epoch: null };
    const facts = { unit, item, sinceMs: clock.monotonicMs(), hasRoom, onSettled };
    const kept: Kept<U> = { ...facts, isUnderWay: false, sealed: null, writing: null };
    units.set(unit.id, kept);
    chains.add(kept);
    watch();
    return kept;
  };

  const begin = (kept: Kept<U>): void => {
    kept.isUnderWay = true;
    parts.hold(kept.item, kept.unit.perform);
  };

  /** @returns the units that wait behind it */
  const remove = (kept: Kept<U>): readonly Kept<U>[] => {
    const { scope, subject, id } = kept.unit;
    if (units.get(id) !== kept) return [];
    units.delete(id);
    if (kept.hasRoom && !kept.isUnderWay) shares.give(scope.workspaceId, subject);
    kept.onSettled();
    return chains.remove(kept);
  };

  const ended = (kept: Kept<U>): void => {
    const [next] = remove(kept);
    if (next && !next.isUnderWay && !next.writing && next.hasRoom) {
      // The next unit is counted again when it starts.
      shares.give(next.unit.scope.workspaceId, next.unit.subject);
      begin(next);
    }
    parts.onChange();
  };

  return {
    find: (id) => units.get(id),
    all: () => units.values(),
    chainOf: (kept) => chains.of(kept),
    async offer(unit, onSettled) {
      const { scope, subject, orderKey } = unit;
      if (shares.room(scope.workspaceId, subject) === 0) return false;
      const isBlocked = orderKey !== null && !chains.has(orderKey) && (await rows.isBlocked(unit));
      const mustWait = isBlocked || chains.has(orderKey);
      const kept = keep(unit, onSettled, true);
      if (!mustWait) begin(kept);
      else {
        shares.take(scope.workspaceId, subject);
        // A unit behind a stored unit has to be stored as well.
        if (isBlocked || chains.of(kept).some(({ writing }) => writing !== null)) parts.write([kept]);
      }
      return true;
    },
    admit: (unit, onSettled) => keep(unit, onSettled, false),
    ended,
    written(kept) {
      parts.write(remove(kept));
      parts.onChange();
    },
  };
}

/** Regularly writes units that have been in the window for long, while there are any. Call when a unit is added. */
function createWatch<U extends Unit>(
  { clock, write, isStopped }: WindowParts<U>,
  units: ReadonlyMap<string, Kept<U>>,
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
