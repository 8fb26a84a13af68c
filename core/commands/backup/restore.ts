// `tatami restore FILE --data-dir NEW`: a data directory made of a backup, in which nothing acts by itself until the operator says so.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { restoreBackup } from '../../backup/restore.ts';
import { openDestination, type Destination } from '../../backup/copy/destination.ts';
import { openSource } from '../../backup/source.ts';
import { systemClock } from '../../lib/clock.ts';
import { systemSentence } from '../../lib/system-errors.ts';
import { counted } from '../../lib/counted.ts';
import { readCopyAddress } from '../../config.ts';
import { moment, usage } from '../flags.ts';
import { CommandError, createProgress, exitCodes, printResult } from '../output.ts';
import { percent } from './shown.ts';

export interface RestoreOptions {
  dataDir: string;
  to?: string;
  key?: string;
  json?: boolean;
}

/** @param folder where relative paths begin */
export async function restore(file: string, options: RestoreOptions, folder: string): Promise<void> {
  const dataDir = resolve(folder, options.dataDir);
  const to = options.to === undefined ? null : moment('--to', options.to, systemClock.nowMs());
  if (to !== null && Date.parse(to) > systemClock.nowMs()) throw usage(`--to ${to} has not come yet.`);
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
    ...{ source, dataDir, key },
    nowMs: systemClock.nowMs,
    onProgress: (done, of) => progress.show(`unpacking and checking ${percent(done, of)}`),
  }).finally(() => progress.end());
  printResult({ dataDir, ...restored }, options, (shown) =>
    [
      `restored  ${shown.dataDir}`,
      `holds     ${counted(shown.workspaces, 'workspace')}, ${counted(shown.events, 'event')}, up to commit ${shown.position} of ${shown.at}`,
      shown.hasKey
        ? 'key       master.key is in place'
        : `key       MISSING: put the master.key of the old directory into ${shown.dataDir}, or no server starts there`,
      `again     keys, app grants and members that were ended or removed after ${shown.at} are live again: end them before others reach the server`,
      ...(shown.generation === null
        ? [
            `schema    ${shown.schema}, as it was: start the program that made it. Nothing waits there for your word`,
          ]
        : [
            'waits     webhooks, plugins and schedules wait for your word; start the server, look at it, and then:',
            `          tatami release --data-dir ${shown.dataDir}`,
          ]),
    ].join('\n'),
  );
}

/** @throws CommandError */
function keyIn(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new CommandError(
      `--key must name a file that can be read, as master.key of the data directory. ${systemSentence(error)}`,
      exitCodes.failed,
      { cause: error },
    );
  }
}
