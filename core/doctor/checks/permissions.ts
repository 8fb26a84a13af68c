import { error, some, warning, type Check } from '../check.ts';
import { openIn } from '../../store/private.ts';
import { pathsOf } from '../../store/paths.ts';

/** Made beside what they become; a start or command that was killed leaves one. */
export const unfinished = /\.(new|new-journal|restoring)$/;

export const permissions: Check = {
  name: 'permissions',
  holds: 'the data directory and all in it are of one user, and nobody else may look into it',
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
      ...openIn(dir, [path.snapshots, path.spool])
        .filter(({ isLink }) => isLink)
        .map(({ message }) => error(`${message}. No server starts: make the target private yourself.`)),
      ...(foreign.length > 0
        ? [
            // A server of root reads files of everybody.
            (owner === 0 ? warning : error)(
              `These belong to another user than ${dir}: ${some(foreign)}. Only root can give them back.`,
              'permissions',
            ),
          ]
        : []),
      ...(links.length > 0
        ? [warning(`Symbolic links are not followed; look at what they lead to yourself: ${some(links)}.`)]
        : []),
      ...(left.length > 0 ? [warning(`Something was killed and left ${some(left)}.`, 'leftovers')] : []),
    ];
  },
};
