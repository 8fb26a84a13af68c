// The time of a work queue. Due times are intervals from when they were written: when the clock is set back they move with it,
// or they would wait for the time to pass twice.
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Log } from '../../lib/log.ts';
import { systemOp, type Op, type Store } from '../../store/store.ts';
import { noteSeenOp, slewMs, type SeenTimes } from '../wall-clock.ts';
import { moveBack } from '../work-rows.ts';

interface WorkClock {
  /** To be asked before a due time is written or looked for. */
  nowMs(): number;
  /** Looks at the clock; resolves once due times have moved with it. */
  follow(): Promise<void>;
  /** Due times are being moved. */
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
    log('warn', 'the clock was set back; what waits keeps its intervals', { kind, byMs });
    moving++;
    // In the store's queue ahead of what is written by the new time.
    moved = store
      .commit([systemOp(moveBack, { kind, by: byMs, now: nowMs }), ...alongOps, noteSeenOp([kind], nowMs)])
      .catch((error: unknown) =>
        log('error', 'waiting work was not moved', { kind, error: errorForLog(error) }),
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
    // Set forward, something may be due.
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
