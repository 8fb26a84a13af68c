// The work queue: rows that wait for a worker (runs, deliveries, schedules), claimed by lease and fenced by epoch, so that
// a crash loses none and a late worker cannot finish what another has taken over. Rows made by this process are born
// leased to it, which spares the claim.
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import { systemStatement, tenantStatement, type Row } from '../store/statement.ts';
import { scopeOf, tenantOp, type Op, type Scope, type Store } from '../store/store.ts';

export interface WorkItem {
  readonly scope: Scope;
  readonly id: string;
  /** Who finishes the row must name the epoch it was leased under. */
  readonly epoch: number;
}

const leaseMs = 600_000;
/** What the clock is corrected by without being set back. */
const slewMs = 1_000;
/** Items held in memory, running and waiting; more stay in the database. */
const heldMax = 2_000;

const add = tenantStatement<{ id: string; epoch: number; due_at: number }>(
  'due_work.add',
  `INSERT INTO due_work (workspace_id, id, kind, due_at, lease_until, lease_owner, epoch)
   VALUES (:ws, :id, :kind, :dueAt, :leaseUntil, :owner, 1)
   RETURNING id, epoch, CASE WHEN lease_until > 0 THEN due_at ELSE :never END AS due_at`,
);
const addAll = tenantStatement(
  'due_work.add_all',
  `INSERT INTO due_work (workspace_id, id, kind, due_at, lease_until, lease_owner, epoch)
   SELECT :ws, value, :kind, :dueAt, :leaseUntil, :owner, 1 FROM json_each(:ids)`,
);
const finish = tenantStatement(
  'due_work.finish',
  'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id AND epoch = :epoch',
);
const remove = tenantStatement(
  'due_work.remove',
  'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id',
);
const defer = tenantStatement(
  'due_work.defer',
  `UPDATE due_work SET due_at = :dueAt, lease_until = 0, lease_owner = NULL
   WHERE workspace_id = :ws AND id = :id AND epoch = :epoch`,
);
const claim = systemStatement<{ workspace_id: string; id: string; epoch: number }>(
  'due_work.claim',
  'workers serve all workspaces, earliest first',
  `UPDATE due_work SET lease_until = :until, lease_owner = :owner, epoch = epoch + 1
   WHERE (workspace_id, id) IN (
     SELECT workspace_id, id FROM due_work WHERE kind = :kind AND lease_owner IS NULL AND due_at <= :now
       ORDER BY due_at LIMIT :limit)
   RETURNING workspace_id, id, epoch`,
);
const nextDue = systemStatement<{ due_at: number | null }>(
  'due_work.next',
  'workers serve all workspaces, earliest first',
  'SELECT due_at FROM due_work WHERE kind = :kind AND lease_owner IS NULL ORDER BY due_at LIMIT 1',
);
const moveBack = systemStatement(
  'due_work.move_back',
  'the clock was set back for all workspaces',
  `UPDATE due_work SET due_at = due_at - :by
   WHERE kind = :kind AND lease_owner IS NULL AND due_at > :now AND due_at < :never`,
);
const dropLeases = systemStatement(
  'due_work.drop_leases',
  'leases that ran out are of workers that are gone, whatever workspace they served',
  `UPDATE due_work SET lease_until = 0, lease_owner = NULL
   WHERE kind = :kind AND lease_owner IS NOT NULL AND lease_until <= :expired AND lease_owner <> :owner`,
);

/** Never due by itself: work that waits for another piece of work. */
export const neverMs = 8_640_000_000_000_000;

