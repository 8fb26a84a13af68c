// Keeps the head of the log while groups commit. It is written before anybody is answered, so that it outlives a killed process, and
// synced beside the groups that follow, never more than one sync behind. docs/decisions/0018.
import { closeSync, fdatasync, openSync } from 'node:fs';
import { slotOf, writeSlot, type LogHead, type Slot } from '../log-head.ts';

export interface HeadKeeper {
  /** @throws what an earlier sync failed with */
  check(): void;
  /** @throws what writing, or an earlier sync, failed with */
  write(head: LogHead): void;
  /** What was written is durable once resolved, unless a sync failed. */
  close(): Promise<void>;
}

/** @param head what the file holds, synced */
export function openHeadKeeper(path: string, head: LogHead): HeadKeeper {
  const fd = openSync(path, 'r+');
  /** The slot that is written; the other one is known to be on the disk, whole. */
  let slot: Slot = otherThan(slotOf(head));
  let unsynced = false;
  let syncing: Promise<void> | null = null;
  let failed: Error | null = null;

  const check = (): void => {
    if (failed) throw failed;
  };

  const sync = async (): Promise<void> => {
    while (unsynced && !failed) {
      unsynced = false;
      failed = await new Promise((resolve) => fdatasync(fd, resolve));
      // What was written meanwhile went over the slot that was synced, and may not be on the disk.
      if (!unsynced) slot = otherThan(slot);
    }
    syncing = null;
  };

  return {
    check,
    write(next) {
      check();
      writeSlot(fd, slot, next);
      unsynced = true;
      syncing ??= sync();
    },
    async close() {
      await syncing;
      closeSync(fd);
    },
  };
}

const otherThan = (slot: Slot): Slot => (slot === 0 ? 1 : 0);
