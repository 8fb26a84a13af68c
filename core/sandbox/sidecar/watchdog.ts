// Ends entries that have had the processor time they may have. Disposing stops JavaScript at once, but not a long
// built-in and not the copying of a hostile rejection: what does not settle even then holds a thread that only the
// death of this process frees.
import type { Entry } from './isolate.ts';
import type { ProcessorMeter } from './meter.ts';

const tickMs = 20;
/** Of processor time, for a disposed isolate to leave its thread. */
const settleMs = 300;
/** Ticks without an entry before the looking stops. */
const idleTicksMax = 50;

export class Watchdog {
  #meter: ProcessorMeter;
  #onStuck: (entry: Entry) => void;
  #entries = new Set<Entry>();
  #stuck = new WeakSet<Entry>();
  #timer: NodeJS.Timeout | undefined;
  #idleTicks = 0;

  /** @param onStuck called once for each entry whose thread cannot be had back */
  constructor(meter: ProcessorMeter, onStuck: (entry: Entry) => void) {
    this.#meter = meter;
    this.#onStuck = onStuck;
  }

  add(entry: Entry): void {
    this.#entries.add(entry);
    this.#timer ??= setInterval(() => this.#look(), tickMs);
  }

  remove(entry: Entry): void {
    this.#entries.delete(entry);
  }

  #look(): void {
    if (this.#entries.size === 0) {
      if (++this.#idleTicks < idleTicksMax) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#idleTicks = 0;
      return;
    }
    this.#idleTicks = 0;
    this.#meter.measure();
    const hadMs = this.#meter.hadMs();
    for (const entry of this.#entries) {
      if (entry.disposedAtMs === undefined) {
        if (hadMs - entry.hadAtStartMs <= entry.limitMs) continue;
        entry.over = true;
        entry.guest.dispose();
      } else if (hadMs - entry.disposedAtMs > settleMs && !this.#stuck.has(entry)) {
        this.#stuck.add(entry);
        this.#onStuck(entry);
      }
    }
  }
}
