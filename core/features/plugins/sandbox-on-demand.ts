// Starts the sandbox with the first plugin, so that a server without plugins needs neither its memory nor its
// start time.
import type { Sandbox, SandboxStatus } from '../../platform/sandbox/supervisor.ts';

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
