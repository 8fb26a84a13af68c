// Starts the sandbox with the strongest jail that the system supports.
import { existsSync } from 'node:fs';
import { errorForLog } from '../lib/errors/failures.ts';
import { bundlePrograms } from './fleet/spawn.ts';
import { noConfinement, prepareJail, type JailMeans } from './jail/prepare.ts';
import { hideProcess } from './jail/core-side.ts';
import type { Sandbox, SandboxOptions } from './job.ts';
import { findAddon } from './locate.ts';
import { createScheduler, type SchedulerParts } from './scheduler.ts';

export type { GuestProgress, RunLimits, CallReply } from './protocol.ts';

export type {
  Sandbox,
  SandboxStatus,
  SandboxJob,
  CallAnswer,
  GuestCall,
  Pace,
  Paced,
  Tape,
  RunUsage,
  SandboxOutcome,
  SandboxOptions,
} from './job.ts';

/** @throws Error if the first sidecar does not start, or a strict jail is required but not supported */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (!existsSync(options.nodePath))
    throw new Error(`Plugins need Node 24, but ${options.nodePath} does not exist. Reinstall Tatami.`);
  if (process.platform === 'linux' && options.jail !== 'off') hideProcess();
  const programs = options.programs ?? (await bundlePrograms());
  const addonPath = findAddon();
  const means = await prepareJail({ nodePath: options.nodePath, addonPath });
  warnOfSharedUser(options, means);
  const bare = { ...means, confinement: { ...noConfinement, powerless: means.confinement.powerless } };
  const ladder: [without: string, options: SandboxOptions, means: JailMeans][] = [
    ['', options, means],
    [' without namespaces and a separate user', options, bare],
    [' without a jail', { ...options, jail: 'off' }, bare],
  ];
  for (const [index, [, tried, using]] of ladder.entries()) {
    try {
      return await open(tried, { programs, addonPath, means: using });
    } catch (error) {
      const [without, next] = ladder[index + 1] ?? [];
      if (!next || options.jail === 'off' || (options.jail === 'strict' && next.jail === 'off')) throw error;
      const message = `The sandbox did not start in this jail; retrying${without}.`;
      options.log('warn', message, { error: errorForLog(error) });
    }
  }
  throw new Error('Unreachable: the last step returns or throws.');
}

function warnOfSharedUser({ jail, log }: SandboxOptions, { confinement }: JailMeans): void {
  const { closedFiles } = confinement;
  if (jail === 'off' || closedFiles.length === 0) return;
  const quoted = closedFiles.map((file) => `'${file.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  log(
    'warn',
    `Sandbox sidecars run as root, because other users may not read their program files. Run chmod o+rx ${quoted} to run each sidecar as a separate user.`,
  );
}

async function open(options: SandboxOptions, parts: SchedulerParts): Promise<Sandbox> {
  const { started, sandbox } = createScheduler(options, parts);
  try {
    await started;
    return sandbox;
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}
