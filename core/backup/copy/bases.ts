// Schedules bases, one at a time: the first one of a chain, and then one per day, or earlier after many
// segments, because segments take long to apply.
import { closeSync, openSync } from 'node:fs';
import { takeBase, type BaseOptions } from './base.ts';
import type { BaseManifest } from './object.ts';

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

interface State {
  readonly chain: string;
  readonly root: string;
  next: number;
  /** Start of the last base, ms since the epoch; null if there is none. */
  lastMs: number | null;
  baseBytes: number;
  sinceBytes: number;
}

export function createBases(
  options: Pick<BaseOptions, 'destination' | 'walArchive' | 'nowMs'> & {
    readonly database: string;
    onDone(manifest: { readonly chain: string; readonly bytes: number }): void;
    onFailed(error: unknown): void;
  },
): Bases {
  const { database, nowMs, onDone, onFailed } = options;
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
      ...options,
      ...{ chain, root, base, fd, signal },
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
