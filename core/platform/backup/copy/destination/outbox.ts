// Sends the archived segments in order, and bounds their size while the destination is unreachable.
import { rmSync, statSync } from 'node:fs';
import { markSent, readHeader, waitingPaths } from '../../../store/wal-archive/segments.ts';
import type { Destination } from './destination.ts';
import type { FilesSender } from '../files.ts';
import { chainRoot } from './names.ts';
import { sendSegment, DamagedSegmentError } from './send.ts';

/**
 * Disk quota of unsent segments. When it is exceeded they are dropped, and a new base is taken when the
 * destination is reachable again.
 */
export const walArchiveBytesMax = 1024 * 1024 * 1024;

export interface Outbox {
  /**
   * Sends the unsent segments after the archive files they reference.
   * @returns bytes sent
   * @throws DamagedSegmentError
   */
  send(): Promise<number>;
  waitingBytes(): number;
  /** Drops the unsent segments. */
  drop(): void;
}

interface OutboxOptions {
  readonly destination: Destination;
  readonly walArchive: string;
  readonly installation: string;
  readonly files: FilesSender;
}

export function createOutbox({ destination, walArchive, installation, files }: OutboxOptions): Outbox {
  return {
    async send() {
      // Segments are listed before the archive files are, because a file exists before the segment that
      // references it.
      const waiting = waitingPaths(walArchive);
      await files.send();
      let bytes = 0;
      for (const path of waiting) {
        const header = readHeader(path);
        if (!header) throw new DamagedSegmentError('an unsent segment is damaged');
        bytes += await sendSegment(destination, chainRoot(installation, header.chain), path, header);
        markSent(walArchive, path);
      }
      return bytes;
    },
    waitingBytes: () => waitingPaths(walArchive).reduce((sum, path) => sum + sizeOf(path), 0),
    drop: () => rmSync(walArchive, { recursive: true, force: true }),
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
