import { existsSync } from 'node:fs';
import { listBackups } from '../../backup/folder.ts';
import { error, warning, type Check } from '../check.ts';
import { dayMs } from '../../lib/time.ts';

/** A newest backup older than this means that a daily backup was missed. */
const oldMs = 2 * dayMs;

export const backups: Check = {
  name: 'backups',
  holds: 'a recent backup or a continuous copy exists',
  async look({ config, nowMs }) {
    const folder = config.backups?.folder;
    if (folder === undefined)
      return config.copy
        ? []
        : [
            warning(
              'No backups are configured, so a lost disk loses all data. Set --backup-dir or --copy-to for the server, and pass them to this command to check them.',
            ),
          ];
    if (!existsSync(folder))
      return [error(`The backup directory ${folder} does not exist. Mount its disk, or set --backup-dir.`)];
    const listed = await listBackups(folder);
    const damaged = listed.filter(({ problem }) => problem !== null);
    const newest = listed.find(({ manifest }) => manifest !== null)?.manifest;
    const age = newest ? nowMs - Date.parse(newest.createdAt) : null;
    return [
      ...damaged.map(({ path, problem }) => error(`${path}: ${problem}`)),
      ...(age === null ? [error(`${folder} has no valid backup. Create one with \`tatami backup\`.`)] : []),
      ...(age !== null && age > oldMs
        ? [
            warning(
              `The newest backup is ${Math.floor(age / dayMs)} days old. Create one with \`tatami backup\`.`,
            ),
          ]
        : []),
    ];
  },
};
