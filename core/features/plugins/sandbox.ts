// Starts the sandbox with the first plugin, so that a server without plugins needs neither its memory nor its
// start time.
import {
  type Sandbox,
  type SandboxStatus,
  startSandbox,
  type SandboxOptions,
} from '../../platform/sandbox/supervisor.ts';
import { findNode } from '../../platform/sandbox/locate.ts';

export interface SandboxOnDemand {
  /** Starts the sandbox if needed. @throws Error if it cannot start; the next call retries */
  get(): Promise<Sandbox>;
  evict(installId: string): void;
  status(): SandboxStatus | { readonly state: 'unused' | 'starting' | 'down' };
  stop(): Promise<void>;
}

export function createSandboxOnDemand(start: () => Promise<Sandbox>): SandboxOnDemand {
  let starting: Promise<Sandbox> | null = null;
  let running: Sandbox | null = null;
  let failed = false;
  return {
    get() {
      starting ??= start().then(
        (sandbox) => {
          running = sandbox;
          failed = false;
          return sandbox;
        },
        (error: unknown) => {
          starting = null;
          failed = true;
          throw error;
        },
      );
      return starting;
    },
    evict: (installId) => running?.evict(installId),
    status: () => running?.status() ?? { state: starting ? 'starting' : failed ? 'down' : 'unused' },
    async stop() {
      await starting?.catch(() => undefined);
      await running?.stop();
    },
  };
}

/** Runs a sandbox for the duration of one CLI command. */
export async function withLocalSandbox<T>(
  log: SandboxOptions['log'],
  work: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const jail = process.platform === 'linux' ? 'auto' : 'off';
  const sandbox = await startSandbox({ nodePath: findNode(), log, clock: Date.now, jail });
  try {
    return await work(sandbox);
  } finally {
    await sandbox.stop();
  }
}
