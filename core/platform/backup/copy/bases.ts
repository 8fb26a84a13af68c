// Bases of a continuous copy: takes them on schedule, and removes the objects that no restorable time needs.
import { closeSync, fstatSync, openSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { lastHeader, readEnd } from '../../store/wal-archive/segments.ts';
import {
  basePartName,
  encodeObject,
  manifestName,
  parseName,
  type BaseManifest,
  type Destination,
} from './destination/destination.ts';
import { reachesOf, readTimeline, runOf, type Chain } from './timeline.ts';

const everyMs = 24 * 3_600_000;
/**
 * A new base is taken after this many bytes of segments, or after the size of the last base if that is
 * larger.
 */
const segmentBytesMax = 256 * 1024 * 1024;
const retryMs = { first: 1_000, last: 60_000 };

/** State of a chain's bases in the destination. */
interface BasesOf {
  readonly chain: string;
  readonly root: string;
  readonly last: BaseManifest | null;
  /** Number of the next base. */
  readonly next: number;
}

export interface Bases {
  /** Switches to another chain and aborts the base in progress. */
  use(of: BasesOf): void;
  /** Records the bytes of sent segments. */
  sent(bytes: number): void;
  takeIfDue(): void;
  /** Returns true if the chain has a base, so that it can be restored. */
  has(): boolean;
  /** Returns the number of the base in progress, and its sent and total parts; null if there is none. */
  underWay(): { readonly base: number; readonly done: number; readonly of: number } | null;
  stop(): Promise<void>;
  /** Must be called after the store was closed; see `BaseOptions.fd`. */
  close(): void;
}

interface BaseDeps {
  readonly destination: Destination;
  readonly walArchive: string;
  nowMs(): number;
}

interface BasesOptions extends BaseDeps {
  /** Path of the database file. */
  readonly database: string;
  onDone(base: { readonly chain: string; readonly bytes: number }): void;
  onFailed(error: unknown): void;
}

interface State {
  readonly chain: string;
  readonly root: string;
  next: number;
  /** Start of the last base, ms since the epoch; null if there is none. */
  lastMs: number | null;
  baseBytes: number;
  sinceBytes: number;
}

/**
 * Takes bases one at a time: the first one of a chain, and then one per day, or earlier after many segments,
 * because segments take long to apply.
 */
export function createBases(options: BasesOptions): Bases {
  const { database, destination, walArchive, nowMs, onDone, onFailed } = options;
  let state: State | null = null;
  let fd: number | null = null;
  let stopping = new AbortController();
  let running: Promise<void> | null = null;
  let progress: ReturnType<Bases['underWay']> = null;

  const run = async (of: State, signal: AbortSignal): Promise<void> => {
    const beganMs = nowMs();
    const base = of.next++;
    of.sinceBytes = 0;
    fd ??= openSync(database, 'r');
    const { chain, root } = of;
    const bytes = await takeBase({
      destination,
      walArchive,
      nowMs,
      chain,
      root,
      base,
      fd,
      signal,
      onProgress: (done, parts) => void (progress = { base, done, of: parts }),
      retried: (work) => retried(work, signal),
    });
    if (signal.aborted) return;
    of.lastMs = beganMs;
    of.baseBytes = bytes;
    onDone({ chain, bytes });
  };

  return {
    use({ last, ...of }) {
      stopping.abort();
      stopping = new AbortController();
      state = { ...of, lastMs: last?.beganMs ?? null, baseBytes: last?.fileBytes ?? 0, sinceBytes: 0 };
    },
    sent: (bytes) => void (state && (state.sinceBytes += bytes)),
    takeIfDue() {
      if (!state || running || !isDue(state, nowMs())) return;
      const { signal } = stopping;
      running = run(state, signal)
        .catch((error: unknown) => void (signal.aborted || onFailed(error)))
        .finally(() => {
          running = null;
          progress = null;
        });
    },
    has: () => state !== null && state.lastMs !== null,
    underWay: () => progress,
    async stop() {
      stopping.abort();
      await running;
    },
    close: () => void (fd !== null && closeSync(fd)),
  };
}

function isDue({ lastMs, baseBytes, sinceBytes }: State, nowMs: number): boolean {
  if (lastMs === null) return true;
  const isOld = Math.abs(nowMs - lastMs) > everyMs;
  return sinceBytes > 0 && (isOld || sinceBytes > Math.max(segmentBytesMax, baseBytes));
}

/** Retries with increasing delays until success or abort. */
async function retried<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let delayMs = retryMs.first; ; delayMs = Math.min(delayMs * 2, retryMs.last)) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      await pause(delayMs, signal);
    }
  }
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const partBytes = 8 * 1024 * 1024;
const readFrom = promisify(read);

