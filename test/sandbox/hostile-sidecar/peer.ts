// Sandboxes whose sidecars all run `peer.js`.
import { join } from 'node:path';
import type { SandboxOptions } from '../../../core/platform/sandbox/supervisor.ts';
import { openSandbox } from '../harness.ts';
import type { TestSandbox } from '../harness.ts';

const peerPath = join(import.meta.dir, 'peer.js');

export async function openLiar(
  behaviour: string,
  options: Partial<SandboxOptions> = {},
): Promise<TestSandbox> {
  const program = await Bun.file(peerPath).text();
  const sidecar = `const BEHAVIOUR = ${JSON.stringify(behaviour)};\n${program}`;
  return openSandbox({ programs: { sidecar, guest: '' }, ...options });
}

/** Reasons for the ended sidecars of this sandbox so far. */
export function reasonsOf(sandbox: TestSandbox): string[] {
  return sandbox.logged.flatMap(({ fields }) => (fields && 'why' in fields ? [String(fields.why)] : []));
}
