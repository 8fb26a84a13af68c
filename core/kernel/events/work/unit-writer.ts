// Writes units that have to wait, together with the rows of their work; running units are leased to this process. One
// batch is written at a time, so that units of one order key are written in order.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import {
  backgroundCommitDelayMs,
  scopeOf,
  type Op,
  type Scope,
  type Store,
} from '../../../platform/store/store.ts';
import type { Leases } from './claim.ts';
import type { WorkOps } from './ops.ts';
import type { Unit, UnitRows } from './units.ts';
import { type WindowEntry, type Window, againMs } from './window.ts';

const unitsAtOnce = 1_000;

interface WriterParts<U extends Unit> {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly kind: string;
  readonly rows: UnitRows<U>;
  readonly window: () => Window<U>;
  readonly ops: WorkOps;
  isStopped(): boolean;
  onRest(): void;
}

export interface UnitWriter<U extends Unit> {
  readonly isBusy: boolean;
  /** Schedules units for writing, each with all units of its order key. */
  write(entries: readonly WindowEntry<U>[]): void;
  /** Resumes writes that waited for the completion of a unit. */
  goOn(): void;
  /** Writes everything that can be written now. @returns false if the store refused */
  flush(): Promise<boolean>;
}

export function createUnitWriter<U extends Unit>(parts: WriterParts<U>): UnitWriter<U> {
  const { clock, log, kind } = parts;
  /** Subset of the window, which bounds its size. */
  const pending = new Set<WindowEntry<U>>();
  let writing: Promise<void> | null = null;
  let isPaused = false;

  /** Returns the units that may be written now. Skips order keys with a unit whose completion is being committed. */
  const nextBatch = (): WindowEntry<U>[] => {
    const window = parts.window();
    const batch: WindowEntry<U>[] = [];
    for (const entry of pending) {
      if (window.find(entry.unit.id) !== entry) pending.delete(entry);
      else if (batch.length < unitsAtOnce && window.chainOf(entry).every(({ sealed }) => !sealed))
        batch.push(entry);
    }
    return batch;
  };

  const writeAll = async (): Promise<void> => {
    for (let batch = nextBatch(); batch.length > 0 && !parts.isStopped(); batch = nextBatch()) {
      const done = writeBatch(parts, batch);
      for (const entry of batch) entry.writing = done;
      try {
        await done;
      } catch (error) {
        log('warn', 'storing work failed', { kind, error: errorForLog(error) });
        isPaused = true;
        clock.after(againMs, () => {
          isPaused = false;
          goOn();
        });
        return;
      } finally {
        for (const entry of batch) entry.writing = null;
      }
    }
  };

  const goOn = (): void => {
    if (writing || isPaused || pending.size === 0 || parts.isStopped()) return;
    writing = writeAll().finally(() => {
      writing = null;
      parts.onRest();
    });
  };

  return {
    get isBusy() {
      return writing !== null;
    },
    write(list) {
      for (const entry of list)
        for (const one of parts.window().chainOf(entry)) if (!one.writing) pending.add(one);
      goOn();
    },
    goOn,
    async flush() {
      goOn();
      while (writing) await writing;
      return !isPaused;
    },
  };
}

/** @throws StoreError */
async function writeBatch<U extends Unit>(
  parts: WriterParts<U>,
  batch: readonly WindowEntry<U>[],
): Promise<void> {
  const leases = parts.ops.draft();
  const ops = [...Map.groupBy(batch, ({ unit }) => unit.scope.workspaceId)].flatMap(
    ([workspaceId, entries]) => opsFor(parts, scopeOf(workspaceId), entries, leases),
  );
  const outcome = await parts.store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
  if (!outcome.ok) await leaveOut(parts, batch, outcome.message);
}

function opsFor<U extends Unit>(
  { rows, ops, window, clock }: WriterParts<U>,
  scope: Scope,
  batch: readonly WindowEntry<U>[],
  leases: Leases,
): Op[] {
  const underWay = batch.filter(({ isUnderWay }) => isUnderWay);
  const waiting = batch.filter(({ isUnderWay }) => !isUnderWay);
  const plain = waiting.filter(({ unit }) => unit.orderKey === null);
  const ordered = waiting.filter(({ unit }) => unit.orderKey !== null);
  const insert = rows.insertOp(
    scope,
    batch.map(({ unit }) => unit),
  );
  // Units leave the window before their rows are claimed, which may happen immediately.
  const leaving = (op: Op, entries: readonly WindowEntry<U>[]): Op => ({
    ...op,
    taken(returned) {
      for (const { unit } of entries) rows.stored(unit);
      for (const one of entries) window().written(one);
      op.taken?.(returned);
    },
  });
  return [
    insert,
    ...(underWay.length > 0 ? [ops.addLeased(scope, underWay, (entry) => window().written(entry))] : []),
    ...(plain.length > 0
      ? [
          leaving(
            ops.addAll(
              scope,
              plain.map(({ unit }) => unit),
              clock.nowMs(),
              leases,
            ),
            plain,
          ),
        ]
      : []),
    ...ordered.map((entry) => leaving(rows.addInOrderOp(entry.unit, leases, clock.nowMs()), [entry])),
  ];
}

/**
 * Drops units that another process on the same database has already stored.
 * @throws Error if no unit of the batch is stored
 */
async function leaveOut<U extends Unit>(
  { rows, window, log, kind }: WriterParts<U>,
  batch: readonly WindowEntry<U>[],
  message: string,
): Promise<void> {
  let left = 0;
  for (const entry of batch) {
    if (!(await rows.isStored(entry.unit))) continue;
    window().ended(entry);
    left++;
  }
  if (left === 0) throw new Error(`Planned work could not be stored: ${message}`);
  log('warn', 'work already stored by another process', { kind, units: left });
}
