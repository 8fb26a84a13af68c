// Starts the process chain of a sidecar (the confinement prefix, the jail's entry, then Node without a JIT
// compiler), completes its jail, and bundles its programs.
import { closeSync, openSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { embedded } from '../../lib/process/embedded.ts';
import { cleanBunFlags, isExecutable, jailEntryWord } from '../../lib/process/own-program.ts';
import { createControlGroup, type CgroupHierarchies, type ControlGroup } from '../jail/cgroup.ts';
import { capResources, type User } from '../jail/core-side.ts';
import type { JailOrder } from '../jail/entry.ts';
import type { JailReport } from '../jail/level.ts';
import type { Confinement } from '../jail/prepare.ts';
import type { EntryReport } from '../protocol.ts';
import type { ProcessStatus } from './watch.ts';

export interface SidecarPrograms {
  sidecar: string;
  guest: string;
}

/** Options of all children of a sandbox. */
export interface ChildSettings {
  nodePath: string;
  addonPath: string;
  programs: SidecarPrograms;
  jail: 'auto' | 'strict' | 'off';
  confinement: Confinement;
  /** Arguments that start Tatami's own program as the entry of the jail. */
  entry: readonly string[];
}

export interface ChildOptions extends ChildSettings {
  /** True to schedule the process only on an otherwise idle CPU. */
  idle: boolean;
}

export type Child = Subprocess<Blob, 'ignore', 'pipe'>;

/**
 * The core opens these files before the child changes its user, and the child executes and loads them by descriptor: the child's user
 * may have no access to a directory above them, and a file that replaces one of them during the start is not executed. The mode of
 * each file still applies to that user. Descriptor 3 is the socket.
 */
const descriptors = { bun: 4, node: 5, addon: 6 } as const;
const pathOf = (descriptor: number): string => `/proc/self/fd/${descriptor}`;
/** Opens a file as a reference only, without the right to read it. */
const O_PATH_CLOEXEC = 0x280000;
const noEntry: EntryReport = { landlock: 0, seccomp: false, rlimits: false };
export const niceness = 10;
const idleNiceness = 19;
/** V8 runs without its JIT compiler, which is most of its attack surface. */
export const engineFlags = ['--jitless', '--no-node-snapshot', '--max-old-space-size=256'];

/** @throws Error if the system refuses the process */
export function startChild(
  options: ChildOptions,
  user: User | undefined,
  onExit: (code: number | null, signal: string | null) => void,
): Child {
  const { nodePath, addonPath, jail, programs } = options;
  const files: number[] = [];
  try {
    if (jail !== 'off')
      for (const path of [process.execPath, nodePath, addonPath]) files.push(openForChild(path));
    const child = Bun.spawn(jail === 'off' ? unjailedCommand(options) : jailedCommand(options), {
      ...user,
      cwd: '/',
      // The fourth entry is the inherited descriptor 3, the following ones are `descriptors`.
      stdio: [new Blob([programs.sidecar]), 'ignore', 'pipe', 'socket-fd', ...files],
      env: { OPENSSL_CONF: '/dev/null', TZ: 'UTC' },
      onExit: (_child, code, signal) => onExit(code, signal === null ? null : String(signal)),
    });
    yieldToOthers(child.pid, options.idle);
    return child;
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** Opens a descriptor above those of the child, which are assigned one by one: a lower one could be overwritten before it is passed on. */
function openForChild(path: string): number {
  const descriptor = openSync(path, O_PATH_CLOEXEC);
  if (descriptor > descriptors.addon) return descriptor;
  try {
    return openForChild(path);
  } finally {
    closeSync(descriptor);
  }
}

/** Gives a sidecar lower CPU priority than the core and everything else on the machine. */
export function yieldToOthers(pid: number, idle: boolean): void {
  setPriority(pid, idle ? idleNiceness : niceness);
}

function unjailedCommand({ nodePath, addonPath }: ChildOptions): string[] {
  return [...nodeCommand(nodePath, addonPath), JSON.stringify(noEntry)];
}

function jailedCommand({ nodePath, confinement, entry, idle }: ChildOptions): string[] {
  const { bun, node, addon } = descriptors;
  const order: JailOrder = {
    program: pathOf(node),
    command: [...nodeCommand(nodePath, pathOf(addon)), '{jail}'],
    readable: [pathOf(addon)],
    inherited: [addon],
    retainCapabilities: !confinement.powerless,
    idle,
  };
  return [...confinement.prefix, pathOf(bun), ...entry, JSON.stringify(order)];
}

function nodeCommand(nodePath: string, addonPath: string): string[] {
  const permissions = ['--permission', '--allow-addons', `--allow-fs-read=${addonPath}`];
  return [nodePath, ...engineFlags, ...permissions, '--no-warnings', '--input-type=module', '-', addonPath];
}

interface Jailed {
  readonly report: JailReport;
  /** Control group of the sidecar, present even if the process could not be moved into it. */
  readonly group: ControlGroup | undefined;
}

/**
 * Completes the jail of a started sidecar from outside, before any guest code runs, and reports its parts.
 */
export async function completeJail(
  sidecar: { readonly pid: number; readonly status: ProcessStatus; readonly user: User | undefined },
  said: EntryReport,
  means: { readonly confinement: Confinement; readonly hierarchies: CgroupHierarchies },
): Promise<Jailed> {
  const { namespaces, ownUser } = means.confinement;
  const alone = ownUser || namespaces.includes('user');
  const { powerless, filtered } = sidecar.status.confinement();
  const rlimits = said.rlimits && (await capResources(sidecar.pid, sidecar.user, alone));
  const { group, controlGroup } = await enterGroup(means.hierarchies, sidecar.pid);
  const { landlock } = said;
  const seccomp = said.seccomp && filtered;
  return {
    report: { landlock, seccomp, rlimits, powerless, ownUser: alone, namespaces, controlGroup },
    group,
  };
}

async function enterGroup(
  hierarchies: CgroupHierarchies,
  pid: number,
): Promise<{ group: ControlGroup | undefined; controlGroup: boolean }> {
  let group: ControlGroup | undefined;
  try {
    if (hierarchies.length === 0) return { group, controlGroup: false };
    group = await createControlGroup(hierarchies, pid);
    await group.adopt(pid);
    return { group, controlGroup: true };
  } catch {
    return { group, controlGroup: false };
  }
}

/** Cached: programs never change while the core runs. */
let bundled: Promise<SidecarPrograms> | undefined;
let entry: Promise<readonly string[]> | undefined;

/**
 * Returns the sidecar's programs; the executable contains them already bundled. Node cannot strip types with
 * `--jitless`, which disables the WebAssembly it needs, and programs passed on standard input or as an
 * argument need no readable file in the jail.
 */
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
