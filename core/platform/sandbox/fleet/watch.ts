// Polls the health of sidecars from outside: memory from /proc, liveness from answers to pings. Polls often
// while runs are in flight and rarely otherwise. Pauses of the core and time spent waiting for the CPU do not
// count against a sidecar.
import { closeSync, openSync, readSync } from 'node:fs';
import { threadsMax } from '../jail/core-side.ts';
import type { SidecarProcess } from './process.ts';
import { createStarving, type Starving } from './starving.ts';

const busyTickMs = 25;
const idleTickMs = 500;
const ownPauseMs = 250;
const rssBytesMax = 450 * 1024 * 1024;
/** Disposed isolates leave pages in V8's pool; an idle process above this size is replaced. */
const idleRssBytesMax = 380 * 1024 * 1024;
/** 200 warm isolates need 16 MB of page tables. */
const pageTableBytesMax = 128 * 1024 * 1024;

type Cause = 'memory' | 'silent' | 'fat' | 'threads';

interface Watched {
  sidecars(): SidecarProcess[];
  /** Returns the number of runs in flight in this sidecar. */
  load(sidecar: SidecarProcess): number;
  /** Kills the sidecar; `cause` decides which run, if any, is the culprit. */
  condemn(sidecar: SidecarProcess, cause: Cause, message: string): void;
}

export interface Watch {
  /** Switches to frequent polling; call when a run starts. */
  wake(): void;
  stop(): void;
}

export function createWatch(watched: Watched): Watch {
  const checkLife = createLifeCheck(watched);
  let timer: Timer | undefined;
  let busy = false;
  let tickedAt = performance.now();
  let stopped = false;

  const arm = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => tick(ms), ms);
  };

  const tick = (expectedMs: number): void => {
    const now = performance.now();
    const sinceMs = now - tickedAt;
    const look = { now, sinceMs, paused: sinceMs > expectedMs + ownPauseMs };
    tickedAt = now;
    busy = false;
    for (const sidecar of watched.sidecars()) {
      const load = watched.load(sidecar);
      if (load > 0) busy = true;
      checkLife(sidecar, load > 0, look);
      checkMemory(watched, sidecar, load);
    }
    if (!stopped) arm(busy ? busyTickMs : idleTickMs);
  };

  arm(idleTickMs);
  return {
    wake() {
      if (busy || stopped) return;
      busy = true;
      tickedAt = performance.now();
      arm(busyTickMs);
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

function checkMemory(watched: Watched, sidecar: SidecarProcess, load: number): void {
  const { rssBytes, pageTableBytes, threads } = sidecar.vitals();
  sidecar.rssSeenBytes = rssBytes;
  if (rssBytes > rssBytesMax) watched.condemn(sidecar, 'memory', `memory use was ${megabytes(rssBytes)}`);
  else if (pageTableBytes > pageTableBytesMax)
    watched.condemn(sidecar, 'memory', `page tables took ${megabytes(pageTableBytes)}`);
  else if (threads > threadsMax) watched.condemn(sidecar, 'threads', `${threads} threads were running`);
  else if (load === 0 && rssBytes > idleRssBytesMax)
    watched.condemn(sidecar, 'fat', 'idle with high memory use');
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

const pingEveryMs = 200;
const idlePingEveryMs = 1000;
const silentMsMax = 600;
/** Limit that includes the time spent waiting for the CPU. */
const silentStarvingMsMax = 30_000;

interface Silence {
  /** Undefined before the first ping. */
  pingedAt: number | undefined;
  readonly starving: Starving;
}

/** Timing of one pass over all sidecars, monotonic milliseconds. */
interface Look {
  readonly now: number;
  readonly sinceMs: number;
  /** True if the core itself was suspended or blocked since the last pass. */
  readonly paused: boolean;
}

/** Creates a check that a sidecar answers pings, or reads the output that waits for it. */
function createLifeCheck({ condemn }: Watched) {
  const silences = new WeakMap<SidecarProcess, Silence>();

  const silenceOf = (sidecar: SidecarProcess): Silence => {
    const known = silences.get(sidecar);
    if (known) return known;
    const created: Silence = { pingedAt: undefined, starving: createStarving() };
    silences.set(sidecar, created);
    return created;
  };

  return (sidecar: SidecarProcess, isBusy: boolean, { now, sinceMs, paused }: Look): void => {
    const silence = silenceOf(sidecar);
    const { pingedAt } = silence;
    const answered = pingedAt === undefined || sidecar.lastActiveAt >= pingedAt;
    if (!answered && !paused) {
      const silentMs = now - pingedAt;
      const ownMs = silentMs - silence.starving.waitedMs(sidecar.pid, sinceMs);
      if (ownMs > silentMsMax || silentMs > silentStarvingMsMax)
        condemn(sidecar, 'silent', `silent for ${silentMsMax} ms`);
      return;
    }
    const everyMs = isBusy ? pingEveryMs : idlePingEveryMs;
    if (!paused && pingedAt !== undefined && now - pingedAt <= everyMs) return;
    silence.pingedAt = now;
    silence.starving.forget();
    sidecar.send({ t: 'ping' });
  };
}

export interface Vitals {
  /** Resident and swapped memory. */
  rssBytes: number;
  pageTableBytes: number;
  threads: number;
}

export interface ProcessStatus {
  /** All zero after the exit of the process. */
  vitals(): Vitals;
  /** `powerless`: the process has no capabilities and can gain none; `filtered`: a seccomp filter applies. */
  confinement(): { powerless: boolean; filtered: boolean };
  close(): void;
}

const textBytesMax = 8192;
const kib = 1024;

/**
 * Opens `/proc/<pid>/status` (Linux, proc_pid_status(5)) once, and reads it repeatedly over that descriptor.
 * @param pid process id of a live process; on other systems than Linux, all results are zero or false
 */
export function openProcessStatus(pid: number): ProcessStatus {
  const buffer = Buffer.alloc(textBytesMax);
  let fd = openedOrNone(`/proc/${pid}/status`);

  const read = (): string => {
    if (fd === undefined) return '';
    try {
      return buffer.toString('latin1', 0, readSync(fd, buffer, 0, textBytesMax, 0));
    } catch {
      return '';
    }
  };

  return {
    vitals() {
      const text = read();
      return {
        rssBytes: (numberOf(text, 'VmRSS') + numberOf(text, 'VmSwap')) * kib,
        pageTableBytes: numberOf(text, 'VmPTE') * kib,
        threads: numberOf(text, 'Threads'),
      };
    },
    confinement() {
      const text = read();
      const sets = ['CapInh', 'CapPrm', 'CapEff', 'CapAmb'].map((set) => valueOf(text, set));
      return {
        powerless: sets.every((set) => /^0+$/.test(set)) && valueOf(text, 'NoNewPrivs') === '1',
        filtered: valueOf(text, 'Seccomp') === '2',
      };
    },
    close() {
      if (fd !== undefined) closeSync(fd);
      fd = undefined;
    },
  };
}

function openedOrNone(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

function valueOf(text: string, key: string): string {
  const at = text.indexOf(`\n${key}:`);
  return at < 0 ? '' : text.slice(at + key.length + 2, text.indexOf('\n', at + 1)).trim();
}

function numberOf(text: string, key: string): number {
  return Number.parseInt(valueOf(text, key), 10) || 0;
}
