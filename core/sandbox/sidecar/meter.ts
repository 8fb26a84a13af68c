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

export class ProcessorMeter {
  #usedMs: UsedMs;
  #nowMs: () => number;
  /** Entries in progress, and the sum of their times in this window. */
  #entries = 0;
  #entriesMs = 0;
  #countedAt: number;
  #openedAt: number;
  #usedAtOpen: number;
  #hadAtOpen = 0;
  #heldOverMs = 0;
  #rate = 1;

  constructor(usedMs: UsedMs, nowMs: () => number) {
    this.#usedMs = usedMs;
    this.#nowMs = nowMs;
    this.#countedAt = this.#openedAt = nowMs();
    this.#usedAtOpen = usedMs();
  }

  /** Of an entry in progress since ever; only differences mean something. */
  hadMs(): number {
    return this.#hadAtOpen + this.#rate * (this.#nowMs() - this.#openedAt);
  }

  enter(): void {
    this.#count(1);
  }

  leave(): void {
    this.#count(-1);
  }

  #count(by: 1 | -1): void {
    const now = this.#nowMs();
    this.#entriesMs += this.#entries * (now - this.#countedAt);
    this.#countedAt = now;
    if (now - this.#openedAt >= windowMsMin) this.#close(now);
    this.#entries += by;
  }

  /** Takes in what was used until now. */
  measure(): void {
    const now = this.#nowMs();
    this.#entriesMs += this.#entries * (now - this.#countedAt);
    this.#countedAt = now;
    this.#close(now);
  }

  #close(now: number): void {
    const used = this.#usedMs();
    const shared = this.#heldOverMs + (used - this.#usedAtOpen);
    this.#usedAtOpen = used;
    const taken = Math.min(shared, this.#entriesMs);
    this.#heldOverMs = Math.min(shared - taken, heldOverMsMax);
    if (this.#entriesMs > 0) this.#rate = taken / this.#entriesMs;
    this.#hadAtOpen += this.#rate * (now - this.#openedAt);
    this.#openedAt = now;
    this.#entriesMs = 0;
  }
}

export function usedByOtherThreadsMs(): number {
  const all = process.cpuUsage();
  const own = process.threadCpuUsage();
  return (all.user + all.system - own.user - own.system) / 1000;
}
