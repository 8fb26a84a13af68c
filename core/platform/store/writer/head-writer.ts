// Maintains the log head file while groups commit. The head is written before a commit is acknowledged, so that it survives a killed
// process, and synced concurrently with later groups, at most one sync behind. docs/decisions/0018.
import { closeSync, fdatasync, openSync } from 'node:fs';
import { slotOf, writeSlot, type LogHead, type Slot } from '../log-head.ts';

export interface HeadWriter {
  /** @throws the error of an earlier failed sync */
  check(): void;
  /** @throws the error of the write, or of an earlier failed sync */
  write(head: LogHead): void;
  /** The head is durable once resolved, unless a sync failed. */
  close(): Promise<void>;
}

/** @param head head in the file, already synced */
export function openHeadWriter(path: string, head: LogHead): HeadWriter {
  const fd = openSync(path, 'r+');
  /** Slot to write; the other slot is durable and intact. */
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
      // A concurrent write reused the slot that was being synced, so the slot may not be durable.
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