interface BaseOptions extends BaseDeps {
  readonly root: string;
  /**
   * Descriptor of the database file. Must not be closed while the store is open, because that would drop
   * SQLite's locks on the file.
   */
  readonly fd: number;
  readonly chain: string;
  readonly base: number;
  /** Aborted when the chain ends or the server stops. */
  readonly signal: AbortSignal;
  onProgress(done: number, of: number): void;
  /** Runs the work until it succeeds or `signal` is aborted. */
  retried<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Copies the database file part by part while the server writes it. Pages that are checkpointed during the
 * copy may be old, new or torn; the segments since the start of the base contain all of them and correct the
 * copy.
 * @returns the size of the base in the destination in bytes
 */
async function takeBase(options: BaseOptions): Promise<number> {
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
    chain,
    base,
    parts,
    fileBytes,
    first,
    // Pages are archived before they are checkpointed, so the segments up to this one contain every page that
    // changed in the file during the copy.
    end: newest(walArchive, chain).index,
    beganMs,
    endedMs: nowMs(),
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

interface PruneOptions {
  readonly destination: Destination;
  readonly installation: string;
  /** Chain that is being written. */
  readonly chain: string;
  /** Number of the base in progress; null if there is none. */
  readonly underWay: number | null;
  /** Start of the period that must remain restorable. */
  readonly fromMs: number;
}

/**
 * Removes bases and segments before the last sufficiently old base, and chains that ended before. Never
 * removes objects of other installations, or of chains that may still be written.
 * @returns the number of removed objects, and `isBroken` if the current chain is damaged
 */
export async function prune(options: PruneOptions): Promise<{ removed: number; isBroken: boolean }> {
  const { destination, installation, chain: current } = options;
  const chains = (await readTimeline(destination)).filter((chain) => chain.installation === installation);
  const names = chains.flatMap((chain, index) => {
    if (chain.chain === current) return unneededIn(chain, options);
    return isPast(chain, chains.slice(index + 1), options.fromMs) ? chain.names : [];
  });
  await destination.delete(names);
  const isBroken = chains.some(({ chain, damaged }) => chain === current && damaged.length > 0);
  return { removed: names.length, isBroken };
}

/** Returns true if the chain ended before the period, and a later chain covers its start. */
function isPast(chain: Chain, later: readonly Chain[], fromMs: number): boolean {
  const ended = [...chain.segments.values()].every(({ timeMs }) => timeMs < fromMs);
  return ended && later.flatMap(reachesOf).some(({ from }) => from.timeMs <= fromMs);
}

function unneededIn(chain: Chain, { fromMs, underWay }: PruneOptions): readonly string[] {
  const oldest = chain.bases.findLast((base) =>
    runOf(chain, base).some(({ index, timeMs }) => index === base.end && timeMs <= fromMs),
  );
  const finished = new Set(chain.bases.map(({ base }) => base));
  return chain.names.filter((name) => {
    const parsed = parseName(name);
    if (parsed?.is === 'segment') return oldest !== undefined && parsed.index < oldest.first;
    if (parsed?.is !== 'base') return false;
    const isUnfinished = !finished.has(parsed.base) && parsed.base !== underWay;
    return isUnfinished || (oldest !== undefined && parsed.base < oldest.base);
  });
}
