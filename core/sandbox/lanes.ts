// Queues by lane: items of one lane run one at a time and in order. Workspaces take turns, installs of a workspace
// take turns, and so do the lanes of an install; nobody takes more slots than are left free.
import { Shares } from '../lib/fairness/shares.ts';
import { Turns } from '../lib/fairness/turns.ts';

export interface Owner {
  readonly workspaceId: string;
  readonly installId: string;
}

interface Lane<Item> {
  readonly name: string;
  readonly owner: Owner;
  readonly waiting: Item[];
  busy: boolean;
}

export class Lanes<Item> {
  readonly #lanes = new Map<string, Lane<Item>>();
  /** Lanes that are free and have something waiting. */
  readonly #turns = new Turns<Lane<Item>>();
  readonly #shares: Shares;

  /** @param slots items that may be out at once, of all lanes together */
  constructor(slots: number) {
    this.#shares = new Shares(slots);
  }

  push(name: string, owner: Owner, item: Item): void {
    const known = this.#lanes.get(name);
    const lane = known ?? { name, owner, waiting: [], busy: false };
    if (!known) this.#lanes.set(name, lane);
    lane.waiting.push(item);
    if (!lane.busy && lane.waiting.length === 1) this.#turns.push(owner.workspaceId, owner.installId, lane);
  }

  /** The next item in turn of those that `accept` takes; its lane is busy until `release`. */
  take(accept: (item: Item) => boolean): Item | undefined {
    const lane = this.#turns.take(
      ({ waiting: [head] }, workspaceId, installId) =>
        this.#shares.room(workspaceId, installId) > 0 && accept(head!),
      (workspaceId) => this.#shares.hasRoom(workspaceId),
    );
    if (!lane) return undefined;
    lane.busy = true;
    this.#shares.take(lane.owner.workspaceId, lane.owner.installId);
    return lane.waiting.shift();
  }

  release(name: string): void {
    const lane = this.#lanes.get(name);
    if (!lane?.busy) return;
    lane.busy = false;
    this.#shares.give(lane.owner.workspaceId, lane.owner.installId);
    if (lane.waiting.length > 0) this.#turns.push(lane.owner.workspaceId, lane.owner.installId, lane);
    else this.#lanes.delete(name);
  }

  /** Empties every queue. */
  clear(): Item[] {
    this.#turns.clear();
    return [...this.#lanes.values()].flatMap(({ waiting }) => waiting.splice(0));
  }
}
