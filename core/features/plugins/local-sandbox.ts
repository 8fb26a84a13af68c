// Runs a sandbox for the duration of one CLI command.
import { findNode } from '../../platform/sandbox/locate.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../platform/sandbox/supervisor.ts';

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
