// Builds a database file from a continuous copy: applies the segments up to the requested time to the newest
// base before it. Every object is verified as it is read. If one is damaged, another base is used; the damage
// is reported if no other base covers the time.
import { open, rm, type FileHandle } from 'node:fs/promises';
import { checkFile } from '../../store/files/copied-database.ts';
import type { LogHead } from '../../store/log-head.ts';
import { type Destination, decodeObject } from './destination/destination.ts';
import {
  CopyError,
  findTarget,
  type RestoreTarget,
  readTimeline,
  reasonOf,
  runOf,
  without,
  type Base,
  type Chain,
  type Damaged,
} from './timeline.ts';

export interface Assembled {
  /** Time of the last segment at or before the requested time, ms since the epoch. */
  readonly timeMs: number;
  readonly head: LogHead | null;
  readonly generation: string | null;
  readonly installation: string | null;
  readonly bytes: number;
}

interface AssembleOptions {
  /** Called with the number of objects read, and the total. */
  onProgress?(done: number, of: number): void;
}

/**
 * Writes the database as of the given time into a new file, which is complete and synced on success, and removed on failure.
 * @param timeMs time in ms since the epoch; null for the newest state
 * @throws CopyError that names the covered periods and the damaged objects
 */
export async function assembleAt(
  source: Destination,
  timeMs: number | null,
  toFile: string,
  { onProgress = () => undefined }: AssembleOptions = {},
): Promise<Assembled> {
  let chains = await readTimeline(source);
  for (;;) {
    const target = findTarget(source.title, chains, timeMs);
    try {
      const outcome = await assemble(source, target, toFile, onProgress);
      if (!outcome.damaged) return finished(toFile, target, outcome.head);
      const { damaged } = outcome;
      // Another base may cover the same time; if none does, `findTarget` throws.
      chains = chains.map((chain) => (chain === target.chain ? without(chain, [damaged]) : chain));
    } catch (error) {
      await rm(toFile, { force: true });
      throw error;
    }
    await rm(toFile);
  }
}

/** Returns the newest base whose consecutive segments include the one with this index. */
function baseFor(chain: Chain, index: number): Base | undefined {
  return chain.bases.findLast(
    (base) => base.end <= index && (runOf(chain, base).at(-1)?.index ?? -1) >= index,
  );
}

type Outcome = { readonly damaged: Damaged } | { readonly damaged: null; readonly head: LogHead | null };

async function assemble(
  source: Destination,
  { chain, segment }: RestoreTarget,
  toFile: string,
  onProgress: (done: number, of: number) => void,
): Promise<Outcome> {
  const base = baseFor(chain, segment.index);
  if (!base) throw new CopyError(`${source.title} has no base for this time. Choose a later time.`);
  const segments = runOf(chain, base).filter(({ index }) => index <= segment.index);
  const names = [...base.names, ...segments.flatMap((each) => each.names)];
  const file = await open(toFile, 'wx', 0o600);
  try {
    let dbBytes: number | null = null;
    let head: LogHead | null = null;
    for (const [done, name] of names.entries()) {
      onProgress(done, names.length);
      try {
        const bytes = await source.get(name);
        if (done < base.names.length) await applyBasePart(file, chain.chain, bytes);
        else {
          const applied = await applySegmentPart(file, chain.chain, bytes);
          dbBytes = applied.dbBytes ?? dbBytes;
          head = applied.head;
        }
      } catch (error) {
        if (isOfTheFile(error)) throw error;
        return { damaged: { name, reason: reasonOf(error) } };
      }
    }
    await file.truncate(dbBytes ?? base.fileBytes);
    await file.sync();
    return { damaged: null, head };
  } finally {
    await file.close();
  }
}

/** Returns true for write errors of the local file, such as a full disk, which do not mean a damaged copy. */
const isOfTheFile = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && (error.syscall === 'write' || error.syscall === 'pwrite');

async function applyBasePart(file: FileHandle, chain: string, bytes: Uint8Array): Promise<void> {
  const { head, payload } = await decodeObject('base', bytes);
  if (head.chain !== chain) throw new Error('the object belongs to another chain');
  await file.write(payload, 0, payload.length, head.offset);
}

/**
 * @returns `dbBytes`: size of the database after the segment, null if nothing was committed; `head`: its log
 *   head
 */
async function applySegmentPart(
  file: FileHandle,
  chain: string,
  bytes: Uint8Array,
): Promise<{ dbBytes: number | null; head: LogHead | null }> {
  const { head: part, payload } = await decodeObject('segment', bytes);
  if (part.chain !== chain) throw new Error('the object belongs to another chain');
  const { pageBytes, dbPages, head } = part;
  const numbers = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  for (let at = 0; at < payload.length; at += 4 + pageBytes)
    await file.write(payload, at + 4, pageBytes, (numbers.getUint32(at) - 1) * pageBytes);
  return { dbBytes: dbPages === null ? null : dbPages * pageBytes, head };
}

/** @throws CopyError if the result is not the copied database */
function finished(toFile: string, { chain, segment }: RestoreTarget, expected: LogHead | null): Assembled {
  const { faults, head, generation } = checkFile(toFile);
  if (faults.length > 0)
    throw new CopyError(
      `The database restored from the copy is damaged: ${faults.slice(0, 3).join('; ')}. Restore an earlier time, or a backup.`,
    );
  if (expected && (head?.position !== expected.position || head.hash !== expected.hash))
    throw new CopyError(
      `The database restored from the copy ends at commit ${head?.position ?? 'none'} instead of ${expected.position}. Restore an earlier time, or a backup.`,
    );
  const { installation } = chain;
  return { timeMs: segment.timeMs, head, generation, installation, bytes: Bun.file(toFile).size };
}
