// The command runs and reads nothing of the folder that it is typed in (core/platform/lib/process/own-program.ts).
// `bin/tatami` starts it clean; typed as `bun core/main.ts` it starts itself again, in the same process.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readStartEnvironment } from '../config/config.ts';
import { cleanBunFlags, isExecutable, packageRoot, typedIn } from '../../platform/lib/process/own-program.ts';

export interface CleanStart {
  /** Working directory of the user, which relative paths in arguments refer to. The process has another one. */
  readonly folder: string;
  readonly args: readonly string[];
}

/** Does not return where the process must start again, or where something of the folder may have run already. */
export async function cleanStart(): Promise<CleanStart> {
  const { argv, execArgv, execPath } = process;
  const [, main = '', first = '', ...rest] = argv;
  if (first.startsWith(typedIn)) return { folder: first.slice(typedIn.length), args: rest };
  const folder = process.cwd();
  // Built to read nothing there.
  if (isExecutable) return { folder, args: argv.slice(2) };
  const bunfig = join(folder, 'bunfig.toml');
  const environment = readStartEnvironment(folder);
  if (environment === null || (folder !== packageRoot && existsSync(bunfig)))
    return refuse(
      `Bun read ${environment === null ? 'the .env files' : 'bunfig.toml'} of ${folder} before Tatami could prevent it, and may have run code from that directory. ` +
        `Start the command with ${join(packageRoot, 'bin/tatami')}, which reads no files there.`,
    );
  process.execve!(
    execPath,
    [
      execPath,
      ...execArgv,
      ...cleanBunFlags,
      `--cwd=${packageRoot}`,
      main,
      `${typedIn}${folder}`,
      ...argv.slice(2),
    ],
    environment,
  );
  return refuse(
    `Tatami could not restart itself. Start the command with ${join(packageRoot, 'bin/tatami')}.`,
  );
}

/** The module that prints is loaded only here, because most starts end in another process. */
async function refuse(message: string): Promise<never> {
  const { CommandError, exitCodes, fail } = await import('./lib/output.ts');
  return fail(new CommandError(message, exitCodes.usage), { json: process.argv.includes('--json') });
}