export interface WorkQueue {
  /** Adds a row. Born leased when it is due and memory has room; hand its returned row to `adopt` after the commit. */
  add(scope: Scope, id: string, dueAtMs: number): Op;
  /** `add` for many at once, at a tenth of its cost. `rows` are for `adopt` after the commit. */
  addAll(scope: Scope, ids: readonly string[], dueAtMs: number): { readonly op: Op; readonly rows: Row[] };
  /** Takes over rows that `add` or a caller's own statement returned as leased to `owner`: their `due_at` is not `neverMs`. */
  adopt(scope: Scope, rows: readonly Row[]): void;
  /** Ends the work; guards the batch it stands in. */
  finish(item: WorkItem): Op;
  /** Gives the work back until later; guards the batch it stands in. */
  defer(item: WorkItem, dueAtMs: number): Op;
  /** Drops a row whoever holds it (its subject is gone). */
  remove(scope: Scope, id: string): Op;
  readonly owner: string;
  /** The lease that a caller's own statement gives, under the same rules as `add`. */
  leaseUntil(dueAtMs: number): number;
  isHeld(id: string): boolean;
  start(): Promise<void>;
  /** Looks for due work now. */
  wake(): void;
  /** Resolves once nothing is due and nothing runs. */
  settled(): Promise<void>;
  /** Takes no more work and waits for what runs. */
  stop(): Promise<void>;
}

