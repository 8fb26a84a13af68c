// Starts the process chain of a sidecar: the confinement prefix, the jail's entry, then Node without a JIT compiler.
import { closeSync, openSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Subprocess } from 'bun';
import type { Confinement } from '../jail/confinement.ts';
import type { User } from '../jail/core-side.ts';
import type { JailOrder } from '../jail/entry.ts';
import type { EntryReport } from '../protocol.ts';
import type { SidecarPrograms } from './bundle.ts';

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
