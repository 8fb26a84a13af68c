// Makes a database file of a copy: the newest base before the moment, and its segments up to there. Everything is checked as it is read; what
// is damaged is gone round where another base leads there, and told where none does.
import { open, rm, type FileHandle } from 'node:fs/promises';
import { checkFile } from '../../store/file-check.ts';
import type { LogHead } from '../../store/log-head.ts';
import type { Destination } from './destination.ts';
import { CopyError, findTarget, type Target } from './moment.ts';
import { decodeObject } from './object.ts';
import { readTimeline, reasonOf, runOf, without, type Base, type Chain, type Damaged } from './timeline.ts';

export interface Assembled {
  /** The moment it stands at (milliseconds): of the last segment at or before the one asked for. */
  readonly timeMs: number;
  /** Of the event log in it. */
  readonly head: LogHead | null;
  /** Of the history that it tells. */
  readonly generation: string | null;
  readonly installation: string | null;
  readonly bytes: number;
}

interface AssembleOptions {
  /** Called with how far it is: objects read, of so many. */
  onProgress?(done: number, of: number): void;
}

/**
 * Writes the database as it was at the moment into a new file, which is whole and synced once resolved, and gone where it fails.
 * @param timeMs null is the newest moment
 * @throws CopyError saying which moments are reached, and what is damaged
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
      // Another base may lead to the same moment; where none does, the next search says so.
      chains = chains.map((chain) => (chain === target.chain ? without(chain, [damaged]) : chain));
    } catch (error) {
      await rm(toFile, { force: true });
      throw error;
    }
    await rm(toFile);
  }
}

/** The newest base that leads to a segment. */
function baseFor(chain: Chain, index: number): Base | undefined {
  return chain.bases.findLast(
    (base) => base.end <= index && (runOf(chain, base).at(-1)?.index ?? -1) >= index,
  );
}

/** What became of applying a base and its segments. */
type Outcome = { readonly damaged: Damaged } | { readonly damaged: null; readonly head: LogHead | null };

async function assemble(
  source: Destination,
  { chain, segment }: Target,
  toFile: string,
  onProgress: (done: number, of: number) => void,
): Promise<Outcome> {
  const base = baseFor(chain, segment.index);
  if (!base) throw new CopyError(`${source.title} has no base that leads there.`);
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

/** A full disk here says nothing of the copy. */
const isOfTheFile = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && (error.syscall === 'write' || error.syscall === 'pwrite');

async function applyBasePart(file: FileHandle, chain: string, bytes: Uint8Array): Promise<void> {
  const { head, payload } = await decodeObject('base', bytes);
  if (head.chain !== chain) throw new Error('it belongs to another chain');
  await file.write(payload, 0, payload.length, head.offset);
}

/** @returns the database behind it: its size, where anything was committed, and its log */
async function applySegmentPart(
  file: FileHandle,
  chain: string,
  bytes: Uint8Array,
): Promise<{ dbBytes: number | null; head: LogHead | null }> {
  const { head: part, payload } = await decodeObject('segment', bytes);
  if (part.chain !== chain) throw new Error('it belongs to another chain');
  const { pageBytes, dbPages, head } = part;
  const numbers = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  for (let at = 0; at < payload.length; at += 4 + pageBytes)
    await file.write(payload, at + 4, pageBytes, (numbers.getUint32(at) - 1) * pageBytes);
  return { dbBytes: dbPages === null ? null : dbPages * pageBytes, head };
}

/** @throws CopyError where what was made is not what was copied */
function finished(toFile: string, { chain, segment }: Target, expected: LogHead | null): Assembled {
  const { faults, head, generation } = checkFile(toFile);
  if (faults.length > 0)
    throw new CopyError(`What the copy leads to is no whole database: ${faults.slice(0, 3).join('; ')}.`);
  if (expected && (head?.position !== expected.position || head.hash !== expected.hash))
    throw new CopyError(
      `What the copy leads to ends at commit ${head?.position ?? 'none'} in place of ${expected.position}.`,
    );
  const { installation } = chain;
  return { timeMs: segment.timeMs, head, generation, installation, bytes: Bun.file(toFile).size };
}
