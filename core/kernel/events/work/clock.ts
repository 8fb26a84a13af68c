// Clock of a work queue, and the fair queue of its subscribers that have work over their quota.
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import { FairQueue } from '../../../platform/lib/fairness/fair-queue.ts';
import type { Log } from '../../../platform/lib/log.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { type Op, type Scope, scopeOf, type Store, systemOp } from '../../../platform/store/store.ts';
import { noteSeenOp, type SeenTimes, slewMs } from '../wall-clock.ts';
import { moveBack, subjectsOverQuota } from './rows.ts';

/**
 * Due times are intervals from the time they were written, so they move with a clock that is set back;
 * otherwise they would wait for the same time twice.
 */
interface WorkClock {
  /** Returns the current time. Call before a due time is written or compared. */
  nowMs(): number;
  /** Reads the clock; resolves once due times have moved with it. */
  follow(): Promise<void>;
  /** True while due times are being moved. */
  readonly isMoving: boolean;
}

export function createWorkClock(options: {
  store: Store;
  clock: Clock;
  log: Log;
  kind: string;
  seen: SeenTimes;
  setBack?(byMs: number): Op[];
  onSetBack?(): void;
  isStopped(): boolean;
  onMoved(): void;
}): WorkClock {
  const { store, clock, log, kind, isStopped } = options;
  let moving = 0;
  let moved: Promise<unknown> = Promise.resolve();
  let seen = {
    wallMs: Math.max(options.seen.get(kind) ?? 0, clock.nowMs()),
    monotonicMs: clock.monotonicMs(),
  };

  const moveAll = (alongOps: readonly Op[], byMs: number, nowMs: number): void => {
    log('warn', 'clock set back; moving due times', { kind, byMs });
    moving++;
    // The store queues this commit ahead of rows that use the new time.
    moved = store
      .commit([systemOp(moveBack, { kind, by: byMs, now: nowMs }), ...alongOps, noteSeenOp([kind], nowMs)])
      .catch((error: unknown) =>
        log('error', 'due times were not moved', { kind, error: errorForLog(error) }),
      )
      .finally(() => {
        moving--;
        options.onMoved();
      });
  };

  const nowMs = (): number => {
    const now = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const backMs = Math.round(seen.wallMs + (now.monotonicMs - seen.monotonicMs) - now.wallMs);
    seen = now;
    if (backMs > slewMs && !isStopped()) {
      if (options.setBack) moveAll(options.setBack(backMs), backMs, now.wallMs);
      else options.onSetBack?.();
    }
    // After a forward jump, work may be due.
    if (backMs < -slewMs) options.onMoved();
    return now.wallMs;
  };
  return {
    nowMs,
    async follow() {
      nowMs();
      await moved;
    },
    get isMoving() {
      return moving > 0;
    },
  };
}

export const rememberedMax = 1_024;

export interface BehindSubject {
  readonly scope: Scope;
  readonly subject: string;
}

const beginning = { workspace_id: '', subject: '' };

/**
 * Fair queue of the subscribers that have work over their quota in the database. It caches a limited part of
 * them; once that part is empty, it reads the next part from the database, cyclically.
 */
export class Behind {
  readonly #store: Store;
  readonly #kind: string;
  readonly #turns = new FairQueue<BehindSubject>();
  readonly #remembered = new Set<string>();
  /** True if the database may have subscribers that are not cached; only `look` then adds subscribers. */
  #isPartial = false;
  #lookedUpTo = beginning;

  constructor(store: Store, kind: string) {
    this.#store = store;
    this.#kind = kind;
  }

  get isEmpty(): boolean {
    return this.#turns.isEmpty && !this.#isPartial;
  }

  /** True if every cached subscriber has been taken. */
  get isExhausted(): boolean {
    return this.#turns.isEmpty;
  }

  has(scope: Scope, subject: string): boolean {
    return this.#remembered.has(keyOf(scope, subject));
  }

  note(scope: Scope, subject: string): void {
    if (!this.#isPartial) this.#remember(scope, subject);
  }

  /** Removes and returns the next subscriber that both filters accept. */
  take(
    mayGo: (workspaceId: string, subject: string) => boolean,
    workspaceMayGo: (workspaceId: string) => boolean,
  ): BehindSubject | undefined {
    const next = this.#turns.take((_, workspaceId, subject) => mayGo(workspaceId, subject), workspaceMayGo);
    if (next) this.#remembered.delete(keyOf(next.scope, next.subject));
    return next;
  }

  /** Caches the next part of the subscribers in the database. */
  async look(): Promise<void> {
    const { workspace_id: workspaceId, subject } = this.#lookedUpTo;
    // Reset before the read, so that `note` adds subscribers that exceed their quota during the read.
    if (this.#lookedUpTo === beginning) this.#isPartial = false;
    const params = { kind: this.#kind, workspaceId, subject, limit: rememberedMax };
    const rows = await this.#store.readSystem(subjectsOverQuota, params);
    for (const row of rows) this.#remember(scopeOf(row.workspace_id, row.subject), row.subject);
    const last = rows.length === rememberedMax ? rows.at(-1) : undefined;
    if (last) this.#isPartial = true;
    this.#lookedUpTo = last ?? beginning;
    // No subscriber follows the last one: the next cycle starts, because earlier ones may have work again.
    if (rows.length === 0 && subject !== '') await this.look();
  }

  #remember(scope: Scope, subject: string): void {
    const key = keyOf(scope, subject);
    if (this.#remembered.has(key)) return;
    if (this.#remembered.size >= rememberedMax) {
      this.#isPartial = true;
      return;
    }
    this.#remembered.add(key);
    this.#turns.push(scope.workspaceId, subject, { scope, subject });
  }
}

const keyOf = ({ workspaceId }: Scope, subject: string): string => `${workspaceId} ${subject}`;
