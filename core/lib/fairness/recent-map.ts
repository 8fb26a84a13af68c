// A map that forgets entries which were not used for a while, without searching for them: entries live in two generations. An entry that
// is used moves to the young one. When the young generation is old or full, the old one is forgotten as a whole and the young one takes
// its place. So an entry is forgotten after one to two ages without use, or as one of the least recently used of too many.

export interface RecentMapOptions {
  /** Time without use after which an entry may be forgotten. */
  readonly ageMs: number;
  /** Entries of both generations together. */
  readonly max: number;
}

export class RecentMap<Value> {
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #since = 0;
  readonly #options: RecentMapOptions;

  constructor(options: RecentMapOptions) {
    this.#options = options;
  }

  /** @param now monotonic, in milliseconds */
  get(key: string, now: number): Value | undefined {
    this.#turn(now);
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.#young.set(key, old);
    return old;
  }

  set(key: string, value: Value, now: number): void {
    this.#turn(now);
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  #turn(now: number): void {
    const { ageMs, max } = this.#options;
    if (this.#young.size < max / 2 && now - this.#since < ageMs) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#since = now;
  }
}
