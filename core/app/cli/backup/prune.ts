// `tatami backups prune DIR`: deletes what the rules do not keep.
import { resolve } from 'node:path';
import { pruneBackups } from '../../../platform/backup/folder.ts';
import { usage, wholeNumber } from '../lib/flags.ts';
import { printResult } from '../lib/output.ts';

export interface PruneCommandOptions {
  keepLast?: string;
  keepDaily?: string;
  keepWeekly?: string;
  keepMonthly?: string;
  json?: boolean;
}

export async function prune(dir: string, options: PruneCommandOptions, folder: string): Promise<void> {
  const count = (flag: string, text: string | undefined): number =>
    text === undefined ? 0 : wholeNumber(flag, text, 0, 9_999);
  const keep = {
    last: count('--keep-last', options.keepLast),
    daily: count('--keep-daily', options.keepDaily),
    weekly: count('--keep-weekly', options.keepWeekly),
    monthly: count('--keep-monthly', options.keepMonthly),
  };
  if (Object.values(keep).every((number) => number === 0))
    throw usage('Specify which backups to keep, such as --keep-daily 7 --keep-weekly 4.');
  const pruned = await pruneBackups(resolve(folder, dir), keep);
  printResult(
    pruned,
    options,
    ({ kept, deleted, damaged }) =>
      [
        ...kept.map((path) => `kept      ${path}`),
        ...deleted.map((path) => `deleted   ${path}`),
        ...damaged.map((path) => `DAMAGED   ${path}`),
      ].join('\n') || 'No backups found. Create one with `tatami backup`.',
  );
}
