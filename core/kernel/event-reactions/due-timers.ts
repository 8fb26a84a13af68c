// Timers that make changes at a due time, for example start a cycle. A timer is a row of the work queue,
// written in the batch that sets it and deleted in the batch of its changes, so it fires exactly once across
// crashes and restarts. Due times are calendar times and are not adjusted when the clock is set. See
// docs/decisions/0039.
import type { Clock } from '../../platform/lib/time/clock.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { backgroundCommitDelayMs, type Op, type Scope, tenantOp } from '../../platform/store/store.ts';
import type { Change, PlannedWrites } from '../changes/change.ts';
import type { Committer } from '../changes/commit.ts';
import type { Context, Directory, Services } from '../context.ts';
import type { SeenTimes } from '../events/wall-clock.ts';
import { createWorkQueue, type WorkItem, type WorkQueue } from '../events/work/queue.ts';
import { acting } from './reaction.ts';

export interface DueTimer {
  /** Type of the rows in the work queue, and actor of the events, such as `cycles`. */
  readonly name: string;
  /**
   * Returns true if a change may have set the timer, so that the queue looks up the next due time after the
   * commit.
   */
  isSetBy(change: Change): boolean;
  /**
   * Returns the changes of a due timer, computed from the current state: a timer may fire late, and for
   * objects that were changed or deleted in the meantime. The changes may set the timer again. Called again
   * after a conflict with concurrent changes.
   */
  fire(ctx: Context, id: string): Promise<PlannedWrites>;
}

export interface DueTimers {
  start(): Promise<void>;
  /** Checks for due timers after the clock was set. */
  followClock(): Promise<void>;
  settled(): Promise<void>;
  stop(): Promise<void>;
}

interface DueTimerOptions {
  readonly services: Services;
  readonly clock: Clock;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
  readonly owner: string;
  readonly seen: SeenTimes;
}

/** Setting a timer ends its lease, so the commit of a worker that still has the lease fails. */
const set = tenantStatement(
  'timers.set',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   VALUES (:ws, :id, :kind, :kind, :dueAt, 0, NULL, 1)
   ON CONFLICT (workspace_id, id) DO UPDATE SET due_at = :dueAt, lease_until = 0, lease_owner = NULL, epoch = epoch + 1`,
);
const unset = tenantStatement('timers.unset', 'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id');

/**
 * Sets or replaces the timer of an object; used in the `related` ops of its model.
 * @param dueAtMs time at which the timer fires; null removes the timer
 */
export function timerOp(scope: Scope, name: string, id: string, dueAtMs: number | null): Op {
  const row = `${name}/${id}`;
  return dueAtMs === null
    ? tenantOp(scope, unset, { id: row })
    : tenantOp(scope, set, { id: row, kind: name, dueAt: dueAtMs });
}

/** Maximum number of timers of one type processed concurrently; their commits share a sync. */
const concurrentMax = 64;
/**
 * Delay in milliseconds between the starts of two timers of one type: 10,000 due timers fire within a minute.
 */
const paceMs = 4;
/** Maximum number of attempts to plan the changes of a timer while other commits change the same objects. */
const plansMax = 10;

/** Fires timers. Each type of timer has a work queue. */
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
