// Starts the process of a sidecar: Node without a compiler, and before it the jail's entry and what confines it.
import { closeSync, openSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Subprocess } from 'bun';
import type { Confinement } from '../jail/confinement.ts';
import type { User } from '../jail/core-side.ts';
import type { JailOrder } from '../jail/entry.ts';
import type { EntryReport } from '../protocol.ts';
import type { SidecarPrograms } from './bundle.ts';

export interface ChildOptions {
  nodePath: string;
  addonPath: string;
  programs: SidecarPrograms;
  jail: 'auto' | 'strict' | 'off';
  confinement: Confinement;
  /** Arguments with which our own program is the entry of the jail. */
  entry: readonly string[];
  /** It runs when nobody else wants the processor. */
  idle: boolean;
}

export type Child = Subprocess<Blob, 'ignore', 'pipe'>;

/**
 * The core opens these files before the child changes its user, and the child executes and loads them by descriptor: a user of its own
 * cannot pass a private folder above them, and a file that takes their place during the start is not executed. The mode of each file
 * still decides for that user. Descriptor 3 is the socket.
 */
const descriptors = { bun: 4, node: 5, addon: 6 } as const;
const pathOf = (descriptor: number): string => `/proc/self/fd/${descriptor}`;
/** Names a file without a right to read it. */
const O_PATH_CLOEXEC = 0x280000;
const noEntry: EntryReport = { landlock: 0, seccomp: false, rlimits: false };
export const niceness = 10;
const idleNiceness = 19;
/** How V8 is run: without a compiler, which is most of what can be attacked in it. */
export const engineFlags = ['--jitless', '--no-node-snapshot', '--max-old-space-size=256'];

/** @throws Error when the system refuses a process */
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
      // The fourth entry is the inherited descriptor 3, and those behind it are `descriptors`.
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

/** A descriptor above those of the child: the child takes one after the other, and a lower one could be overwritten before its turn. */
function openForChild(path: string): number {
  const descriptor = openSync(path, O_PATH_CLOEXEC);
  if (descriptor > descriptors.addon) return descriptor;
  try {
    return openForChild(path);
  } finally {
    closeSync(descriptor);
  }
}

/** The core and everything else on the machine go before a sidecar. */
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
    keepCapabilities: !confinement.powerless,
    idle,
  };
  return [...confinement.prefix, pathOf(bun), ...entry, JSON.stringify(order)];
}

function nodeCommand(nodePath: string, addonPath: string): string[] {
  const permissions = ['--permission', '--allow-addons', `--allow-fs-read=${addonPath}`];
  return [nodePath, ...engineFlags, ...permissions, '--no-warnings', '--input-type=module', '-', addonPath];
}
