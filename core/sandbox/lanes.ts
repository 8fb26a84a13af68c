// Fair queue of named lanes: items of one lane run one at a time and in order. Slots rotate between workspaces, then between the
// installs of a workspace, then between the lanes of an install; quotas leave slots free for the others.
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

export interface Lanes<Item> {
  push(name: string, owner: Owner, item: Item): void;
  /** Returns the next item that `accept` admits; its lane is busy until `release`. */
  take(accept: (item: Item) => boolean): Item | undefined;
  release(name: string): void;
  /** Empties every queue. */
  clear(): Item[];
}

/** @param slots most items taken and not yet released, over all lanes */
export function createLanes<Item>(slots: number): Lanes<Item> {
  /** Lanes that are busy or have waiting items. Callers of `push` bound the number of items. */
  const lanes = new Map<string, Lane<Item>>();
  /** Lanes that are free and have waiting items. */
  const turns = new Turns<Lane<Item>>();
  const shares = new Shares(slots);

  return {
    push(name, owner, item) {
      const known = lanes.get(name);
      const lane = known ?? { name, owner, waiting: [], busy: false };
      if (!known) lanes.set(name, lane);
      lane.waiting.push(item);
      if (!lane.busy && lane.waiting.length === 1) turns.push(owner.workspaceId, owner.installId, lane);
    },
    take(accept) {
      const lane = turns.take(
        ({ waiting: [head] }, workspaceId, installId) =>
          shares.room(workspaceId, installId) > 0 && accept(head!),
        (workspaceId) => shares.hasRoom(workspaceId),
      );
      if (!lane) return undefined;
      lane.busy = true;
      shares.take(lane.owner.workspaceId, lane.owner.installId);
      return lane.waiting.shift();
    },
    release(name) {
      const lane = lanes.get(name);
      if (!lane?.busy) return;
      lane.busy = false;
      shares.give(lane.owner.workspaceId, lane.owner.installId);
      if (lane.waiting.length > 0) turns.push(lane.owner.workspaceId, lane.owner.installId, lane);
      else lanes.delete(name);
    },
    clear() {
      turns.clear();
      return [...lanes.values()].flatMap(({ waiting }) => waiting.splice(0));
    },
  };
}
