// Bounds the memory that host calls of one sidecar use in the core, for arguments and answers. A call above the capacity waits in a
// queue that is fair between workspaces and installs, and reading from the sidecar is paused until the queue is empty. Also paces
// long answers, because each blocks the core for milliseconds.
import { FairQueue } from '../../lib/fairness/fair-queue.ts';
import type { Owner } from '../partition-queues.ts';

/** Shorter answers are not paced; their cost is negligible. */
const longUnitsMin = 16 * 1024;
const longUnitsPerMs = 8 * 1024;
const restMsMax = 20;

interface Entrant {
  readonly units: number;
  enter(): void;
}

export interface CallCapacity {
  /** Reserves capacity: at once (returns undefined), or by the time that the promise resolves. */
  enter(owner: Owner, units: number): Promise<void> | undefined;
  leave(units: number): void;
  /** Returns the time that an answer of this length must wait, so that the core pauses after long ones. */
  pauseMs(units: number): number;
  /** Admits waiting calls that fit now, strictly in queue order, so that small calls do not starve a large one. */
  admit(): void;
}

export interface CallCapacityOptions {
  /** Capacity in UTF-16 units; one call is always admitted, whatever its size. */
  readonly unitsMax: number;
  /** Returns the amount of output that the sidecar has not read. */
  backlog(): number;
  /** Called with true when a call has to wait, and with false when none waits any more. */
  onFull(full: boolean): void;
}

export function createCallCapacity(options: CallCapacityOptions): CallCapacity {
  /** Bounded by the calls of one chunk of frames, because reading pauses while a call waits. */
  const waiting = new FairQueue<Entrant>();
  let taken = 0;
  let restsUntil = 0;

  const fits = (units: number): boolean => {
    const inUse = taken + options.backlog();
    return inUse === 0 || inUse + units <= options.unitsMax;
  };

  const takeNext = (): Entrant | undefined => {
    let isFirst = true;
    return waiting.take(({ units }) => {
      const mayEnter = isFirst && fits(units);
      isFirst = false;
      return mayEnter;
    });
  };

  const admit = (): void => {
    if (waiting.isEmpty) return;
    for (let next = takeNext(); next; next = takeNext()) {
      taken += next.units;
      next.enter();
    }
    if (waiting.isEmpty) options.onFull(false);
  };

  return {
    admit,
    enter({ workspaceId, installId }, units) {
      if (waiting.isEmpty && fits(units)) {
        taken += units;
        return undefined;
      }
      if (waiting.isEmpty) options.onFull(true);
      return new Promise((enter) => waiting.push(workspaceId, installId, { units, enter }));
    },
    leave(units) {
      taken -= units;
      admit();
    },
    pauseMs(units) {
      if (units < longUnitsMin) return 0;
      const now = performance.now();
      const from = Math.max(now, restsUntil);
      restsUntil = from + Math.min(units / longUnitsPerMs, restMsMax);
      return from - now;
    },
  };
}
