// Fires timers. Each type of timer has a work queue.
import type { Committer } from '../changes/commit.ts';
import type { Directory, Services } from '../context.ts';
import type { SeenTimes } from '../events/wall-clock.ts';
import { createWorkQueue, type WorkItem, type WorkQueue } from '../events/work/queue.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { backgroundCommitDelayMs, type Scope } from '../../platform/store/store.ts';
import type { DueTimer } from './due-timer.ts';
import { acting } from './context.ts';

/** Maximum number of timers of one type processed concurrently; their commits share a sync. */
const concurrentMax = 64;
/**
 * Delay in milliseconds between the starts of two timers of one type: 10,000 due timers fire within a minute.
 */
const paceMs = 4;
/** Maximum number of attempts to plan the changes of a timer while other commits change the same objects. */
const plansMax = 10;

export interface DueTimers {
  start(): Promise<void>;
  /** Checks for due timers after the clock was set. */
  followClock(): Promise<void>;
  settled(): Promise<void>;
  stop(): Promise<void>;
}

export interface DueTimerOptions {
  readonly services: Services;
  readonly clock: Clock;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly owner: string;
  readonly seen: SeenTimes;
}

export function createDueTimers(options: DueTimerOptions, timers: readonly DueTimer[]): DueTimers {
  const queues = timers.map((timer) => createTimerQueue(options, timer));
  return {
    async start() {
      for (const queue of queues) await queue.start();
    },
    async followClock() {
      for (const queue of queues) await queue.followClock();
    },
    async settled() {
      for (const queue of queues) await queue.settled();
    },
    async stop() {
      for (const queue of queues) await queue.stop();
    },
  };
}

function createTimerQueue(options: DueTimerOptions, timer: DueTimer): WorkQueue {
  const { services, clock, committer, owner, seen } = options;
  const { store, log, mayWork } = services;
  const pace = createPace();
  const queue = createWorkQueue({
    store,
    clock,
    log,
    owner,
    seen,
    mayWork,
    kind: timer.name,
    capacity: concurrentMax,
    perform: (item) => fire({ ...options, pace }, timer, queue, item),
  });
  committer.onCommit((_workspaceId, changes) => {
    if (changes.some((change) => timer.isSetBy(change))) queue.wake();
  });
  return queue;
}

/** Delays each start by `paceMs`, so that the event loop can serve requests in between. */
function createPace(): () => Promise<void> {
  let last = Promise.resolve();
  return () => (last = last.then(() => new Promise((resolve) => void setTimeout(resolve, paceMs))));
}

/** @throws errors of `timer.fire`, and Error after repeated conflicts; the queue then retries later */
async function fire(
  { services, committer, directoryOf, pace }: DueTimerOptions & { readonly pace: () => Promise<void> },
  timer: DueTimer,
  queue: WorkQueue,
  item: WorkItem,
): Promise<void> {
  const id = item.id.slice(timer.name.length + 1);
  const options = { commitDelayMs: backgroundCommitDelayMs };
  for (let plans = 0; plans < plansMax; plans++) {
    await pace();
    const { ctx, author } = acting(services, item.scope, timer.name, await directoryOf(item.scope));
    const { changes, ops = [] } = await timer.fire(ctx, id);
    const committed = await committer.commit(author, changes, [queue.finish(item)], ops, options);
    // A timer that was set again in the meantime fires at its new time.
    if (committed.ok || committed.part === 'guard') return queue.wake();
  }
  throw new Error(`Timer ${item.id} was not processed: every attempt conflicted with other changes.`);
}
