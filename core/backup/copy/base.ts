// Takes a base: the database file as it lies there while the server writes it, part by part. Pages that are folded in meanwhile may be old,
// new or half of each; the segments since its beginning hold all of them, and put right what it got wrong.
import { fstatSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { lastHeader, readEnd } from '../../store/spool/spool.ts';
import type { Destination } from './destination.ts';
import { basePartName, manifestName } from './names.ts';
import { encodeObject } from './object.ts';

const partBytes = 8 * 1024 * 1024;
const readFrom = promisify(read);

export interface BaseOptions {
  readonly destination: Destination;
  readonly root: string;
  readonly spool: string;
  /** Of the database file. It must not be closed while the store is open, because that would drop SQLite's locks on the file. */
  readonly fd: number;
  readonly chain: string;
  readonly base: number;
  nowMs(): number;
  /** Gives up where the chain ended or the server stops. */
  readonly signal: AbortSignal;
  onProgress(done: number, of: number): void;
  /** Repeats what fails. */
  retried<T>(work: () => Promise<T>): Promise<T>;
}

/** @returns the bytes it takes in the destination */
export async function takeBase(options: BaseOptions): Promise<number> {
  const { destination, root, spool, fd, chain, base, nowMs, signal, onProgress, retried } = options;
  const beganMs = nowMs();
  // What the log holds now may not be in the file yet, and what comes later is folded in while it is read.
  const first = newest(spool, chain).first;
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
    // Half of the time is for others.
    await Bun.sleep(performance.now() - startedMs);
  }
  signal.throwIfAborted();
  const manifest = await encodeObject({
    kind: 'manifest',
    ...{ chain, base, parts, fileBytes, first },
    // Whatever was folded in meanwhile was taken before.
    end: newest(spool, chain).index,
    ...{ beganMs, endedMs: nowMs() },
  });
  await retried(() => destination.put(manifestName(root, base), manifest));
  return sent;
}

function newest(spool: string, chain: string): { first: number; index: number } {
  const last = lastHeader(spool);
  // Without the segments that were not taken any more, what was folded in meanwhile makes no whole database.
  if (last?.chain !== chain || readEnd(spool) !== null) throw new Error('The chain of the copy ended.');
  return last;
}
