/** Queues by lane: items of one lane run one at a time and in order, lanes take turns. */
export class Lanes<Item> {
  #waiting = new Map<string, Item[]>();
  #busy = new Set<string>();

  push(lane: string, item: Item): void {
    const queue = this.#waiting.get(lane);
    if (queue) queue.push(item);
    else this.#waiting.set(lane, [item]);
  }

  /** The head of the first free lane that `accept` takes; the lane is busy until `release`. */
  take(accept: (item: Item) => boolean): Item | undefined {
    for (const [lane, queue] of this.#waiting) {
      const [head] = queue;
      if (head === undefined || this.#busy.has(lane) || !accept(head)) continue;
      queue.shift();
      this.#waiting.delete(lane);
      if (queue.length > 0) this.#waiting.set(lane, queue);
      this.#busy.add(lane);
      return head;
    }
    return undefined;
  }

  release(lane: string): void {
    this.#busy.delete(lane);
  }

  /** Empties every queue. */
  clear(): Item[] {
    const all = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    return all;
  }
}
