// Work queue for runs, deliveries and schedules. Rows are claimed by lease and fenced by epoch, so a crash
// loses no work and a late worker cannot finish work that another worker has leased since. Work planned from
// events consists of units, which get rows only if they have to wait. Subscribers (plugin installs, webhook
// endpoints) share the capacity in memory. Work over the quota of a subscriber stays in the database until a
// fair queue selects the subscriber.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Op, Scope, Store } from '../../../platform/store/store.ts';
import type { SeenTimes } from '../wall-clock.ts';
import { Behind, createWorkClock } from './clock.ts';
import { claim, createIntake, createLeases, watchLeases } from './claim.ts';
import { createWorkOps, type WorkOps } from './ops.ts';
import { type Unit, type UnitRows, createUnits, type ItemCalls, type Units } from './units.ts';
import { createWorkers, type WorkItem, againMs } from './window.ts';
import { WithoutRows } from './without-rows.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';

export { addedWork, neverMs, returningWork } from './rows.ts';
export type { Leases } from './claim.ts';
export type { Unit, UnitRows } from './units.ts';
export type { WorkItem } from './window.ts';

interface QueueLife {
  start(): Promise<void>;
  /** Moves due times after a clock change. */
  followClock(): Promise<void>;
  /** Resolves once no work is due or running. */
  settled(): Promise<void>;
  /** Stops accepting work and waits for running work. */
  stop(): Promise<void>;
}

export interface WorkQueue extends WorkOps, ItemCalls, QueueLife {
  isActive(id: string): boolean;
  /** Returns false while work is accepted but not performed. */
  mayWork(): boolean;
  /** Checks for due work now. */
  wake(): void;
}

/** Queue whose work gets rows only if it has to wait. */
export interface UnitQueue<U extends Unit> extends WorkQueue, Units<U> {
  /** Called when work of a subscriber has ended. The account of `scope` identifies the subscriber. */
  onCapacity(listener: (scope: Scope) => void): void;
}

interface WorkQueueOptions<Q extends WorkQueue> {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly kind: string;
  /** Identifies this process among others on the same database. */
  readonly owner: string;
  readonly seen: SeenTimes;
  /** Number of work items that the subscribers may have in memory together. */
  readonly capacity: number;
  /** Must stay true once it is true; the queue is started then. Default: always true. */
  mayWork?(): boolean;
  /**
   * Returns ops that move other times of the work back by `byMs` after the clock was set back. Absent for
   * calendar times, which do not move.
   */
  setBack?(byMs: number): Op[];
  /**
   * Called after the clock was set back if `setBack` is absent, because calendar times have to be planned
   * again.
   */
  onSetBack?(): void;
  /**
   * Performs the work and commits its completion with `finish` or `defer`. If it throws, the work is retried later.
   */
  perform(item: WorkItem, queue: Q): Promise<void>;
}

/** Creates a queue whose work always has rows. */
export function createWorkQueue(options: WorkQueueOptions<WorkQueue>): WorkQueue {
  return createUnitQueue({ ...options, rows: null });
}

// Notifies callers that wait until a queue is idle.

interface Rest {
  /** Resolves once the queue is not busy. */
  begins(): Promise<void>;
  /** Call whenever the queue may have become idle. */
  look(): void;
}

function createRest(isBusy: () => boolean): Rest {
  let waiters: (() => void)[] = [];
  const look = (): void => {
    if (isBusy()) return;
    const resolvers = waiters;
    waiters = [];
    for (const resolve of resolvers) resolve();
  };
  return {
    look,
    begins: () =>
      new Promise((resolve) => {
        waiters.push(resolve);
        look();
      }),
  };
}

// Runs claims one at a time: when woken, when work becomes due, and while there is more work to claim.

interface Claimer {
  /** Checks for due work now. */
  wake(): void;
  stop(): void;
  readonly isBusy: boolean;
}

function createClaimer(options: {
  clock: Clock;
  log: Log;
  kind: string;
  /** Returns false while nothing may be claimed. */
  mayWork(): boolean;
  /** @returns delay before the next claim in ms; null to wait for a wake-up */
  claim(): Promise<number | null>;
  onRest(): void;
}): Claimer {
  const { clock, log, kind } = options;
  let isStopped = false;
  let isClaiming = false;
  let isWoken = false;
  let cancelTimer = (): void => undefined;

  const run = async (): Promise<void> => {
    let waitMs: number | null = null;
    isClaiming = true;
    do {
      isWoken = false;
      try {
        waitMs = await options.claim();
      } catch (error) {
        log('error', 'claim failed', { kind, error: errorForLog(error) });
        waitMs = againMs;
      }
    } while ((isWoken || waitMs === 0) && !isStopped);
    isClaiming = false;
    if (waitMs !== null && !isStopped) {
      cancelTimer();
      cancelTimer = clock.after(waitMs, wake);
    }
    options.onRest();
  };

  const wake = (): void => {
    isWoken = true;
    if (!isClaiming && !isStopped && options.mayWork()) void run();
  };

  return {
    wake,
    stop() {
      isStopped = true;
      cancelTimer();
    },
    get isBusy() {
      return isClaiming;
    },
  };
}

export function createUnitQueue<U extends Unit>(
  options: WorkQueueOptions<UnitQueue<U>> & { readonly rows: UnitRows<U> | null },
): UnitQueue<U> {
  const { store, clock, log, kind, owner } = options;
  const quota = new FairQuota(options.capacity);
  const behind = new Behind(store, kind);
  const withoutRows = new WithoutRows();
  const capacityListeners: ((scope: Scope) => void)[] = [];
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

  const common = { store, clock, log, kind, owner, quota, behind, withoutRows, isStopped, mayWork };
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
      for (const listener of capacityListeners) listener(scope);
      // Without work over its quota, capacity makes nothing due.
      if (!behind.isEmpty) wake();
      notify();
    },
  });
  const intake = createIntake({ ...common, hold: workers.hold, onDue: wake });
  const ops = createWorkOps({ ...common, leases: createLeases({ ...common, nowMs }), intake, nowMs });
  const claimOptions = { ...common, intake, nowMs };
  const claimer = createClaimer({ ...common, claim: () => claim(claimOptions), onRest: notify });
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
    isActive: (id) => units.isActive(id) || workers.isActive(id),
    onCapacity: (listener) => void capacityListeners.push(listener),
    wake,
    mayWork,
    ...createLife({ leaseWatch, behind, claimer, rest, time }, workers, () => (stopped = true)),
  };
  return queue;
}

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
): QueueLife {
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
