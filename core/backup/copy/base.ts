// Takes a base: copies the database file part by part while the server writes it. Pages that are checkpointed
// during the copy may be old, new or torn; the segments since the start of the base contain all of them and
// correct the copy.
import { fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { lastHeader, readEnd } from '../../store/wal-archive/segments.ts';
import type { Destination } from './destination.ts';
import { basePartName, manifestName } from './names.ts';
import { encodeObject } from './object.ts';

const partBytes = 8 * 1024 * 1024;
const readFrom = promisify(read);

export interface BaseOptions {
  readonly destination: Destination;
  readonly root: string;
  readonly walArchive: string;
  /**
   * Descriptor of the database file. Must not be closed while the store is open, because that would drop
   * SQLite's locks on the file.
   */
  readonly fd: number;
  readonly chain: string;
  readonly base: number;
  nowMs(): number;
  /** Aborted when the chain ends or the server stops. */
  readonly signal: AbortSignal;
  onProgress(done: number, of: number): void;
  /** Runs the work until it succeeds or `signal` is aborted. */
  retried<T>(work: () => Promise<T>): Promise<T>;
}

/** @returns the size of the base in the destination in bytes */
export async function takeBase(options: BaseOptions): Promise<number> {
  const { destination, root, walArchive, fd, chain, base, nowMs, signal, onProgress, retried } = options;
  const beganMs = nowMs();
  // The segments of the current log are needed too: their pages may not be in the file yet.
  const first = newest(walArchive, chain).first;
  const fileBytes = fstatSync(fd).size;
  const parts = Math.ceil(fileBytes / partBytes);
  let sent = 0;
  for (let part = 0; part < parts; part++) {
    signal.throwIfAborted();
    onProgress(part, parts);
    const startedMs = performance.now();
    const offset = part * partBytes;
    const buffer = Buffer.allocUnsafe(Math.min(partBytes, fileBytes - offset));
    const { bytesRead } = await readFrom(fd, buffer, 0, buffer.length, offset);
    const object = await encodeObject(
      { kind: 'base', chain, base, part, offset },
      buffer.subarray(0, bytesRead),
    );
    await retried(() => destination.put(basePartName(root, base, part), object));
    sent += object.length;
    // Pauses as long as the part took, so that other work gets half of the time.
    await Bun.sleep(performance.now() - startedMs);
  }
  signal.throwIfAborted();
  const manifest = await encodeObject({
    kind: 'manifest',
    ...{ chain, base, parts, fileBytes, first },
    // Pages are archived before they are checkpointed, so the segments up to this one contain every page that
    // changed in the file during the copy.
    end: newest(walArchive, chain).index,
    ...{ beganMs, endedMs: nowMs() },
  });
  await retried(() => destination.put(manifestName(root, base), manifest));
  return sent;
}

function newest(walArchive: string, chain: string): { first: number; index: number } {
  const last = lastHeader(walArchive);
  // A base needs the segments of all pages that are checkpointed during the copy; an ended chain gets no more
  // segments.
  if (last?.chain !== chain || readEnd(walArchive) !== null)
    throw new Error('The chain of the continuous copy ended.');
  return last;
}
