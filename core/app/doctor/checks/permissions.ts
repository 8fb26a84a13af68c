import { error, some, warning, type Check } from '../check.ts';
import { openIn } from '../../../platform/store/files/private.ts';
import { pathsOf } from '../../../platform/store/files/paths.ts';

/** Endings of temporary file names; a killed start or command leaves files with them. */
export const unfinished = /\.(new|new-journal|restoring)$/;

export const permissions: Check = {
  name: 'permissions',
  holds: 'only one user owns and can access the data directory',
  look({ dir, path }) {
    const all = pathsOf(dir);
    const links = all.filter(({ stats }) => stats.isSymbolicLink()).map(({ path }) => path);
    const facts = all.filter(({ stats }) => !stats.isSymbolicLink());
    const open = facts.filter(({ stats }) => (stats.mode & 0o077) !== 0).map(({ path }) => path);
    const owner = all[0]!.stats.uid;
    const foreign = facts.filter(({ stats }) => stats.uid !== owner).map(({ path }) => path);
    const left = all.map(({ path }) => path).filter((path) => unfinished.test(path));
    return [
      ...(open.length > 0 ? [error(`Other users may read or change ${some(open)}.`, 'permissions')] : []),
      ...openIn(dir, [path.snapshots, path.walArchive])
        .filter(({ isLink }) => isLink)
        .map(({ message }) =>
          error(`${message}. The server does not start; make the target private yourself.`),
        ),
      ...(foreign.length > 0
        ? [
            // A server that runs as root can read files of all users.
            (owner === 0 ? warning : error)(
              `These files have another owner than ${dir}: ${some(foreign)}. Only root can change that.`,
              'permissions',
            ),
          ]
        : []),
      ...(links.length > 0
        ? [warning(`Symbolic links are not followed. Check their targets yourself: ${some(links)}.`)]
        : []),
      ...(left.length > 0
        ? [warning(`A killed process left unfinished files: ${some(left)}.`, 'leftovers')]
        : []),
    ];
  },
};
