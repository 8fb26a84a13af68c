// The work queue: work that waits for a worker (runs, deliveries, schedules). Its rows are claimed by lease and fenced by epoch, so
// that a crash loses none and a late worker cannot finish what another has taken over. What an event means comes as a unit that has no
// row until it has to wait. Subjects (an install, an endpoint) share the room in memory; what has none is held back in the
// database, and subjects take turns in getting theirs.
import type { Clock } from '../lib/clock.ts';
import { Shares } from '../lib/fairness/shares.ts';
import type { Log } from '../lib/log.ts';
import type { Op, Scope, Store } from '../store/store.ts';
import type { SeenTimes } from './wall-clock.ts';
import { Behind } from './work/behind.ts';
import { claim } from './work/claim.ts';
import { createClaimer } from './work/claimer.ts';
import { createWorkClock } from './work/clock.ts';
import { createIntake } from './work/intake.ts';
import { createLeases, watchLeases } from './work/leases.ts';
import { createWorkOps, type WorkOps } from './work/ops.ts';
import type { Unit, UnitRows } from './work/unit.ts';
import { createRest } from './work/rest.ts';
import { createUnits, type Units } from './work/units.ts';
import { createWorkers, type WorkItem } from './work/workers.ts';

export { neverMs, returningWork } from './work-rows.ts';
export type { Leases } from './work/leases.ts';
export type { Unit, UnitRows } from './work/unit.ts';
export type { WorkItem } from './work/workers.ts';

/** What whoever performs a piece of work calls, whether that has rows or not. */
type ItemCalls = 'whileSealed' | 'ending' | 'putOff' | 'drop';

export interface WorkQueue extends WorkOps, Pick<Units<Unit>, ItemCalls> {
  isHeld(id: string): boolean;
  /** False: work is taken, and none of it is done. */
  mayWork(): boolean;
  start(): Promise<void>;
  /** Has due times follow the clock, where that was set. */
  followClock(): Promise<void>;
  /** Looks for due work now. */
  wake(): void;
  /** Resolves once nothing is due and nothing runs. */
  settled(): Promise<void>;
  /** Takes no more work and waits for what runs. */
  stop(): Promise<void>;
}

/** A queue whose work has no rows until it has to wait. */
export interface UnitQueue<U extends Unit> extends WorkQueue, Units<U> {
  /** Called when work of a subject, the payer of the scope, has ended. */
  onRoom(listener: (scope: Scope) => void): void;
}

interface WorkQueueOptions<Q extends WorkQueue> {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly kind: string;
  /** Names this process among others on the same database. */
  readonly owner: string;
  readonly seen: SeenTimes;
  /** Pieces of work in memory, all of them under way; subjects share them. */
  readonly room: number;
  /** Once it says yes it does for good, and the queue is started then. By default it always does. */
  mayWork?(): boolean;
  /**
   * What else of the subject has to move, by so many milliseconds, when due times move with a clock that is set back. Absent for
   * times of the calendar, which do not.
   */
  setBack?(byMs: number): Op[];
  /** The clock was set back; of times of the calendar, which are to be planned anew. */
  onSetBack?(): void;
  /** Does the work and commits its end with `finish` or `defer`. What it throws gives the work back for a while. */
  perform(item: WorkItem, queue: Q): Promise<void>;
}

/** A queue of work that has rows from the beginning. */
export function createWorkQueue(options: WorkQueueOptions<WorkQueue>): WorkQueue {
  return createUnitQueue({ ...options, rows: null });
}

export function createUnitQueue<U extends Unit>(
  options: WorkQueueOptions<UnitQueue<U>> & { readonly rows: UnitRows<U> | null },
): UnitQueue<U> {
  const { store, clock, log, kind, owner } = options;
  const shares = new Shares(options.room);
  const behind = new Behind(store, kind);
  const roomListeners: ((scope: Scope) => void)[] = [];
  let stopped = false;
  const isStopped = (): boolean => stopped;
  const mayWork = (): boolean => !stopped && (options.mayWork?.() ?? true);
  const rest = createRest(
    () => workers.isBusy || claimer.isBusy || time.isMoving || isWriting() || (!behind.isEmpty && !stopped),
  );
  const notify = rest.look;
  const wake = (): void => claimer.wake();
  const lookAgain = (): void => {
    wake();
    notify();
  };

  const common = { store, clock, log, kind, owner, shares, behind, isStopped, mayWork };
  const time = createWorkClock({ ...options, isStopped, onMoved: lookAgain });
  const { nowMs } = time;
  const workers = createWorkers({
    ...common,
    perform: (item) => options.perform(item, queue),
    async putOff(item, forMs) {
      const { ok } = await units.whileSealed(item, () => store.commit(units.putOff(item, nowMs() + forMs)));
      if (!ok) units.drop(item);
    },
    onFree(scope) {
      for (const listener of roomListeners) listener(scope);
      lookAgain();
    },
  });
  const intake = createIntake({ behind, hold: workers.hold, onDue: wake });
  const ops = createWorkOps({ ...common, leases: createLeases({ ...common, nowMs }), intake, nowMs });
  const desk = { ...common, intake, nowMs };
  const claimer = createClaimer({ ...common, claim: () => claim(desk), onRest: notify });
  const leaseWatch = watchLeases({ ...common, onFreed: wake });
  const { units, isWriting } = createUnits({
    ...common,
    ops,
    rows: options.rows,
    hold: workers.hold,
    onChange: notify,
  });

  const queue: UnitQueue<U> = {
    ...ops,
    ...units,
    isHeld: (id) => units.isHeld(id) || workers.isHeld(id),
    onRoom: (listener) => void roomListeners.push(listener),
    ...{ wake, mayWork },
    ...createLife({ leaseWatch, behind, claimer, rest, time }, workers, () => (stopped = true)),
  };
  return queue;
}

/** How a queue begins and ends. */
function createLife(
  parts: {
    readonly leaseWatch: ReturnType<typeof watchLeases>;
    readonly behind: Behind;
    readonly claimer: ReturnType<typeof createClaimer>;
    readonly rest: ReturnType<typeof createRest>;
    readonly time: ReturnType<typeof createWorkClock>;
  },
  workers: { readonly isBusy: boolean },
  onStop: () => void,
): Pick<WorkQueue, 'start' | 'followClock' | 'settled' | 'stop'> {
  const { leaseWatch, behind, claimer, rest, time } = parts;
  return {
    async start() {
      await leaseWatch.start();
      await time.follow();
      await behind.look();
      claimer.wake();
    },
    followClock: () => time.follow(),
    settled() {
      claimer.wake();
      return rest.begins();
    },
    async stop() {
      onStop();
      claimer.stop();
      leaseWatch.stop();
      if (workers.isBusy || claimer.isBusy) await rest.begins();
    },
  };
}
