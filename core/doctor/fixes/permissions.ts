import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { pathsOf } from '../../store/paths.ts';
import type { Fix } from './fix.ts';

export const permissions: Fix = {
  id: 'permissions',
  does: 'takes from other users the right to look into the data directory, and gives files of other users to its owner',
  isDestructive: false,
  bearsDamage: true,
  bearsOwner: true,
  mend({ dir }) {
    const all = pathsOf(dir).filter(({ stats }) => !stats.isSymbolicLink());
    const owner = statSync(dir);
    const foreign = all.filter(({ stats }) => stats.uid !== owner.uid);
    const open = all.filter(({ stats }) => (stats.mode & 0o077) !== 0);
    if (foreign.length > 0 && process.geteuid?.() !== 0)
      throw new Error(`${foreign.length} files of ${dir} belong to another user. Type this as root.`);
    for (const { path } of foreign) changeOwn(dir, path, (at) => chownSync(at, owner.uid, owner.gid));
    for (const { path, stats } of open) changeOwn(dir, path, (at) => chmodSync(at, stats.mode & 0o700));
    return (
      [
        ...(foreign.length > 0 ? [`${foreign.length} given back to the owner of the directory.`] : []),
        ...(open.length > 0
          ? [
              `${open.length} made private. Whoever could read master.key may have done so: think of \`tatami master-key rotate\`.`,
            ]
          : []),
      ].join(' ') || 'nothing to change.'
    );
  },
};

/** O_PATH of Linux: names a file without opening it, sockets and pipes as well. */
const namesOnly = 0o10000000;

/**
 * Changes what a path names inside of the directory. Root does it through a descriptor in the directory of another user, who might put a
 * link in the place of a folder meanwhile, or have given a file of root another name there.
 * @throws Error
 */
function changeOwn(dir: string, path: string, change: (at: string) => void): void {
  if (process.platform !== 'linux' || statSync(dir).uid === process.geteuid?.()) return change(path);
  const fd = openSync(path, namesOnly | constants.O_NOFOLLOW);
  try {
    const at = `/proc/self/fd/${fd}`;
    const [found, real, top] = [fstatSync(fd), readlinkSync(at), realpathSync(dir)];
    const isInside = real === top || real.startsWith(`${top}/`);
    if (found.isSymbolicLink() || !isInside || (!found.isDirectory() && found.nlink > 1))
      throw new Error(`${path} is a link, or has another name elsewhere. Remove it, or change it yourself.`);
    change(at);
  } finally {
    closeSync(fd);
  }
}
