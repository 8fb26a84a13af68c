/**
 * What the host calls of one sidecar may hold in the core at once: arguments on their way in, answers on their way out. A call that
 * finds no room waits for its turn, and nothing more is read from the sidecar until it has had it.
 */
export class Room {
  #most: number;
  #taken = 0;
  #waiting: { units: number; enter(): void }[] = [];
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
  enter(units: number): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#fits(units)) {
      this.#taken += units;
      return undefined;
    }
    if (this.#waiting.length === 0) this.#onFull(true);
    return new Promise((enter) => this.#waiting.push({ units, enter }));
  }

  leave(units: number): void {
    this.#taken -= units;
    this.admit();
  }

  /** Lets in whoever fits by now. */
  admit(): void {
    if (this.#waiting.length === 0) return;
    for (let next = this.#waiting[0]; next && this.#fits(next.units); next = this.#waiting[0]) {
      this.#waiting.shift();
      this.#taken += next.units;
      next.enter();
    }
    if (this.#waiting.length === 0) this.#onFull(false);
  }

  #fits(units: number): boolean {
    const held = this.#taken + this.#backlog();
    return held === 0 || held + units <= this.#most;
  }
}
