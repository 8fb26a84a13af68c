// Sends a segment to the destination in parts that fit into memory.
import { open } from 'node:fs/promises';
import { addPage, segmentHeaderBytes, type SegmentHeader } from '../../../store/wal-archive/segments.ts';
import type { Destination } from './destination.ts';
import { segmentPartName } from './names.ts';
import { encodeObject } from './object.ts';

/** Uncompressed bytes of pages per part. */
const partBytesMax = 8 * 1024 * 1024;

/** An unsent segment is damaged, as after a power failure, so the chain cannot continue. */
export class DamagedSegmentError extends Error {}

/**
 * Sends all parts of a segment; readers ignore a segment with a missing part.
 * @returns bytes sent
 * @throws DamagedSegmentError
 */
export async function sendSegment(
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
