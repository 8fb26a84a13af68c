// After a restore, outgoing and autonomous work (webhooks, plugins, schedules, sweeps) waits until the operator releases it: the
// old server may still run, and work it did after the backup would be repeated. Requests are accepted meanwhile, and the work runs
// after the release. docs/spec/durability.md › Backups.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { errorForLog, type Problems } from '../../platform/lib/errors/failures.ts';
import type { Log } from '../../platform/lib/log.ts';
import { readInstallation, releaseOp } from '../../platform/store/files/installation.ts';
import { releaseFile } from '../../platform/store/files/private.ts';
import type { Store } from '../../platform/store/store.ts';

const lookEveryMs = 500;

type Start = () => Promise<void>;

export interface RestorePause {
  mayWork(): boolean;
  /**
   * Starts the work, or leaves it waiting for the release. Resolves after either.
   * @param start starts the work that may have to wait
   */
  start(store: Store, start: Start): Promise<void>;
  stop(): Promise<void>;
}

export function createRestorePause(options: {
  readonly log: Log;
  readonly problems: Problems;
  readonly clock: Clock;
  readonly dataDir: string;
}): RestorePause {
  const { log, problems, clock, dataDir } = options;
  const word = join(dataDir, releaseFile);
  let cancel = (): void => undefined;
  let looking: Promise<void> = Promise.resolve();
  let isReleased = false;
  let isStopped = false;

  const release = async (store: Store, start: Start): Promise<void> => {
    await store.commit([releaseOp()]);
    isReleased = true;
    await start();
    rmSync(word, { force: true });
    problems.clear('held');
    log('info', 'released: webhooks, plugins and schedules run');
  };

  const look = (store: Store, start: Start): void => {
    const lookLater = (): void => {
      cancel = clock.after(lookEveryMs, () => look(store, start));
    };
    if (isStopped) return;
    if (!existsSync(word)) return lookLater();
    looking = release(store, start).catch((error: unknown) => {
      log('error', 'the release failed', { error: errorForLog(error) });
      if (!isReleased) return lookLater();
      // Partially started work must not start again, so the process crashes and the next one starts it completely.
      setImmediate(() => {
        throw error;
      });
    });
  };

  return {
    mayWork: () => isReleased,
    async start(store, start) {
      const { pausedAtMs } = await readInstallation(store);
      if (pausedAtMs === null) {
        // Removes a release file that was written twice.
        rmSync(word, { force: true });
        isReleased = true;
        return start();
      }
      problems.raise(
        'held',
        'The event log starts a new generation after a restore or an accepted repair: webhooks, plugins and schedules are paused. Check the data, then run `tatami release`.',
      );
      log('warn', 'new log generation: webhooks, plugins and schedules are paused until `tatami release`');
      look(store, start);
      await looking;
    },
    async stop() {
      isStopped = true;
      cancel();
      await looking;
    },
  };
}
