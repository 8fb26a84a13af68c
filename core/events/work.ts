// The work queue: rows that wait for a worker (runs, deliveries, schedules), claimed by lease and fenced by epoch, so that
// a crash loses none and a late worker cannot finish what another has taken over. Rows made by this process are born
// leased to it, which spares the claim, as far as their subject (an install, an endpoint) has its share of memory left; what
// has no room is held back in the database, and subjects take turns in getting theirs.
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import { Shares } from '../lib/fairness/shares.ts';
import { Turns } from '../lib/fairness/turns.ts';
import type { Log } from '../lib/log.ts';
import { systemOp, scopeOf, tenantOp, type Op, type Scope, type Store } from '../store/store.ts';
import type { Row } from '../store/statement.ts';
import * as rows from './work-rows.ts';
import { heldBackMs, neverMs } from './work-rows.ts';

export { neverMs, returningWork } from './work-rows.ts';

export interface WorkItem {
  /** Its payer is the subject. */
  readonly scope: Scope;
  readonly id: string;
  /** Who finishes the row must name the epoch it was leased under. */
  readonly epoch: number;
}

/** How a row is born, for a caller's own statement. */
export interface Lease {
  readonly dueAt: number;
  /** 0 where it is not leased. */
  readonly leaseUntil: number;
  readonly owner: string | null;
}

export interface Leases {
  lease(scope: Scope, subject: string, dueAtMs: number): Lease;
}

const leaseMs = 600_000;
/** What the clock is corrected by without being set back. */
const slewMs = 1_000;
/** Rows looked at in one go; those whose subject has no room are held back, so that the next look finds others. */
const lookedAtMax = 1_000;
/** Subjects that are given what was held back for them, in one batch. */
const refilledMax = 16;
const againMs = 1_000;

