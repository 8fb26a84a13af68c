// After a restore what reaches outward or acts by itself (webhooks, plugins, schedules, sweeps) waits for the operator's word: the old server may
// still run, and what it did after the backup would be done again. Everything is taken meanwhile and nothing is lost; it is done
// when the word comes. docs/spec/durability.md › Backups.
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import type { Log } from '../lib/log.ts';
import type { Problems } from '../lib/problems.ts';
import { readInstallation, releaseOp } from '../store/installation.ts';
import { releaseFile } from '../store/release-file.ts';
import type { Store } from '../store/store.ts';

const lookEveryMs = 500;

type Start = () => Promise<void>;

export interface Hold {
  mayWork(): boolean;
  /**
   * Resolves once what may run has started, or waits.
   * @param start what waits
   */
  start(store: Store, start: Start): Promise<void>;
  stop(): Promise<void>;
}

export function createHold(options: {
  readonly log: Log;
  readonly problems: Problems;
  readonly clock: Clock;
  readonly dataDir: string;
}): Hold {
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
      // What has started half must not start again: nobody catches this, and the next process starts it whole.
      setImmediate(() => {
        throw error;
      });
    });
  };

  return {
    mayWork: () => isReleased,
    async start(store, start) {
      const { heldAtMs } = await readInstallation(store);
      if (heldAtMs === null) {
        // The word of somebody who gave it twice.
        rmSync(word, { force: true });
        isReleased = true;
        return start();
      }
      problems.raise(
        'held',
        'A new history begins here, by a restore or by what the doctor accepted: webhooks, plugins and schedules wait. Look at it, then let them run with `tatami release`.',
      );
      log('warn', 'a new history begins: webhooks, plugins and schedules wait for `tatami release`');
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
