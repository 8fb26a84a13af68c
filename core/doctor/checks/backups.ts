import { existsSync } from 'node:fs';
import { listBackups } from '../../backup/folder.ts';
import { error, warning, type Check } from '../check.ts';
import { dayMs } from '../../lib/time.ts';

/** Older than this is more than a day that was left out. */
const oldMs = 2 * dayMs;

export const backups: Check = {
  name: 'backups',
  holds: 'there is a recent backup, or a continuous copy',
  async look({ config, nowMs }) {
    const folder = config.backups?.folder;
    if (folder === undefined)
      return config.copy
        ? []
        : [
            warning(
              'Nothing is said of backups: a lost disk loses everything. Set --backup-dir or --copy-to, or name them here to have them looked at.',
            ),
          ];
    if (!existsSync(folder)) return [error(`${folder} is not there, and no backup is.`)];
    const listed = await listBackups(folder);
    const damaged = listed.filter(({ problem }) => problem !== null);
    const newest = listed.find(({ manifest }) => manifest !== null)?.manifest;
    const age = newest ? nowMs - Date.parse(newest.createdAt) : null;
    return [
      ...damaged.map(({ path, problem }) => error(`${path}: ${problem}`)),
      ...(age === null
        ? [error(`There is no good backup in ${folder}. Make one with \`tatami backup\`.`)]
        : []),
      ...(age !== null && age > oldMs
        ? [warning(`The newest backup is ${Math.floor(age / dayMs)} days old.`)]
        : []),
    ];
  },
};
