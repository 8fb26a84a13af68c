// Claims again and again, one claim at a time: when it is woken, when something falls due, and while there is more to take.
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Log } from '../../lib/log.ts';
import { againMs } from './workers.ts';

interface Claimer {
  /** Looks for due work now. */
  wake(): void;
  stop(): void;
  readonly isBusy: boolean;
}

export function createClaimer(options: {
  clock: Clock;
  log: Log;
  kind: string;
  /** Nothing is claimed while it says no. */
  mayWork(): boolean;
  /** @returns after how long to claim again (ms); null: when woken */
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
