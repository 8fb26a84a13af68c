// How Tatami starts itself as a process of its own: the same from source, where Bun runs core/main.ts, and from the one
// executable, which is its own Bun.
import { join } from 'node:path';
import { cleanBunFlags, packageRoot } from './clean-bun.ts';

/** Everything is in one executable; nothing lies beside it. */
export const isExecutable = import.meta.dir.startsWith('/$bunfs/');

/** What people type to run it. */
export const programName = isExecutable ? 'tatami' : 'bin/tatami';

/** The first argument of the executable where it is to be the entry of a sidecar's jail; the order follows. */
export const jailEntryWord = '--enter-jail';

/** The first argument of a process that was started clean; the folder where it was typed follows. */
export const typedIn = '--typed-in=';

/**
 * The whole command line of `tatami …args`, for `Bun.spawn`, which needs no `cwd`: none has a say in it.
 * @param folder where relative paths among the arguments begin
 */
export function ownProgram(args: readonly string[], folder: string): string[] {
  const said = [`${typedIn}${folder}`, ...args];
  if (isExecutable) return [process.execPath, ...said];
  const main = join(packageRoot, 'core/main.ts');
  return [process.execPath, ...cleanBunFlags, `--cwd=${packageRoot}`, main, ...said];
}
