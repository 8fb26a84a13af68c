import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { error, some, warning, type Check } from '../check.ts';

/** Made beside what they become; a start or command that was killed leaves one. */
export const unfinished = /\.(new|new-journal|restoring)$/;

export const permissions: Check = {
  name: 'permissions',
  holds: 'nobody else may look into the data directory',
  look({ dir }) {
    const paths = [
      dir,
      ...readdirSync(dir, { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name)),
    ];
    const facts = paths.flatMap((path) => {
      const stat = statSync(path, { throwIfNoEntry: false });
      return stat ? [{ path, mode: stat.mode & 0o777, uid: stat.uid }] : [];
    });
    const open = facts.filter(({ mode }) => (mode & 0o077) !== 0).map(({ path }) => path);
    const foreign = facts.filter(({ uid }) => uid !== facts[0]!.uid).map(({ path }) => path);
    const left = paths.filter((path) => unfinished.test(path));
    return [
      ...(open.length > 0 ? [error(`Other users may read or change ${some(open)}.`, 'permissions')] : []),
      ...(foreign.length > 0
        ? [warning(`These belong to another user than ${dir}: ${some(foreign)}. Use chown.`)]
        : []),
      ...(left.length > 0 ? [warning(`Something was killed and left ${some(left)}.`, 'leftovers')] : []),
    ];
  },
};
