// Tests create thousands of small directories with synced files. An in-memory file system saves a tenth of
// the CPU time and all waits for the disk. It is mounted in its own namespace, so that it disappears with the
// last process in it.
import { freemem } from 'node:os';

const mebibyte = 1024 * 1024;
/** A run leaves some hundred MiB there, and uses up to two GiB at a time. */
const sizeMb = 6 * 1024;

/**
 * @returns the command prefix that puts TMPDIR in memory; empty if that is not permitted or memory is scarce
 */
export function inMemory(folder: string): string[] {
  const command = [
    ...['unshare', '--mount', '--propagation', 'private', 'sh', '-c'],
    `mount -t tmpfs -o size=${sizeMb}m,mode=1777 tatami-tests "$0" && TMPDIR="$0" exec "$@"`,
    folder,
  ];
  if (process.platform !== 'linux' || Bun.which('unshare') === null) return [];
  if (freemem() < 2 * sizeMb * mebibyte) return [];
  return Bun.spawnSync([...command, 'true'], { stderr: 'ignore' }).success ? command : [];
}
