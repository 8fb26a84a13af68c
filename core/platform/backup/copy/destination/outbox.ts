// Sends the archived segments in order, in parts that fit into memory, and bounds their size while the
// destination is unreachable.
import { rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import {
  addPage,
  markSent,
  readHeader,
  segmentHeaderBytes,
  waitingPaths,
  type SegmentHeader,
} from '../../../store/wal-archive/segments.ts';
import type { FilesSender } from '../files.ts';
import { chainRoot, encodeObject, segmentPartName, type Destination } from './destination.ts';

/**
 * Disk quota of unsent segments. When it is exceeded they are dropped, and a new base is taken when the
 * destination is reachable again.
 */
export const walArchiveBytesMax = 1024 * 1024 * 1024;

/** Uncompressed bytes of pages per part. */
const partBytesMax = 8 * 1024 * 1024;

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

/** An unsent segment is damaged, as after a power failure, so the chain cannot continue. */
export class DamagedSegmentError extends Error {}

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

/**
 * Sends all parts of a segment; readers ignore a segment with a missing part.
 * @returns bytes sent
 * @throws DamagedSegmentError
 */
async function sendSegment(
  destination: Destination,
  root: string,
  path: string,
  header: SegmentHeader,
): Promise<number> {
  const { chain, index, timeMs, head, pageBytes, dbPages, pages } = header;
  const position = head?.position ?? null;
  const entryBytes = 4 + pageBytes;
  const partPages = Math.max(1, Math.floor(partBytesMax / entryBytes));
  const parts = Math.max(1, Math.ceil(pages / partPages));
  const file = await open(path, 'r');
  let sum = 0n;
  let sent = 0;
  try {
    for (let part = 0; part < parts; part++) {
      const entries = Math.min(partPages, pages - part * partPages);
      const payload = Buffer.allocUnsafe(entries * entryBytes);
      const at = segmentHeaderBytes + part * partPages * entryBytes;
      const { bytesRead } = await file.read(payload, 0, payload.length, at);
      for (let entry = 0; entry < entries; entry++)
        sum = addPage(sum, payload.subarray(entry * entryBytes, (entry + 1) * entryBytes));
      const isLast = part === parts - 1;
      if (bytesRead !== payload.length || (isLast && sum.toString(16) !== header.sum))
        throw new DamagedSegmentError('an unsent segment is damaged');
      const object = await encodeObject(
        { kind: 'segment', chain, index, part, parts, timeMs, head, pageBytes, dbPages },
        payload,
      );
      await destination.put(segmentPartName(root, { index, timeMs, position, part, parts }), object);
      sent += object.length;
    }
  } finally {
    await file.close();
  }
  return sent;
}
