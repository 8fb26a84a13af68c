// Simulates slow machines: busy cores, or a process with a tenth of the CPU; and measures how much slower than usual this
// machine is, for which tests correct their timings.
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Keeps every core busy, at normal priority, until disposed of. */
export function burnCores(perCore = 1): Disposable {
  const children = Array.from({ length: availableParallelism() * perCore }, () =>
    Bun.spawn(['sh', '-c', 'while :; do :; done'], { stdio: ['ignore', 'ignore', 'ignore'] }),
  );
  return { [Symbol.dispose]: () => children.forEach((child) => child.kill('SIGKILL')) };
}

const PERIOD_MS = 50;

/**
 * Limits processes to this share of the time. `pids` is called repeatedly, because processes start and end.
 */
export function slowDown(pids: () => readonly number[], share: number): Disposable {
  let ended = false;
  const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT'): void => {
    try {
      process.kill(pid, name);
    } catch {
      // The process has ended.
    }
  };
  const live = async (): Promise<void> => {
    while (!ended) {
      const now = pids();
      for (const pid of now) signal(pid, 'SIGSTOP');
      await Bun.sleep(PERIOD_MS * (1 - share));
      for (const pid of now) signal(pid, 'SIGCONT');
      await Bun.sleep(PERIOD_MS * share);
    }
  };
  void live();
  return { [Symbol.dispose]: () => void (ended = true) };
}

interface Ticks {
  /** All ticks. */
  readonly all: number;
  /** Ticks used by programs, or by another machine of the same host. */
  readonly busy: number;
  /** Ticks used by this process and its children. */
  readonly own: number;
}

function ticks(): Ticks {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0] = line
    .split(/ +/)
    .slice(1)
    .map(Number);
  const busy = user + nice + system + steal;
  return { all: busy + idle + wait + irq + soft, busy, own: ownTicks() };
}

/** Sums the ticks of the process tree; a parent includes its ended children. */
function ownTicks(): number {
  const ticksOf = new Map<number, number>();
  const childrenOf = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    let stat: string;
    try {
      stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    } catch {
      continue;
    }
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [, parent = 0] = fields;
    const [user = 0, system = 0, userOfEnded = 0, systemOfEnded = 0] = fields.slice(11);
    ticksOf.set(Number(name), user + system + userOfEnded + systemOfEnded);
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), Number(name)]);
  }
  const sumOf = (pid: number): number =>
    (childrenOf.get(pid) ?? []).reduce((sum, child) => sum + sumOf(child), ticksOf.get(pid) ?? 0);
  return sumOf(process.pid);
}

/**
 * Measures the load of other processes from now on, and how slow the memory is.
 * @returns the factor by which that load and slow memory slow a busy program here, at least 1
 */
export function watchSlowness(): () => number {
  if (process.platform !== 'linux') return () => 1;
  memoryFactor ??= measureMemory();
  const ofMemory = memoryFactor;
  const before = ticks();
  return () => {
    const now = ticks();
    const others = now.busy - before.busy - (now.own - before.own);
    return ofMemory / (1 - Math.min(0.8, Math.max(0, others / Math.max(1, now.all - before.all))));
  };
}

let memoryFactor: number | undefined;
const probeBytes = 32 * 1024 * 1024;
const pageBytes = 4096;

/**
 * The first use of a page takes 0.2 µs on most machines, and over 10 µs in a virtual machine inside another, where programs
 * that allocate much take two to three times as long.
 */
function measureMemory(): number {
  const before = process.cpuUsage();
  const memory = new Uint8Array(probeBytes);
  for (let at = 0; at < probeBytes; at += pageBytes) memory[at] = 1;
  const { user, system } = process.cpuUsage(before);
  const usOfPage = (user + system) / (probeBytes / pageBytes);
  return Math.min(4, 1 + usOfPage / 4);
}
