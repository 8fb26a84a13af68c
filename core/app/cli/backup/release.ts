// `tatami release`: the operator's word that webhooks, plugins and schedules of a restored directory may run, whether a server has it
// open or not.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../config/config.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { readPausedAtMs } from '../../../platform/store/files/copied-database.ts';
import { tryLock } from '../../../platform/store/files/data-dir.ts';
import { requireOwner, releaseFile } from '../../../platform/store/files/private.ts';
import { releaseOp, writeWholeFile } from '../../../platform/store/files/installation.ts';
import { openStore } from '../../../platform/store/open-store.ts';
import { CommandError, exitCodes, printResult } from '../lib/output.ts';
import { poll } from '../lib/poll.ts';

export interface ReleaseOptions {
  dataDir?: string;
  json?: boolean;
}

/** A server looks twice a second. */
const heardWithinMs = 15_000;

/** @param folder where a relative data directory begins */
export async function release(options: ReleaseOptions, folder: string): Promise<void> {
  const flags = options.dataDir === undefined ? {} : { dataDir: options.dataDir };
  const { dataDir } = readConfig(flags, undefined, folder);
  const database = join(dataDir, 'tatami.db');
  if (!existsSync(database))
    throw new CommandError(`${dataDir} has no database. Set the data directory with --data-dir.`);
  const held = readPausedAtMs(database) !== null;
  if (held) await letRun(dataDir, database);
  printResult({ dataDir, released: held }, options, () =>
    held ? 'released  webhooks, plugins and schedules run' : 'nothing is paused in this directory',
  );
}

async function letRun(dataDir: string, database: string): Promise<void> {
  requireOwner(dataDir);
  const locked = tryLock(join(dataDir, 'lock'));
  if ('lockedBy' in locked) return tellServer(dataDir, database, locked.lockedBy);
  locked.release();
  const { store, close } = openStore(dataDir, systemClock.nowMs);
  try {
    await store.commit([releaseOp()]);
  } finally {
    await close();
  }
}

async function tellServer(dataDir: string, database: string, pid: string): Promise<void> {
  writeWholeFile(join(dataDir, releaseFile), '');
  const look = (): Promise<boolean> => Promise.resolve(readPausedAtMs(database) !== null);
  if (await poll(true, look, (waits) => !waits, heardWithinMs))
    throw new CommandError(
      `Process ${pid} has not released the directory yet. The release takes effect at the next start of the server at the latest.`,
      exitCodes.tryLater,
    );
}
