// `tatami restore FILE --data-dir NEW`: creates a data directory in which webhooks, plugins and schedules are paused, until
// `tatami release` resumes them.
import { readFileSync } from 'node:fs';
import { resolve, join } from 'node:path';
import { restoreBackup } from '../../../platform/backup/restore.ts';
import { openDestination, type Destination } from '../../../platform/backup/copy/destination/destination.ts';
import { openSource } from '../../../platform/backup/source.ts';
import { systemClock } from '../../../platform/lib/time/clock.ts';
import { systemSentence } from '../../../platform/lib/errors/failures.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { readCopyAddress } from '../../config/config.ts';
import { moment, usage } from '../lib/flags.ts';
import { existingDataDir, type LocalOptions } from '../lib/local.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../lib/output.ts';
import { percent } from './backup.ts';
import { readPausedAtMs } from '../../../platform/store/files/copied-database.ts';
import { tryLock } from '../../../platform/store/files/data-dir.ts';
import { requireOwner, releaseFile } from '../../../platform/store/files/private.ts';
import { releaseOp, writeWholeFile } from '../../../platform/store/files/installation.ts';
import { openStore } from '../../../platform/store/open-store.ts';
import { poll } from '../lib/poll.ts';

export interface RestoreCommandOptions {
  dataDir: string;
  to?: string;
  key?: string;
  json?: boolean;
}

/** @param folder where relative paths begin */
export async function restore(file: string, options: RestoreCommandOptions, folder: string): Promise<void> {
  const dataDir = resolve(folder, options.dataDir);
  const to = options.to === undefined ? null : moment('--to', options.to, systemClock.nowMs());
  if (to !== null && Date.parse(to) > systemClock.nowMs())
    throw usage(`--to ${to} is in the future. Specify an earlier time.`);
  const openCopy = (where: string): Destination => {
    const address = readCopyAddress(where, folder);
    return openDestination(address.to, address.s3);
  };
  const source = await openSource(
    file.startsWith('s3://') ? file : resolve(folder, file),
    to === null ? null : Date.parse(to),
    openCopy,
  );
  const key = options.key === undefined ? null : keyIn(resolve(folder, options.key));
  const progress = createProgress();
  const restored = await restoreBackup({
    source,
    dataDir,
    key,
    nowMs: systemClock.nowMs,
    onProgress: (done, of) => progress.show(`unpacking and checking ${percent(done, of)}`),
  }).finally(() => progress.end());
  printResult({ dataDir, ...restored }, options, (shown) =>
    [
      `restored  ${shown.dataDir}`,
      `contains  ${counted(shown.workspaces, 'workspace')}, ${counted(shown.events, 'event')}, up to commit ${shown.position} of ${shown.at}`,
      shown.hasKey
        ? 'key       master.key is in place'
        : `key       MISSING: copy master.key of the old directory into ${shown.dataDir}; the server does not start without it`,
      `active    keys, app grants and members that were revoked or removed after ${shown.at} are active again: revoke them before the server is reachable`,
      'paused    webhooks, plugins and schedules are paused; start the server, check it, and then run:',
      `          tatami release --data-dir ${shown.dataDir}`,
    ].join('\n'),
  );
}

/** @throws CommandError */
function keyIn(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(
      `--key must be a readable file, such as master.key of the data directory. ${systemSentence(error)}`,
      exitCodes.failed,
      { cause: error },
    );
  }
}

/** A server looks twice a second. */
const heardWithinMs = 15_000;

/** Resumes the directory, whether a server has it open or not. */
export async function release(options: LocalOptions, folder: string): Promise<void> {
  const { dataDir } = existingDataDir(options, folder);
  const database = join(dataDir, 'tatami.db');
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
