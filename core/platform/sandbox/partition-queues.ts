// Fair queue with partitions: items of one partition run one at a time and in order. Slots rotate between
// workspaces, then between the installs of a workspace, then between the partitions of an install; quotas
// leave slots free for the others.
import { FairQuota } from '../lib/fairness/fair-quota.ts';
import { FairQueue } from '../lib/fairness/fair-queue.ts';

export interface Owner {
  readonly workspaceId: string;
  readonly installId: string;
}

interface PartitionQueue<Item> {
  readonly name: string;
  readonly owner: Owner;
  readonly waiting: Item[];
  busy: boolean;
}

export interface PartitionQueues<Item> {
  push(name: string, owner: Owner, item: Item): void;
  /** Returns the next item that `accept` admits; its partition is busy until `release`. */
  take(accept: (item: Item) => boolean): Item | undefined;
  release(name: string): void;
  /** Removes and returns all waiting items. */
  clear(): Item[];
}

/** @param slots maximum number of items taken and not yet released, across all partitions */
export function createPartitionQueues<Item>(slots: number): PartitionQueues<Item> {
  /** Partitions that are busy or have waiting items. Callers of `push` bound the number of items. */
  const queues = new Map<string, PartitionQueue<Item>>();
  /** Partitions that are free and have waiting items. */
  const fairQueue = new FairQueue<PartitionQueue<Item>>();
  const quota = new FairQuota(slots);

  return {
    push(name, owner, item) {
      const known = queues.get(name);
      const queue = known ?? { name, owner, waiting: [], busy: false };
      if (!known) queues.set(name, queue);
      queue.waiting.push(item);
      if (!queue.busy && queue.waiting.length === 1)
        fairQueue.push(owner.workspaceId, owner.installId, queue);
    },
    take(accept) {
      const queue = fairQueue.take(
        ({ waiting: [head] }, workspaceId, installId) =>
          quota.remaining(workspaceId, installId) > 0 && accept(head!),
        (workspaceId) => quota.hasCapacity(workspaceId),
      );
      if (!queue) return undefined;
      queue.busy = true;
      quota.take(queue.owner.workspaceId, queue.owner.installId);
      return queue.waiting.shift();
    },
    release(name) {
      const queue = queues.get(name);
      if (!queue?.busy) return;
      queue.busy = false;
      quota.give(queue.owner.workspaceId, queue.owner.installId);
      if (queue.waiting.length > 0) fairQueue.push(queue.owner.workspaceId, queue.owner.installId, queue);
      else queues.delete(name);
    },
    clear() {
      fairQueue.clear();
      return [...queues.values()].flatMap(({ waiting }) => waiting.splice(0));
    },
  };
}
