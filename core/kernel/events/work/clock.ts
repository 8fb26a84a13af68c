// Clock of a work queue. Due times are intervals from the time they were written, so they move with a clock that is
// set back; otherwise they would wait for the same time twice.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { systemOp, type Op, type Store } from '../../../platform/store/store.ts';
import { noteSeenOp, slewMs, type SeenTimes } from '../wall-clock.ts';
import { moveBack } from './rows.ts';

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
