// Parts that are on disk when Tatami runs from source, and embedded in the executable. From source,
// `embedded` is null, and callers find or build the parts. The build replaces this file by
// `core/app/executable/embedded.ts`.
import { join } from 'node:path';

export interface Embedded {
  /** Returns the path of a file on disk, which is unpacked on demand. @throws Error saying what to do */
  nodePath(): string;
  isolatedVmPath(): string;
  sidecarPrograms(): { sidecar: string; guest: string };
  /** Packages of the first-party plugins, by name. */
  plugins(): Readonly<Record<string, unknown>>;
  /** SDK that plugins import, including types: path below the SDK's folder → source. */
  sdkFiles(): Readonly<Record<string, string>>;
  /** Unpacks missing files, so that an unusable directory is reported at startup. @throws Error saying what to do */
  prepare(): void;
  /** Unpacks missing files and checks the hash of all. @returns their paths */
  verify(): string[];
}

export const embedded: Embedded | null = null;

// Command line for starting Tatami as another process: from source, where Bun runs core/app/start/main.ts, and from the executable, which
// contains Bun.

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
