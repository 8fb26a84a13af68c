// The units that are in memory and have no row: those under way, and those that wait for an earlier one of their order key. What
// takes long is written (`unit-writer.ts`), so that little has to be planned again after a crash.
import type { Clock } from '../../lib/clock.ts';
import type { Shares } from '../../lib/fairness/shares.ts';
import type { Op, Scope } from '../../store/store.ts';
import type { Unit, UnitRows } from './unit.ts';
import type { WorkItem } from './workers.ts';

/** What has been in memory for so long is written. */
const writtenAfterMs = 250;

/** A unit in the window. */
export interface Kept<U extends Unit> {
  readonly unit: U;
  readonly item: WorkItem & { epoch: number | null };
  /** Monotonic. */
  readonly sinceMs: number;
  /** Whether it is performed, and not only waits. */
  isUnderWay: boolean;
  /** Whether it has its share of the room. */
  readonly hasRoom: boolean;
  /** While its end is being committed, and nobody else may write it. */
  sealed: Promise<unknown> | null;
  /** While its rows are being written. */
  writing: Promise<void> | null;
  readonly onSettled: () => void;
}

export interface WindowParts<U extends Unit> {
  readonly clock: Clock;
  readonly shares: Shares;
  readonly rows: UnitRows<U>;
  /** Takes a piece of work under way. */
  hold(item: WorkItem, perform: (item: WorkItem) => Promise<void>): void;
  /** Has units written. */
  write(kept: readonly Kept<U>[]): void;
  isStopped(): boolean;
  onChange(): void;
}

export interface Window<U extends Unit> {
  readonly isEmpty: boolean;
  find(id: string): Kept<U> | undefined;
  all(): Iterable<Kept<U>>;
  /** Begins a unit, or lets it wait for its turn. @returns false where its subject has no room */
  offer(unit: U, onSettled: () => void): Promise<boolean>;
  /** Takes in a unit that is to be written. */
  admit(unit: U, onSettled: () => void): Kept<U>;
  /** All units of its order key, in order; they can only be written together. */
  chainOf(kept: Kept<U>): readonly Kept<U>[];
  /** It has ended. */
  ended(kept: Kept<U>): void;
  /** It has rows, as have those behind it that `written` names with it. */
  written(kept: Kept<U>): void;
  /** An op of the batch that ends a unit, which then leaves the window. */
  ending(item: WorkItem, op: Op): Op;
}

export function createWindow<U extends Unit>(parts: WindowParts<U>): Window<U> {
  const { clock, shares, rows } = parts;
  /** As many as have room, and those that are being written because they have none. */
  const units = new Map<string, Kept<U>>();
  /** By order key, in order; the first is under way. */
  const chains = new Map<string, Kept<U>[]>();
  let isWatching = false;

  const keep = (unit: U, onSettled: () => void, hasRoom: boolean): Kept<U> => {
    const item: Kept<U>['item'] = { scope: unit.scope, id: unit.id, epoch: null };
    const sinceMs = clock.monotonicMs();
    const kept: Kept<U> = {
      ...{ unit, item, sinceMs, hasRoom, onSettled },
      isUnderWay: false,
      sealed: null,
      writing: null,
    };
    units.set(unit.id, kept);
    if (unit.orderKey !== null) {
      const chain = chains.get(unit.orderKey);
      if (chain) chain.push(kept);
      else chains.set(unit.orderKey, [kept]);
    }
    watch();
    return kept;
  };

  const begin = (kept: Kept<U>): void => {
    kept.isUnderWay = true;
    parts.hold(kept.item, kept.unit.perform);
  };

  const chainOf = (kept: Kept<U>): readonly Kept<U>[] =>
    (kept.unit.orderKey === null ? undefined : chains.get(kept.unit.orderKey)) ?? [kept];

  /** @returns those that wait behind it */
  const remove = (kept: Kept<U>): readonly Kept<U>[] => {
    const { unit } = kept;
    units.delete(unit.id);
    if (kept.hasRoom && !kept.isUnderWay) shares.give(unit.scope.workspaceId, unit.subject);
    kept.onSettled();
    if (unit.orderKey === null) return [];
    const rest = (chains.get(unit.orderKey) ?? []).filter((one) => one !== kept);
    if (rest.length > 0) chains.set(unit.orderKey, rest);
    else chains.delete(unit.orderKey);
    return rest;
  };

  /** Writes what has been here for long, now and then, as long as anything is here. */
  const watch = (): void => {
    if (isWatching) return;
    isWatching = true;
    clock.after(writtenAfterMs / 2, () => {
      isWatching = false;
      if (parts.isStopped()) return;
      const oldMs = clock.monotonicMs() - writtenAfterMs;
      parts.write([...units.values()].filter(({ sinceMs }) => sinceMs <= oldMs));
      if (units.size > 0) watch();
    });
  };

  const window: Window<U> = {
    get isEmpty() {
      return units.size === 0;
    },
    find: (id) => units.get(id),
    all: () => units.values(),
    chainOf,
    async offer(unit, onSettled) {
      const { scope, subject, orderKey } = unit;
      if (shares.room(scope.workspaceId, subject) === 0) return false;
      const isBlocked = orderKey !== null && !chains.has(orderKey) && (await rows.isBlocked(unit));
      const ahead = orderKey === null ? undefined : chains.get(orderKey);
      if (!ahead && !isBlocked) {
        begin(keep(unit, onSettled, true));
        return true;
      }
      shares.take(scope.workspaceId, subject);
      const kept = keep(unit, onSettled, true);
      if (isBlocked || ahead?.some(({ writing }) => writing)) parts.write([kept]);
      return true;
    },
    admit: (unit, onSettled) => keep(unit, onSettled, false),
    ended(kept) {
      const [next] = remove(kept);
      if (next && !next.isUnderWay && !next.writing && next.hasRoom) {
        // What it has of the room is counted again when it begins.
        shares.give(next.unit.scope.workspaceId, next.unit.subject);
        begin(next);
      }
      parts.onChange();
    },
    written(kept) {
      parts.write(remove(kept));
      parts.onChange();
    },
    ending(item, op) {
      const kept = units.get(item.id);
      if (!kept) return op;
      const taken: Op['taken'] = (returned) => {
        op.taken?.(returned);
        window.ended(kept);
      };
      return { ...op, taken };
    },
  };
  return window;
}
