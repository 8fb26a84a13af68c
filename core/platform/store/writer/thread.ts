// Event loop side of the writer thread. One thread serves all open stores of the process: a server has one store, a test run has hundreds.
// docs/decisions/0018.
import { Worker } from 'node:worker_threads';
import type { Damage } from '../integrity/damage.ts';
import type { LogHead } from '../log-head.ts';
import { StoreError } from '../store.ts';
import {
  faultToWire,
  type WriterReply,
  type WriterRequest,
  type FileSpace,
  type FromThread,
  type GroupAnswer,
  type TakeOrder,
  toThreadText,
  type WireBatch,
  type WireGroup,
} from './wire.ts';

/** Handle of one store in the thread. Only one request may be in flight. */
export interface Writer {
  /** Fails with `broken` once the thread has ended. */
  commit(group: WireGroup): Promise<GroupAnswer>;
  /** Checkpoints the log, except frames that a reader still needs. */
  checkpoint(): Promise<void>;
  /** Returns up to `pages` free pages to the disk. @returns the remaining space; null if the file cannot be written */
  reclaim(pages: number): Promise<FileSpace | null>;
  /** Archives the committed WAL frames for the continuous copy. */
  take(order: TakeOrder): Promise<void>;
  /** Verifies the checksums of the next piece of the file, or of all of it. */
  verify(all: boolean): Promise<Damage | null>;
  /**
   * @param isWhole false if written data may be incomplete, so that the log must not be checkpointed
   * @returns true if the database file contains every commit
   */
  close(isWhole: boolean): Promise<boolean>;
}

/** Segment folder of the continuous copy, and the clock for segment times. */
export interface Copying {
  readonly walArchive: string;
  nowMs(): number;
}

export interface OpenWriter {
  (where: { path: string; logHead: string; head: LogHead; copying: Copying | null }): Writer;
}

interface Thread {
  open: OpenWriter;
}

/** Thread of the process; undefined until the first store is opened. */
let thread: Thread | undefined;

/** Returns the thread, starting it if needed; it loads while the caller continues. */
export function writerThread(): Thread {
  return (thread ??= startThread());
}

function startThread(): Thread {
  const worker = new Worker(new URL('./thread-main.ts', import.meta.url));
  /** Pending request by store number. */
  const pending = new Map<number, (answer: WriterReply) => void>();
  let stores = 0;
  let gone: StoreError | null = null;

  // The thread keeps the process alive only while a request is pending.
  const rest = (): void => {
    if (pending.size === 0) worker.unref();
  };
  rest();
  // `unref` has no effect before the thread is online, and a process that only reads sends no request that would trigger it later.
  worker.once('online', rest);

  const ended = (cause: unknown): void => {
    if (gone) return;
    gone = new StoreError('broken', 'The writer thread ended.', cause);
    for (const answered of pending.values()) answered(faultToWire(gone, true));
    pending.clear();
    // Uncaught on purpose: a bug must end the process, after the pending callers were notified.
    setImmediate(() => {
      throw gone;
    });
  };
  worker.on('message', (message: string) => {
    const { store, answer } = JSON.parse(message) as FromThread;
    const answered = pending.get(store);
    pending.delete(store);
    rest();
    answered?.(answer);
  });
  worker.on('error', ended);
  worker.on('exit', (code) => ended(new Error(`The writer thread ended with code ${code}.`)));

  const post = (store: number, ask: WriterRequest, batches?: readonly WireBatch[]): void =>
    worker.postMessage(toThreadText({ store, ask }, batches));
  const ask = (
    store: number,
    question: WriterRequest,
    batches?: readonly WireBatch[],
  ): Promise<WriterReply> =>
    new Promise((resolve) => {
      if (gone) return resolve(faultToWire(gone, true));
      if (pending.size === 0) worker.ref();
      pending.set(store, resolve);
      post(store, question, batches);
    });

  return {
    open({ copying, ...where }) {
      const store = stores++;
      post(store, { do: 'open', ...where, walArchive: copying?.walArchive ?? null });
      return createWriter(
        (question, batches) => ask(store, question, batches),
        () => copying?.nowMs() ?? 0,
      );
    },
  };
}

function createWriter(
  ask: (question: WriterRequest, batches?: readonly WireBatch[]) => Promise<WriterReply>,
  nowMs: () => number,
): Writer {
  return {
    async commit({ statements, batches }) {
      const answer = await ask({ do: 'commit', statements }, batches);
      if (typeof answer?.ok !== 'boolean')
        throw new Error('The writer did not return the outcome of a group.');
      return answer;
    },
    checkpoint: async () => void (await ask({ do: 'checkpoint', nowMs: nowMs() })),
    async reclaim(pages) {
      const answer = await ask({ do: 'reclaim', pages });
      return answer?.ok === 'reclaimed' ? answer.space : null;
    },
    take: async (order) => void (await ask({ do: 'take', nowMs: nowMs(), order })),
    async verify(all) {
      const answer = await ask({ do: 'verify', all });
      return answer?.ok === 'verified' ? answer.damage : null;
    },
    async close(isWhole) {
      const answer = await ask({ do: 'close', isWhole, nowMs: nowMs() });
      return answer?.ok === 'closed' && answer.isCheckpointed;
    },
  };
}
