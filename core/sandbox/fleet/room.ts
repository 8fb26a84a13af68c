import { Turns } from '../../lib/fairness/turns.ts';
import type { Owner } from '../lanes.ts';

/**
 * What the host calls of one sidecar may hold in the core at once: arguments on their way in, answers on their way out. A call that
 * finds no room waits for its turn among workspaces and installs, and nothing more is read from the sidecar until it has had it.
 */
export class Room {
  #most: number;
  #taken = 0;
  #waiting = new Turns<{ units: number; enter(): void }>();
  #backlog: () => number;
  #onFull: (full: boolean) => void;

  /**
   * @param most units; one call may always be in, whatever it takes
   * @param backlog what has been said to the sidecar and not been read by it
   */
  constructor(most: number, backlog: () => number, onFull: (full: boolean) => void) {
    this.#most = most;
    this.#backlog = backlog;
    this.#onFull = onFull;
  }

  /** Undefined when there is room at once. */
  enter({ workspaceId, installId }: Owner, units: number): Promise<void> | undefined {
    if (this.#waiting.isEmpty && this.#fits(units)) {
      this.#taken += units;
      return undefined;
    }
    if (this.#waiting.isEmpty) this.#onFull(true);
    return new Promise((enter) => this.#waiting.push(workspaceId, installId, { units, enter }));
  }

  leave(units: number): void {
    this.#taken -= units;
    this.admit();
  }

  /** Lets in who fits by now, each in turn: nobody is passed by for being large. */
  admit(): void {
    if (this.#waiting.isEmpty) return;
    for (let next = this.#inTurn(); next; next = this.#inTurn()) {
      this.#taken += next.units;
      next.enter();
    }
    if (this.#waiting.isEmpty) this.#onFull(false);
  }

  #inTurn(): { units: number; enter(): void } | undefined {
    let isFirst = true;
    return this.#waiting.take(({ units }) => {
      const mayEnter = isFirst && this.#fits(units);
      isFirst = false;
      return mayEnter;
    });
  }

  #fits(units: number): boolean {
    const held = this.#taken + this.#backlog();
    return held === 0 || held + units <= this.#most;
  }
}
