// A map that evicts unused entries without scanning. Entries are in two generations; an entry that is used moves to the young one.
// When the young generation is old or full, the old one is dropped and the young one takes its place. An entry is evicted after one
// to two ages without use, or as one of the least recently used.

export interface RecentMapOptions {
  /** Time without use after which an entry may be evicted. */
  readonly ageMs: number;
  /** Maximum number of entries in both generations. */
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

  /** @param now monotonic milliseconds */
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
