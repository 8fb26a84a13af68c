// Files that a command writes where a person says. A symbolic link of that name may have been laid by whoever filled the
// folder, to have something else overwritten, so none is followed.
import { closeSync, constants, lstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { CommandError, exitCodes } from './output.ts';

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
/** Links that the system itself lays. Others under /dev, as in /dev/shm, anybody may lay. */
const streams = /^\/dev\/(stdout|stderr|fd\/\d+)$/;

/**
 * Refuses a path at which a file is that the person may still need.
 * @param path absolute
 * @param isEarlier true for the text of a file that the same command wrote, which is replaced without `force`
 * @throws CommandError
 */
export function requireReplaceable(
  path: string,
  force = false,
  isEarlier: (text: string) => boolean = () => false,
): void {
  const found = streams.test(path) ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (!found) return;
  if (found.isSymbolicLink()) throw linkRefused(path);
  if (force) return;
  if (found.isFile() && found.size <= earlierBytesMax && isEarlier(readFileSync(path, 'utf8'))) return;
  throw new CommandError(`${path} already exists. Choose another file, or replace it with --force.`);
}

const linkRefused = (path: string, cause?: unknown): CommandError =>
  new CommandError(
    `${path} is a symbolic link. Use the path of its target, or remove it.`,
    exitCodes.failed,
    { cause },
  );

/** Larger files are not read: no package or signature is as large. */
const earlierBytesMax = 16 * 1024 * 1024;

/**
 * @param path absolute; no link but those to the streams of the process, such as /dev/stdout
 * @param mode of a new file, less the umask
 * @throws CommandError
 */
export function writeOutputFile(path: string, content: string | Uint8Array, mode = 0o666): void {
  const follow = streams.test(path) ? 0 : O_NOFOLLOW;
  let fd: number;
  try {
    fd = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | follow, mode);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ELOOP') throw linkRefused(path, error);
    throw error;
  }
  try {
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}
