// The time of a work queue. Due times are intervals from when they were written: when the clock is set back they move with it,
// or they would wait for the time to pass twice.
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Log } from '../../lib/log.ts';
import { systemOp, type Op, type Store } from '../../store/store.ts';
import { moveBack } from '../work-rows.ts';

/** What the clock is corrected by without being set back. */
const slewMs = 1_000;

interface WorkClock {
  /** To be asked before a due time is written or looked for. */
  nowMs(): number;
  /** Due times are being moved. */
  readonly isMoving: boolean;
}

export function createWorkClock(options: {
  store: Store;
  clock: Clock;
  log: Log;
  kind: string;
  setBack: ((byMs: number) => Op[]) | undefined;
  isStopped(): boolean;
  onMoved(): void;
}): WorkClock {
  const { store, clock, log, kind, isStopped } = options;
  let moving = 0;
  let seen = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };

  const moveAll = (alongOps: readonly Op[], byMs: number, nowMs: number): void => {
    log('warn', 'the clock was set back; what waits keeps its intervals', { kind, byMs });
    moving++;
    // In the store's queue ahead of what is written by the new time.
    store
      .commit([systemOp(moveBack, { kind, by: byMs, now: nowMs }), ...alongOps])
      .catch((error: unknown) =>
        log('error', 'waiting work was not moved', { kind, error: errorForLog(error) }),
      )
      .finally(() => {
        moving--;
        options.onMoved();
      });
  };

  return {
    nowMs() {
      const now = { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
      const backMs = Math.round(seen.wallMs + (now.monotonicMs - seen.monotonicMs) - now.wallMs);
      seen = now;
      if (backMs > slewMs && options.setBack && !isStopped())
        moveAll(options.setBack(backMs), backMs, now.wallMs);
      return now.wallMs;
    },
    get isMoving() {
      return moving > 0;
    },
  };
}
