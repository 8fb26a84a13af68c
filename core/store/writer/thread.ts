// The event loop's end of the writer thread. One thread serves all open stores of the process: a server has one, tests have hundreds.
// docs/decisions/0018.
import { Worker } from 'node:worker_threads';
import type { Damage } from '../integrity/damage.ts';
import type { LogHead } from '../log-head.ts';
import { StoreError } from '../store.ts';
import {
  faultToWire,
  type Answer,
  type Ask,
  type FileSpace,
  type FromThread,
  type GroupAnswer,
  type TakeOrder,
  type ToThread,
  type WireGroup,
} from './wire.ts';

/** A store's place in the thread. One question is asked at a time. */
export interface Writer {
  /** Once the thread is gone, so is the store: `broken`. */
  commit(group: WireGroup): Promise<GroupAnswer>;
  /** Folds what is in the log into the file, as far as no reader needs it. */
  checkpoint(): Promise<void>;
  /** Gives up to so many free pages back to the disk. @returns what is left; null where the file takes no writes */
  reclaim(pages: number): Promise<FileSpace | null>;
  /** Puts aside for the continuous copy what was committed. */
  take(order: TakeOrder): Promise<void>;
  /** Compares the next piece of the file, or all of it, with its checksums. */
  verify(all: boolean): Promise<Damage | null>;
  /**
   * @param isWhole what was written may be trusted
   * @returns whether all of it lies in the one file
   */
  close(isWhole: boolean): Promise<boolean>;
}

/** Where what is committed is put aside for the continuous copy, and what time it is said to be. */
export interface Copying {
  readonly spool: string;
  nowMs(): number;
}

export interface OpenWriter {
  (where: { path: string; logHead: string; head: LogHead; copying: Copying | null }): Writer;
}

interface Thread {
  open: OpenWriter;
}

/** Undefined until the first store is opened. It is the process's, as its event loop is. */
let thread: Thread | undefined;

/** Starts it where it does not run yet; it gets ready while the caller goes on. */
export function writerThread(): Thread {
  return (thread ??= startThread());
}

function startThread(): Thread {
  const worker = new Worker(new URL('./thread-main.ts', import.meta.url));
  /** By the number of the store. */
  const asked = new Map<number, (answer: Answer) => void>();
  let stores = 0;
  let gone: StoreError | null = null;

  // It keeps the process running while somebody waits for it, and only then.
  const rest = (): void => {
    if (asked.size === 0) worker.unref();
  };
  rest();
  // Before it runs that has no effect: a process whose store is only read never asks it anything.
  worker.once('online', rest);

  const ended = (cause: unknown): void => {
    if (gone) return;
    gone = new StoreError('broken', 'The writer thread ended.', cause);
    for (const answered of asked.values()) answered(faultToWire(gone, true));
    asked.clear();
    // Nobody catches this: it is a bug that ends the process, once those who waited have been told.
    setImmediate(() => {
      throw gone;
    });
  };
  worker.on('message', (message: string) => {
    const { store, answer } = JSON.parse(message) as FromThread;
    const answered = asked.get(store);
    asked.delete(store);
    rest();
    answered?.(answer);
  });
  worker.on('error', ended);
  worker.on('exit', (code) => ended(new Error(`It ended with code ${code}.`)));

  const tell = (store: number, ask: Ask): void =>
    worker.postMessage(JSON.stringify({ store, ask } satisfies ToThread));
  const ask = (store: number, question: Ask): Promise<Answer> =>
    new Promise((resolve) => {
      if (gone) return resolve(faultToWire(gone, true));
      if (asked.size === 0) worker.ref();
      asked.set(store, resolve);
      tell(store, question);
    });

  return {
    open({ copying, ...where }) {
      const store = stores++;
      tell(store, { do: 'open', ...where, spool: copying?.spool ?? null });
      return createWriter(
        (question) => ask(store, question),
        () => copying?.nowMs() ?? 0,
      );
    },
  };
}

function createWriter(ask: (question: Ask) => Promise<Answer>, nowMs: () => number): Writer {
  return {
    async commit(group) {
      const answer = await ask({ do: 'commit', ...group });
      if (typeof answer?.ok !== 'boolean') throw new Error('The writer did not say what became of a group.');
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
      return answer?.ok === 'closed' && answer.isFolded;
    },
  };
}