export interface WorkQueue extends Leases {
  /** Adds a row. Born leased when it is due and memory has room; hand its returned row to `adopt` after the commit. */
  add(scope: Scope, subject: string, id: string, dueAtMs: number): Op;
  /** `add` for many at once, at a tenth of its cost. `rows` are for `adopt` after the commit. */
  addAll(
    scope: Scope,
    items: readonly { readonly id: string; readonly subject: string }[],
    dueAtMs: number,
  ): { readonly op: Op; readonly rows: readonly Row[] };
  /** Leases for a plan of many rows, of which each counts although none is stored yet. */
  draft(): Leases;
  /** Takes over rows that `add` or a caller's own statement returned. */
  adopt(scope: Scope, returned: readonly Row[]): void;
  /** Ends the work; guards the batch it stands in. */
  finish(item: WorkItem): Op;
  /** Gives the work back until later; guards the batch it stands in. */
  defer(item: WorkItem, dueAtMs: number): Op;
  /** Drops a row whoever holds it (its subject is gone). */
  remove(scope: Scope, id: string): Op;
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
  /** Pieces of work in memory, all of them under way; subjects share them. */
  room: number;
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
  const shares = new Shares(options.room);
  /** Subjects for which the database holds work back. */
  const behind = new Turns<{ readonly scope: Scope; readonly subject: string }>();
  const isBehind = new Set<string>();
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
      const params = { kind, by: backMs, now: now.wallMs };
      // In the store's queue ahead of what is written by the new time.
      moving++;
      store
        .commit([systemOp(rows.moveBack, params), ...options.setBack(backMs)])
        .catch((error: unknown) =>
          log('error', 'waiting work was not moved', { kind, error: errorForLog(error) }),
        )
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
    shares.take(item.scope.workspaceId, subjectOf(item));
    void performOne(item);
  };

  const noteBehind = (scope: Scope, subject: string): void => {
    const key = `${scope.workspaceId} ${subject}`;
    if (isBehind.has(key)) return;
    isBehind.add(key);
    behind.push(scope.workspaceId, subject, { scope, subject });
  };

  /** Until it is given back, nobody can take it: so try until it is, or until the process ends and its leases with it. */
  const giveBack = async (item: WorkItem): Promise<void> => {
    for (;;) {
      try {
        await store.commit([queue.defer(item, readClock() + 5_000)]);
        return;
      } catch (error) {
        if (stopped) return;
        log('warn', 'work could not be given back', { kind, id: item.id, error: errorForLog(error) });
        await new Promise<void>((resolve) => void clock.after(againMs, resolve));
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
        error: errorForLog(error),
      });
      await giveBack(item);
    }
    held.delete(item.id);
    shares.give(item.scope.workspaceId, subjectOf(item));
    queue.wake();
    notify();
  };

  const notify = (): void => {
    if (held.size > 0 || claiming || moving > 0 || (!behind.isEmpty && !stopped)) return;
    const waiters = idle;
    idle = [];
    for (const resolve of waiters) resolve();
  };

  /** Takes over what was held back, in turn, for subjects that have at least half of their share free. */
  const refill = async (): Promise<void> => {
    const draft = shares.draft();
    const ops: Op[] = [];
    const given: { scope: Scope; subject: string; limit: number }[] = [];
    const now = readClock();
    while (given.length < refilledMax) {
      const next = behind.take(
        (_, workspaceId, subject) =>
          draft.room(workspaceId, subject) >= Math.max(1, shares.taken(workspaceId, subject)),
        (workspaceId) => draft.hasRoom(workspaceId),
      );
      if (!next) break;
      const { scope, subject } = next;
      // Said before the look, so that what is held back meanwhile is not forgotten.
      isBehind.delete(`${scope.workspaceId} ${subject}`);
      const limit = draft.room(scope.workspaceId, subject);
      draft.take(scope.workspaceId, subject, limit);
      given.push({ scope, subject, limit });
      ops.push(
        tenantOp(scope, rows.leaseHeldBack, { kind, subject, limit, now, until: now + leaseMs, owner }),
      );
    }
    if (given.length === 0) return;
    const outcome = await store.commit(ops).catch((error: unknown) => {
      for (const { scope, subject } of given) noteBehind(scope, subject);
      throw error;
    });
    for (const [index, { scope, subject, limit }] of given.entries()) {
      const returned = outcome.ok ? outcome.rows[index]! : [];
      if (!outcome.ok || returned.length === limit) noteBehind(scope, subject);
      queue.adopt(scope, returned);
    }
    again = true;
  };

  const claimDue = async (): Promise<void> => {
    if (!behind.isEmpty) await refill();
    const now = readClock();
    const [due] = await store.readSystem(rows.nextDue, { kind });
    if (!due || stopped) return;
    if (due.due_at > now) {
      cancelTimer?.();
      cancelTimer = clock.after(due.due_at - now, queue.wake);
      return;
    }
    const draft = shares.draft();
    const [fits, others] = [[] as string[][], [] as string[][]];
    for (const row of await store.readSystem(rows.dueRows, { kind, now, limit: lookedAtMax })) {
      const hasRoom = draft.room(row.workspace_id, row.subject) > 0;
      if (hasRoom) draft.take(row.workspace_id, row.subject);
      (hasRoom ? fits : others).push([row.workspace_id, row.id]);
    }
    if (stopped) return;
    const outcome = await store.commit([
      systemOp(rows.lease, { now, until: now + leaseMs, owner, rows: JSON.stringify(fits) }),
      systemOp(rows.holdBack, { now, rows: JSON.stringify(others) }),
    ]);
    if (!outcome.ok) return;
    for (const row of outcome.rows.flat()) queue.adopt(scopeOf(String(row.workspace_id)), [row]);
    again = true;
  };

  const takeOver = (expired: number): Promise<unknown> =>
    store.commit([systemOp(rows.dropLeases, { kind, owner, expired })]);

  const watchLeases = (): void => {
    cancelWatch = clock.after(leaseMs, () => {
      takeOver(clock.nowMs())
        .then(queue.wake)
        .catch((error: unknown) =>
          log('warn', 'leases could not be checked', { kind, error: errorForLog(error) }),
        )
        .finally(() => {
          if (!stopped) watchLeases();
        });
    });
  };

  const leaseFrom = (room: Shares, scope: Scope, subject: string, dueAtMs: number): Lease => {
    const now = readClock();
    if (dueAtMs > now || stopped) return { dueAt: dueAtMs, leaseUntil: 0, owner: null };
    if (room.room(scope.workspaceId, subject) === 0) return { dueAt: heldBackMs, leaseUntil: 0, owner: null };
    return { dueAt: dueAtMs, leaseUntil: now + leaseMs, owner };
  };
  const draft = (): Leases => {
    const planned = shares.draft();
    return {
      lease(scope, subject, dueAtMs) {
        const given = leaseFrom(planned, scope, subject, dueAtMs);
        if (given.leaseUntil > 0) planned.take(scope.workspaceId, subject);
        return given;
      },
    };
  };

  const queue: WorkQueue = {
    draft,
    lease: (scope, subject, dueAtMs) => leaseFrom(shares, scope, subject, dueAtMs),
    add: (scope, subject, id, dueAtMs) =>
      tenantOp(scope, rows.add, { id, kind, subject, ...queue.lease(scope, subject, dueAtMs) }),
    addAll(scope, items, dueAtMs) {
      const plan = draft();
      const added = items.map(({ id, subject }) => {
        const { dueAt, leaseUntil } = plan.lease(scope, subject, dueAtMs);
        return { id, subject, epoch: 1, due_at: dueAt, lease_until: leaseUntil };
      });
      const values = added.map(({ id, subject, due_at, lease_until }) => [id, subject, due_at, lease_until]);
      return { op: tenantOp(scope, rows.addAll, { kind, owner, rows: JSON.stringify(values) }), rows: added };
    },
    adopt(scope, returned) {
      for (const { id, subject, epoch, due_at: dueAt, lease_until: leaseUntil } of returned) {
        const payer = scopeOf(scope.workspaceId, String(subject));
        // Whether it is leased decides, not the clock: that may have been set back since.
        if (Number(leaseUntil) > 0) hold({ scope: payer, id: String(id), epoch: Number(epoch) });
        else if (dueAt === heldBackMs) noteBehind(payer, String(subject));
        if (Number(leaseUntil) === 0 && dueAt !== neverMs) queue.wake();
      }
    },
    finish: (item) =>
      tenantOp(item.scope, rows.finish, { id: item.id, epoch: item.epoch }, { expectRows: 1 }),
    defer(item, dueAtMs) {
      readClock();
      return tenantOp(
        item.scope,
        rows.defer,
        { id: item.id, epoch: item.epoch, dueAt: dueAtMs },
        { expectRows: 1 },
      );
    },
    remove: (scope, id) => tenantOp(scope, rows.remove, { id }),
    isHeld: (id) => held.has(id),
    async start() {
      // The data directory has one process, so whoever held a lease at start is gone.
      await takeOver(neverMs);
      for (const row of await store.readSystem(rows.subjectsHeldBack, { kind }))
        noteBehind(scopeOf(row.workspace_id, row.subject), row.subject);
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
          log('error', 'claim failed', { kind, error: errorForLog(error) });
          cancelTimer?.();
          cancelTimer = clock.after(againMs, queue.wake);
        })
        .finally(() => {
          claiming = null;
          if (again && !stopped) queue.wake();
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
      if (held.size > 0 || claiming) await new Promise<void>((resolve) => idle.push(resolve));
    },
  };
  return queue;
}

/** Whom the work is for: every item's scope names it. */
function subjectOf({ scope }: WorkItem): string {
  return scope.payer ?? '';
}
