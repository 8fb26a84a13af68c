// Bundles the sidecar's programs; the executable contains them already bundled. Node cannot strip types with `--jitless`, which
// disables the WebAssembly it needs, and programs passed on standard input or as an argument need no readable file in the jail.
import { join } from 'node:path';
import { cleanBunFlags, isExecutable, jailEntryWord } from '../../lib/process/own-program.ts';
import { embedded } from '../../lib/process/embedded.ts';

export interface SidecarPrograms {
  sidecar: string;
  guest: string;
}

/** Cached: programs never change while the core runs. */
let bundled: Promise<SidecarPrograms> | undefined;
let entry: Promise<readonly string[]> | undefined;

export const bundlePrograms = (): Promise<SidecarPrograms> => (bundled ??= makePrograms());

/** Returns the arguments that start Tatami's own program as the entry of the jail; the `JailOrder` follows them. */
export const jailEntry = (): Promise<readonly string[]> => (entry ??= makeEntry());

async function makePrograms(): Promise<SidecarPrograms> {
  if (embedded) return embedded.sidecarPrograms();
  const [sidecar, guest] = await Promise.all([
    bundle('../sidecar/main.ts', 'node', 'esm'),
    bundle('../sidecar/guest/main.ts', 'browser', 'iife'),
  ]);
  // Sloppy-mode functions would expose their `caller` and `arguments` to the guest.
  return { sidecar, guest: `'use strict';\n${guest}` };
}

async function makeEntry(): Promise<readonly string[]> {
  if (isExecutable) return [jailEntryWord];
  return [...cleanBunFlags, '-e', await bundle('../jail/entry.ts', 'bun', 'esm', true)];
}

async function bundle(
  file: string,
  target: 'bun' | 'node' | 'browser',
  format: 'esm' | 'iife',
  minify = false,
): Promise<string> {
  const entrypoint = join(import.meta.dir, file);
  const result = await Bun.build({
    entrypoints: [entrypoint],
    target,
    format,
    external: ['isolated-vm'],
    minify,
  });
  const [output] = result.outputs;
  if (!output) throw new Error(`${entrypoint} cannot be bundled. Reinstall Tatami.`);
  return output.text();
}
