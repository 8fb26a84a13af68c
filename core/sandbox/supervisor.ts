// The sandbox as the server starts it. It tries the strongest jail first, and where the system does not bear that, a weaker one.
import { existsSync } from 'node:fs';
import { errorForLog } from '../lib/failures.ts';
import { bundlePrograms } from './fleet/bundle.ts';
import { noConfinement } from './jail/confinement.ts';
import { hideProcess } from './jail/core-side.ts';
import { prepareJail, type JailMeans } from './jail/prepare.ts';
import type { Sandbox, SandboxOptions } from './job.ts';
import { findAddon } from './locate.ts';
import { createScheduler, type SchedulerParts } from './scheduler.ts';

export type { Progress, RunLimits, Told } from './protocol.ts';

export type {
  Sandbox,
  SandboxStatus,
  SandboxJob,
  CallAnswer,
  MadeCall,
  Pace,
  Paced,
  Tape,
  RunUsage,
  SandboxOutcome,
  SandboxOptions,
} from './job.ts';

/** @throws Error when the first sidecar does not come up, or a strict jail cannot be had */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  if (!existsSync(options.nodePath))
    throw new Error(`There is no Node at ${options.nodePath}; plugins need Node 24.`);
  if (process.platform === 'linux' && options.jail !== 'off') hideProcess();
  const programs = options.programs ?? (await bundlePrograms());
  const addonPath = findAddon();
  const means = await prepareJail({ nodePath: options.nodePath, addonPath });
  warnOfSharedUser(options, means);
  const bare = { ...means, confinement: { ...noConfinement, powerless: means.confinement.powerless } };
  const ladder: [without: string, options: SandboxOptions, means: JailMeans][] = [
    ['', options, means],
    [' without namespaces and a user of its own', options, bare],
    [' without a jail', { ...options, jail: 'off' }, bare],
  ];
  for (const [index, [, tried, using]] of ladder.entries()) {
    try {
      return await open(tried, { programs, addonPath, means: using });
    } catch (error) {
      const [without, next] = ladder[index + 1] ?? [];
      if (!next || options.jail === 'off' || (options.jail === 'strict' && next.jail === 'off')) throw error;
      options.log('warn', `No sidecar starts in the jail; trying${without}.`, { error: errorForLog(error) });
    }
  }
  throw new Error('unreachable: the last step returns or throws');
}

function warnOfSharedUser({ jail, log }: SandboxOptions, { confinement }: JailMeans): void {
  const { closedFiles } = confinement;
  if (jail === 'off' || closedFiles.length === 0) return;
  const quoted = closedFiles.map((file) => `'${file.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  log(
    'warn',
    `Sidecars run as root, because other users may not read what they execute. Run chmod o+rx ${quoted} to give each sidecar a user of its own.`,
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
