// Removes expired data and returns its space to the disk, soon after the start and then periodically. Events are never removed, because
// history, undo and backfill read them; payloads of old ones may move to archive files, which remain readable.
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import type { Log } from '../lib/log.ts';
import type { Blobs } from '../store/blobs.ts';
import { StoreError, type Store } from '../store/store.ts';
import { archiveOld } from './archive.ts';
import { sweepBlobs } from './blobs.ts';
import type { RetentionSettings } from './retention.ts';
import { removeSnapshots } from './snapshots.ts';
import { giveSpaceBack } from './space.ts';
import { runSweep } from './sweeper.ts';
import { sweeps } from './sweeps.ts';
import { tombstones } from './tombstones.ts';
import { dayMs } from '../lib/time.ts';

/** Delay of the first pass, so that other start-up work runs first. */
const firstAfterMs = 15_000;
const everyMs = 600_000;

export interface Housekeeping {
  start(): void;
  /** Runs all removals until nothing is left to remove. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

interface HousekeepingOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly retention: RetentionSettings;
  readonly blobs: Blobs;
  /** Folder of the snapshots. */
  readonly snapshots: string;
}

export function createHousekeeping(options: HousekeepingOptions): Housekeeping {
  const { store, clock, log, retention, blobs, snapshots } = options;
  let cancel: (() => void) | null = null;
  let stopped = false;
  let sweeping: Promise<void> = Promise.resolve();
  const isStopped = (): boolean => stopped;
  const failed = (error: unknown): void => log('warn', 'housekeeping failed', { error: errorForLog(error) });
  /** Logs a failure, so that the other parts still run. A store fault is rethrown, because it affects every part. */
  const apart = (error: unknown): void => {
    if (error instanceof StoreError) throw error;
    failed(error);
  };

  const pass = async (): Promise<void> => {
    const removed: Record<string, number> = {};
    for (const sweep of [...sweeps, ...tombstones]) {
      const rows = await runSweep({ store, retention, nowMs: clock.nowMs, isStopped }, sweep).catch(apart);
      const { name } = sweep.removals.at(-1)!;
      if (rows) removed[name.slice(0, name.indexOf('.'))] = rows;
    }
    const old =
      retention.snapshots === null
        ? []
        : removeSnapshots(snapshots, clock.nowMs() - retention.snapshots * dayMs);
    const events = (await archive().catch(apart)) ?? 0;
    const files = (await sweepBlobs(store, blobs).catch(apart)) ?? 0;
    const pages = await giveSpaceBack(store, isStopped);
    if (Object.keys(removed).length + old.length + events + files + pages > 0)
      log('info', 'housekeeping removed expired data', {
        rows: removed,
        snapshots: old,
        archivedEvents: events,
        files,
        pages,
      });
  };

  const archive = async (): Promise<number> =>
    retention.events === null
      ? 0
      : archiveOld({ store, nowMs: clock.nowMs, isStopped }, clock.nowMs() - retention.events * dayMs);

  const schedule = (afterMs: number): void => {
    cancel = clock.after(afterMs, () => {
      sweeping = pass()
        .catch(failed)
        .finally(() => {
          if (!stopped) schedule(everyMs);
        });
    });
  };

  return {
    start: () => schedule(firstAfterMs),
    sweep: pass,
    async stop() {
      stopped = true;
      cancel?.();
      await sweeping;
    },
  };
}
