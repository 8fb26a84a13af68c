// Bundles our own sidecar and guest programs once at start; the executable holds them bundled. Node cannot strip types with `--jitless` (that needs
// WebAssembly), and a program given on standard input needs no readable file inside the jail.
import { join } from 'node:path';
import { embedded } from '../../lib/embedded.ts';

export interface SidecarPrograms {
  sidecar: string;
  guest: string;
}

/** They never change while the core runs. */
let bundled: Promise<SidecarPrograms> | undefined;

export const bundlePrograms = (): Promise<SidecarPrograms> => (bundled ??= makePrograms());

async function makePrograms(): Promise<SidecarPrograms> {
  if (embedded) return embedded.sidecarPrograms();
  const [sidecar, guest] = await Promise.all([
    bundle(join(import.meta.dir, '../sidecar/main.ts'), 'node', 'esm'),
    bundle(join(import.meta.dir, '../sidecar/guest/main.ts'), 'browser', 'iife'),
  ]);
  // Sloppy functions would leak their callers and arguments to the guest.
  return { sidecar, guest: `'use strict';\n${guest}` };
}

async function bundle(
  entrypoint: string,
  target: 'node' | 'browser',
  format: 'esm' | 'iife',
): Promise<string> {
  const result = await Bun.build({ entrypoints: [entrypoint], target, format, external: ['isolated-vm'] });
  const [output] = result.outputs;
  if (!output) throw new Error(`${entrypoint} cannot be bundled.`);
  return output.text();
}
