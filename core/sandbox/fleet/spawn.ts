// Starts the process of a sidecar: Node without a compiler, and before it the jail's entry and what confines it.
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Subprocess } from 'bun';
import { cleanBunFlags } from '../../lib/clean-bun.ts';
import { isExecutable, jailEntryWord } from '../../lib/own-program.ts';
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
  /** It runs when nobody else wants the processor. */
  idle: boolean;
}

export type Child = Subprocess<Blob, 'ignore', 'pipe'>;

const entryFile = join(import.meta.dir, '../jail/entry.ts');
/** What enters the jail, before its order. */
const jailEntry = [process.execPath, ...(isExecutable ? [jailEntryWord] : [...cleanBunFlags, entryFile])];
/** Files that whoever enters must be able to read. */
export const jailFiles = isExecutable ? [process.execPath] : [process.execPath, entryFile];
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
  const child = Bun.spawn(commandFor(options), {
    ...user,
    cwd: '/',
    // The fourth entry is the inherited descriptor 3.
    stdio: [new Blob([options.programs.sidecar]), 'ignore', 'pipe', 'socket-fd'],
    env: { OPENSSL_CONF: '/dev/null', TZ: 'UTC' },
    onExit: (_child, code, signal) => onExit(code, signal === null ? null : String(signal)),
  });
  yieldToOthers(child.pid, options.idle);
  return child;
}

/** The core and everything else on the machine go before a sidecar. */
export function yieldToOthers(pid: number, idle: boolean): void {
  setPriority(pid, idle ? idleNiceness : niceness);
}

function commandFor(options: ChildOptions): string[] {
  const { nodePath, addonPath, jail, confinement } = options;
  const permissions = ['--permission', '--allow-addons', `--allow-fs-read=${addonPath}`];
  const node = [
    nodePath,
    ...engineFlags,
    ...permissions,
    '--no-warnings',
    '--input-type=module',
    '-',
    addonPath,
  ];
  if (jail === 'off') return [...node, JSON.stringify(noEntry)];
  const order: JailOrder = {
    command: [...node, '{jail}'],
    readable: [addonPath],
    keepCapabilities: !confinement.powerless,
    idle: options.idle,
  };
  return [...confinement.prefix, ...jailEntry, JSON.stringify(order)];
}
