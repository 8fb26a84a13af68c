// Command line for starting Tatami as another process: from source, where Bun runs core/app/start/main.ts, and from the executable, which
// contains Bun.
import { join } from 'node:path';

export const packageRoot = join(import.meta.dir, '../../../..');

/**
 * Flags that start Bun without configuration from the working directory. By default Bun reads bunfig.toml, .env and tsconfig.json
 * there, and fetches missing imports from the registry named there: a folder filled by somebody else would run code and redirect
 * keys before any line of Tatami runs. The process must be started in `packageRoot` or `/`, because no flag stops Bun from
 * reading tsconfig.json in the working directory.
 */
export const cleanBunFlags = ['--config=/dev/null', '--no-env-file', '--no-install'] as const;

export const isExecutable = import.meta.dir.startsWith('/$bunfs/');

/** Name of the command in help and messages. */
export const programName = isExecutable ? 'tatami' : 'bin/tatami';

/** First argument that makes the executable run `sandbox/jail/entry.ts`; the JSON of the `JailOrder` is the next argument. */
export const jailEntryWord = '--enter-jail';

/** Prefix of the argument that passes the original working directory to a restarted process. */
export const typedIn = '--typed-in=';

/**
 * Returns the complete command line of `tatami …args` for `Bun.spawn`, independent of `cwd`.
 * @param folder base of relative paths among the arguments
 */
export function ownProgram(args: readonly string[], folder: string): string[] {
  const said = [`${typedIn}${folder}`, ...args];
  if (isExecutable) return [process.execPath, ...said];
  const main = join(packageRoot, 'core/app/start/main.ts');
  return [process.execPath, ...cleanBunFlags, `--cwd=${packageRoot}`, main, ...said];
}
