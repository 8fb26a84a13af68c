// What processor time an entry has had. isolated-vm's `cpuTime` is the wall's in its prebuilt addons, and no clock of
// ours looks into another thread. But all entries run at one priority, so that the system gives each an equal part of
// what this process's other threads have used. `hadMs` is that part as a clock: it goes as fast as the wall on an idle
// machine, slowly on a busy one, and stands still while the process is stopped.

/** Of this process, in milliseconds: all threads but the calling one. */
export type UsedMs = () => number;

/** Shorter windows would measure the accounting of the kernel, which lags by a tick. */
const windowMsMin = 10;
/** Helper threads also use time; of what no entry can have used, only so much is held over for the kernel's lag. */
const heldOverMsMax = 20;

export interface ProcessorMeter {
  /** What an entry that was always in progress would have had; only differences mean something. */
  hadMs(): number;
  /** An entry begins or ends. @returns `hadMs` at this moment */
  enter(): number;
  leave(): number;
  /** Takes in what was used until now. */
  measure(): void;
}

export function createProcessorMeter(usedMs: UsedMs, nowMs: () => number): ProcessorMeter {
  /** Entries in progress, and the sum of their times in this window. */
  let entries = 0;
  let entriesMs = 0;
  let countedAt = nowMs();
  let openedAt = countedAt;
  let usedAtOpen = usedMs();
  let hadAtOpen = 0;
  let heldOverMs = 0;
  let rate = 1;

  const close = (now: number): void => {
    const used = usedMs();
    const shared = heldOverMs + (used - usedAtOpen);
    usedAtOpen = used;
    const taken = Math.min(shared, entriesMs);
    heldOverMs = Math.min(shared - taken, heldOverMsMax);
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
  const all = process.cpuUsage();
  const own = process.threadCpuUsage();
  return (all.user + all.system - own.user - own.system) / 1000;
}
