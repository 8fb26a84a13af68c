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
  does: 'removes the access of other users to the data directory, and gives files of other users to its owner',
  isDestructive: false,
  bearsDamage: true,
  bearsOwner: true,
  mend({ dir }) {
    const all = pathsOf(dir).filter(({ stats }) => !stats.isSymbolicLink());
    const owner = statSync(dir);
    const foreign = all.filter(({ stats }) => stats.uid !== owner.uid);
    const open = all.filter(({ stats }) => (stats.mode & 0o077) !== 0);
    if (foreign.length > 0 && process.geteuid?.() !== 0)
      throw new Error(`${foreign.length} files of ${dir} belong to another user. Run this command as root.`);
    for (const { path } of foreign) changeOwn(dir, path, (at) => chownSync(at, owner.uid, owner.gid));
    for (const { path, stats } of open) changeOwn(dir, path, (at) => chmodSync(at, stats.mode & 0o700));
    return (
      [
        ...(foreign.length > 0 ? [`gave ${foreign.length} files to the owner of the directory.`] : []),
        ...(open.length > 0
          ? [
              `made ${open.length} files private. If master.key was readable, other users may have read it; consider \`tatami master-key rotate\`.`,
            ]
          : []),
      ].join(' ') || 'nothing to change.'
    );
  },
};

/** O_PATH of Linux: references a file, also a socket or a pipe, without opening it. */
const namesOnly = 0o10000000;

/**
 * Changes a file inside the directory. In the directory of another user, root goes through a descriptor, because that user could replace
 * a directory with a link in the meantime, or have hard-linked a file of root there.
 * @throws Error if the path is a link, is outside the directory, or has other hard links
 */
function changeOwn(dir: string, path: string, change: (at: string) => void): void {
  if (process.platform !== 'linux' || statSync(dir).uid === process.geteuid?.()) return change(path);
  const fd = openSync(path, namesOnly | constants.O_NOFOLLOW);
  try {
    const at = `/proc/self/fd/${fd}`;
    const [stats, real, top] = [fstatSync(fd), readlinkSync(at), realpathSync(dir)];
    const isInside = real === top || real.startsWith(`${top}/`);
    if (stats.isSymbolicLink() || !isInside || (!stats.isDirectory() && stats.nlink > 1))
      throw new Error(
        `${path} is a symbolic link or has another hard link. Remove it, or change it yourself.`,
      );
    change(at);
  } finally {
    closeSync(fd);
  }
}
