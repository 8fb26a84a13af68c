// Estimates the CPU time of the entries of guests, ends those that exceed their limit, and describes the
// faults of guests.
import type { TimedEntry } from './isolate.ts';

/** Minimum length of a window; in a shorter one, the kernel's accounting lag of a tick would dominate. */
const windowMsMin = 10;
/** Maximum CPU time carried into the next window for the kernel's lag; helper threads use CPU time too. */
const carriedOverMsMax = 20;

/** Returns the CPU time of this process in milliseconds, without the calling thread. */
type UsedMs = () => number;

/**
 * Estimates the CPU time of an entry. isolated-vm's `cpuTime` is wall time in its prebuilt addons, and no API
 * reports the CPU time of another thread. But all entries run at the same priority, so the system gives each
 * an equal share of the CPU time that the other threads of this process have used. `hadMs` is that share as a
 * clock: as fast as wall time on an idle machine, slower on a busy one, and stopped while the process is
 * stopped.
 */
export interface CpuMeter {
  /** CPU time of a hypothetical entry that is always in progress; only differences are meaningful. */
  hadMs(): number;
  /** Call when an entry begins or ends. @returns the current `hadMs` */
  enter(): number;
  leave(): number;
  /** Closes the current window. */
  measure(): void;
}

export function createCpuMeter(usedMs: UsedMs, nowMs: () => number): CpuMeter {
  /** Number of entries in progress, and the sum of their wall times in this window. */
  let entries = 0;
  let entriesMs = 0;
  let countedAt = nowMs();
  let openedAt = countedAt;
  let usedAtOpen = usedMs();
  let hadAtOpen = 0;
  let carriedOverMs = 0;
  let rate = 1;

  const close = (now: number): void => {
    const used = usedMs();
    const shared = carriedOverMs + (used - usedAtOpen);
    usedAtOpen = used;
    const taken = Math.min(shared, entriesMs);
    carriedOverMs = Math.min(shared - taken, carriedOverMsMax);
    if (entriesMs > 0) rate = taken / entriesMs;
    hadAtOpen += rate * (now - openedAt);
    openedAt = now;
    entriesMs = 0;
  };

  const addUpTo = (now: number): void => {
    entriesMs += entries * (now - countedAt);
    countedAt = now;
  };

  const hadAt = (now: number): number => hadAtOpen + rate * (now - openedAt);

  const count = (by: 1 | -1): number => {
    const now = nowMs();
    addUpTo(now);
    if (now - openedAt >= windowMsMin) close(now);
    entries += by;
    return hadAt(now);
  };

  return {
    hadMs: () => hadAt(nowMs()),
    enter: () => count(1),
    leave: () => count(-1),
    measure() {
      const now = nowMs();
      addUpTo(now);
      close(now);
    },
  };
}

export function usedByOtherThreadsMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000 - usedByThisThreadMs();
}

export function usedByThisThreadMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const tickMs = 20;
/** CPU time within which a disposed isolate must release its thread. */
const settleMs = 300;
/** Ticks without an entry after which the polling stops. */
const idleTicksMax = 50;

export interface Watchdog {
  add(entry: TimedEntry): void;
  remove(entry: TimedEntry): void;
}

/**
 * Ends entries that exceed their CPU limit by disposing of their isolate. Disposal stops JavaScript at once,
 * but neither a long built-in nor the copying of a hostile rejection: an entry that still does not settle
 * occupies a thread until this process dies.
 * @param onStuck called once for each entry whose thread does not stop
 */
export function createWatchdog(meter: CpuMeter, onStuck: (entry: TimedEntry) => void): Watchdog {
  /** Bounded by the isolates that have a run. */
  const entries = new Set<TimedEntry>();
  const stuck = new WeakSet<TimedEntry>();
  let timer: NodeJS.Timeout | undefined;
  let idleTicks = 0;

  const rest = (): void => {
    if (++idleTicks < idleTicksMax) return;
    clearInterval(timer);
    timer = undefined;
    idleTicks = 0;
  };

  const check = (entry: TimedEntry, hadMs: number): void => {
    if (entry.disposedAtMs === undefined) {
      if (hadMs - entry.hadAtStartMs <= entry.limitMs) return;
      entry.over = true;
      entry.isolate.dispose();
    } else if (hadMs - entry.disposedAtMs > settleMs && !stuck.has(entry)) {
      stuck.add(entry);
      onStuck(entry);
    }
  };

  const look = (): void => {
    if (entries.size === 0) return rest();
    idleTicks = 0;
    meter.measure();
    const hadMs = meter.hadMs();
    for (const entry of entries) check(entry, hadMs);
  };

  return {
    add(entry) {
      entries.add(entry);
      timer ??= setInterval(look, tickMs);
    },
    remove: (entry) => void entries.delete(entry),
  };
}

/** Maximum number of characters of a message or stack that a guest threw. */
const textMax = 2000;

/** Thrown for everything that ends a guest; `reason` decides whether the plugin is at fault. */
export class GuestFault extends Error {
  /** Content of the guest's recorder: the log lines of the entry. */
  lastWords = '';
  readonly reason: 'cpu' | 'memory' | 'startup' | 'rejection' | 'protocol' | 'disposed';
  /** Stack of the error that the guest threw. */
  readonly thrownStack: string | undefined;
  constructor(reason: GuestFault['reason'], message: string, thrownStack?: string) {
    super(message);
    this.reason = reason;
    this.thrownStack = thrownStack;
  }
}

export function cpuFault(limitMs: number): GuestFault {
  return new GuestFault(
    'cpu',
    `One stretch of code used more than ${Math.round(limitMs)} ms of CPU time. Split it with setTimeout.`,
  );
}

export function loadingFault(limitMs: number): GuestFault {
  return new GuestFault(
    'cpu',
    `Loading the module used more than ${Math.round(limitMs)} ms of CPU time. Move work into handlers.`,
  );
}

/** Converts an error during loading: errors of the module become startup faults, exceeded limits keep their reason. */
export function startupFault(error: unknown): GuestFault {
  if (error instanceof GuestFault && error.reason !== 'rejection') return error;
  if (!(error instanceof Error))
    return new GuestFault(
      'startup',
      'The module threw a value that is not an `Error` while loading. Throw an `Error`, so that its message is reported.',
    );
  return new GuestFault('startup', messageOf(error), stackOf(error));
}

/** Classifies an error of an isolate by the message of isolated-vm. */
export function faultOf(error: unknown, memoryMb: number): GuestFault {
  const message = error instanceof Error ? messageOf(error) : 'unknown';
  if (/memory limit|out of memory|catastrophic/i.test(message))
    return new GuestFault(
      'memory',
      `The plugin used more than ${memoryMb} MB of memory. Load less data at once.`,
    );
  if (/disposed/.test(message)) return new GuestFault('disposed', message);
  return new GuestFault('rejection', message, error instanceof Error ? stackOf(error) : undefined);
}

function messageOf({ message }: Error): string {
  return String(message).slice(0, textMax);
}

/** Returns the guest's frames only: isolated-vm appends those of the sidecar. */
function stackOf(error: Error): string | undefined {
  if (error instanceof GuestFault) return error.thrownStack;
  const { stack } = error;
  if (typeof stack !== 'string') return undefined;
  const end = stack.indexOf('\n    at (<isolated-vm boundary>)');
  return stack.slice(0, Math.min(end < 0 ? textMax : end, textMax));
}
