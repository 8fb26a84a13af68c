// Runs claims one at a time: when woken, when work becomes due, and while there is more work to claim.
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Log } from '../../lib/log.ts';
import { againMs } from './workers.ts';

interface Claimer {
  /** Checks for due work now. */
  wake(): void;
  stop(): void;
  readonly isBusy: boolean;
}

export function createClaimer(options: {
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