export function createWorkQueue(options: {
  store: Store;
  clock: Clock;
  log: Log;
  kind: string;
  /** Names this process among others on the same database. */
  owner: string;
  concurrency: number;
  /**
   * Due times are intervals from when they were written: when the clock is set back they move with it, or they would wait for
   * the time to pass twice. What else of the subject has to move, by so many milliseconds. Absent for times of the calendar.
   */
  setBack?(byMs: number): Op[];
  /** Does the work and commits its end with `finish` or `defer`. What it throws gives the work back for a while. */
  perform(item: WorkItem, queue: WorkQueue): Promise<void>;
}): WorkQueue {
  const { store, clock, log, kind, owner } = options;
  // A lease of our own never runs out for ourselves: what is held here is claimed by nobody else of this process.
  const held = new Set<string>();
  const waiting: WorkItem[] = [];
  let active = 0;
  let stopped = false;
  let claiming: Promise<void> | null = null;
  let again = false;
  let cancelTimer: (() => void) | null = null;
  let cancelWatch: (() => void) | null = null;
  let idle: (() => void)[] = [];

  let moving = 0;
  let seen = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
  /** To be asked before a due time is written or looked for. @returns the time */
  const readClock = (): number => {
    const now = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const backMs = Math.round(seen.wallMs + (now.monotonicMs - seen.monotonicMs) - now.wallMs);
    seen = now;
    if (backMs > slewMs && options.setBack && !stopped) {
      log('warn', 'the clock was set back; what waits keeps its intervals', { kind, byMs: backMs });
      const params = { kind, by: backMs, now: now.wallMs, never: neverMs };
      // In the store's queue ahead of what is written by the new time.
      moving++;
      store
        .commit([{ statement: moveBack, params, scope: null }, ...options.setBack(backMs)])
        .catch((error: unknown) => log('error', 'waiting work was not moved', { kind, error: String(error) }))
        .finally(() => {
          moving--;
          queue.wake();
          notify();
        });
    }
    return now.wallMs;
  };

  const hold = (item: WorkItem): void => {
    // What is leased to a process that ends is the next one's.
    if (stopped) return;
    held.add(item.id);
    waiting.push(item);
  };

  const drain = (): void => {
    while (!stopped && active < options.concurrency) {
      const item = waiting.shift();
      if (!item) break;
      active++;
      void performOne(item);
    }
  };

  /** Until it is given back, nobody can take it: so try until it is, or until the process ends and its leases with it. */
  const giveBack = async (item: WorkItem): Promise<void> => {
    for (;;) {
      try {
        await store.commit([queue.defer(item, readClock() + 5_000)]);
        return;
      } catch (error) {
        if (stopped) return;
        log('warn', 'work could not be given back', { kind, id: item.id, error: String(error) });
        await new Promise<void>((resolve) => void clock.after(1_000, resolve));
      }
    }
  };

  const performOne = async (item: WorkItem): Promise<void> => {
    try {
      await options.perform(item, queue);
    } catch (error) {
      log('error', 'work failed', {
        kind,
        id: item.id,
        workspaceId: item.scope.workspaceId,
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      });
      await giveBack(item);
    }
    held.delete(item.id);
    active--;
    drain();
    if (waiting.length === 0) queue.wake();
    notify();
  };

  const notify = (): void => {
    if (active > 0 || waiting.length > 0 || claiming || moving > 0) return;
    const waiters = idle;
    idle = [];
    for (const resolve of waiters) resolve();
  };

  const claimDue = async (): Promise<void> => {
    const now = readClock();
    const limit = Math.min(options.concurrency * 2, heldMax - held.size);
    if (limit <= 0) return;
    const [due] = await store.readSystem(nextDue, { kind });
    if (due?.due_at == null || stopped) return;
    if (due.due_at > now) {
      cancelTimer?.();
      cancelTimer = due.due_at >= neverMs ? null : clock.after(due.due_at - now, queue.wake);
      return;
    }
    const outcome = await store.commit([
      { statement: claim, params: { kind, now, limit, until: now + leaseMs, owner }, scope: null },
    ]);
    if (!outcome.ok) return;
    for (const row of outcome.rows[0] ?? [])
      hold({ scope: scopeOf(String(row.workspace_id)), id: String(row.id), epoch: Number(row.epoch) });
    drain();
    if ((outcome.rows[0]?.length ?? 0) > 0) again = true;
  };

  const takeOver = (expired: number): Promise<unknown> =>
    store.commit([{ statement: dropLeases, params: { kind, owner, expired }, scope: null }]);

  const watchLeases = (): void => {
    cancelWatch = clock.after(leaseMs, () => {
      takeOver(clock.nowMs())
        .then(queue.wake)
        .catch((error: unknown) => log('warn', 'leases could not be checked', { kind, error: String(error) }))
        .finally(() => {
          if (!stopped) watchLeases();
        });
    });
  };

  const queue: WorkQueue = {
    owner,
    leaseUntil(dueAtMs) {
      const now = readClock();
      return dueAtMs <= now && held.size < heldMax && !stopped ? now + leaseMs : 0;
    },
    add(scope, id, dueAtMs) {
      const leaseUntil = queue.leaseUntil(dueAtMs);
      return tenantOp(scope, add, {
        id,
        kind,
        dueAt: dueAtMs,
        leaseUntil,
        owner: leaseUntil > 0 ? owner : null,
        never: neverMs,
      });
    },
    addAll(scope, ids, dueAtMs) {
      const leaseUntil = queue.leaseUntil(dueAtMs);
      const lease = { dueAt: dueAtMs, leaseUntil, owner: leaseUntil > 0 ? owner : null };
      const due_at = leaseUntil > 0 ? dueAtMs : neverMs;
      return {
        op: tenantOp(scope, addAll, { kind, ids: JSON.stringify(ids), ...lease }),
        rows: ids.map((id) => ({ id, epoch: 1, due_at })),
      };
    },
    adopt(scope, rows) {
      for (const row of rows)
        // Whether it is leased decides, not the clock: that may have been set back since.
        if (Number(row.due_at) < neverMs) hold({ scope, id: String(row.id), epoch: Number(row.epoch) });
        else queue.wake();
      drain();
    },
    finish: (item) => tenantOp(item.scope, finish, { id: item.id, epoch: item.epoch }, { expectRows: 1 }),
    defer(item, dueAtMs) {
      readClock();
      return tenantOp(
        item.scope,
        defer,
        { id: item.id, epoch: item.epoch, dueAt: dueAtMs },
        { expectRows: 1 },
      );
    },
    remove: (scope, id) => tenantOp(scope, remove, { id }),
    isHeld: (id) => held.has(id),
    async start() {
      // The data directory has one process, so whoever held a lease at start is gone.
      await takeOver(neverMs);
      watchLeases();
      queue.wake();
    },
    wake() {
      if (stopped) return;
      if (claiming) {
        again = true;
        return;
      }
      again = false;
      claiming = claimDue()
        .catch((error: unknown) => {
          log('error', 'claim failed', { kind, error: String(error) });
          cancelTimer?.();
          cancelTimer = clock.after(1_000, queue.wake);
        })
        .finally(() => {
          claiming = null;
          if (again && !stopped && held.size < heldMax) queue.wake();
          else notify();
        });
    },
    settled() {
      queue.wake();
      return new Promise((resolve) => {
        idle.push(resolve);
        notify();
      });
    },
    async stop() {
      stopped = true;
      cancelTimer?.();
      cancelWatch?.();
      waiting.length = 0;
      if (active > 0 || claiming) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
  return queue;
}
