// Files that a command writes where a person says. A symbolic link of that name may have been laid by whoever filled the
// folder, to have something else overwritten, so none is followed.
import { closeSync, constants, openSync, writeFileSync } from 'node:fs';
import { CommandError, exitCodes } from './output.ts';

const { O_CREAT, O_NOFOLLOW, O_TRUNC, O_WRONLY } = constants;
/** Links that the system itself lays. Others under /dev, as in /dev/shm, anybody may lay. */
const streams = /^\/dev\/(stdout|stderr|fd\/\d+)$/;

/**
 * @param path absolute; no link but those to the streams of the process, such as /dev/stdout
 * @param mode of a new file, less the umask
 * @throws CommandError
 */
export function writeNamedFile(path: string, text: string, mode = 0o666): void {
  const follow = streams.test(path) ? 0 : O_NOFOLLOW;
  let fd: number;
  try {
    fd = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | follow, mode);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ELOOP')
      throw new CommandError(
        `${path} is a symbolic link. Name the file that it leads to, or remove it.`,
        exitCodes.failed,
        { cause: error },
      );
    throw error;
  }
  try {
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
}
