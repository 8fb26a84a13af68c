// What the host calls of one sidecar may hold in the core at once: arguments on their way in, answers on their way out. A
// call that finds no room waits for its turn among workspaces and installs, and nothing more is read from the sidecar until
// it has had it. And how fast long answers follow each other: each held the core for milliseconds.
import { Turns } from '../../lib/fairness/turns.ts';
import type { Owner } from '../lanes.ts';

/** Shorter answers cost so little that nobody notices. */
const longUnitsMin = 16 * 1024;
const longUnitsPerMs = 8 * 1024;
const restMsMax = 20;

interface Entrant {
  readonly units: number;
  enter(): void;
}

export interface Room {
  /** Undefined when there is room at once. */
  enter(owner: Owner, units: number): Promise<void> | undefined;
  leave(units: number): void;
  /** How long an answer of this length has to wait, so that the core rests after long ones before it. */
  pauseMs(units: number): number;
  /** Lets in who fits by now, each in turn: nobody is passed by for being large. */
  admit(): void;
}

export interface RoomOptions {
  /** Units that may be held; one call may always be in, whatever it takes. */
  readonly unitsMax: number;
  /** What has been said to the sidecar and not been read by it. */
  backlog(): number;
  onFull(full: boolean): void;
}

export function createRoom(options: RoomOptions): Room {
  /** The calls of one chunk of frames at most: while one waits nothing more is read. */
  const waiting = new Turns<Entrant>();
  let taken = 0;
  let restsUntil = 0;

  const fits = (units: number): boolean => {
    const held = taken + options.backlog();
    return held === 0 || held + units <= options.unitsMax;
  };

  const inTurn = (): Entrant | undefined => {
    let isFirst = true;
    return waiting.take(({ units }) => {
      const mayEnter = isFirst && fits(units);
      isFirst = false;
      return mayEnter;
    });
  };

  const admit = (): void => {
    if (waiting.isEmpty) return;
    for (let next = inTurn(); next; next = inTurn()) {
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
