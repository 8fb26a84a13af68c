// Runs long reads off the event loop: a few read-only connections, a fair queue by workspace and account, and
// a CPU time budget per read. Only the writer thread writes and checkpoints. docs/decisions/0013.
import { availableParallelism } from 'node:os';
import Database from 'libsql/promise';
import { addWaitTime, partyOf, type BillingAccount } from '../../lib/billing-account.ts';
import { ApiError, tooManyAtOnce } from '../../lib/errors/errors.ts';
import { FairQueue } from '../../lib/fairness/fair-queue.ts';
import { processMs } from '../../lib/process/cpu.ts';
import type { Value } from '../statement.ts';
import { StoreError } from '../store.ts';
import { concernsStore, faultOf, isEngineError } from './engine-errors.ts';

/** libsql has one thread per CPU. */
const readersMax = Math.min(4, Math.max(2, availableParallelism()));
/** One reader always remains for other workspaces. */
const runningOfWorkspace = readersMax - 1;
const runningPerAccount = 1;
const waitingOfWorkspace = 200;
const waitingPerAccount = 50;

/** Wall time limit as a multiple of the CPU time budget. It bounds reads on a busy machine, because a long read blocks the checkpoint. */
const patience = 5;
/** Interval of repeated interrupts: an interrupt is lost if it precedes the start of the query. */
const interruptAgainMs = 20;

/** Number of prepared statements at which a reader is replaced by a new one. */
const preparedMax = 100;

export type ChargeRead = (billingAccount: BillingAccount, quantity: 'cpuMs' | 'queueMs', ms: number) => void;

export interface Readers {
  /** @throws ApiError budget_exceeded, rate_limited; StoreError once closed */
  read(billingAccount: BillingAccount, text: string, values: Value[]): Promise<Value[][]>;
  /** Interrupts the reads in progress. Must be called before the writer closes. */
  close(): Promise<void>;
}

interface Job {
  readonly billingAccount: BillingAccount;
  readonly text: string;
  readonly values: Value[];
  readonly sinceMs: number;
  resolve(rows: Value[][]): void;
  reject(error: unknown): void;
}

/** @param budgetMs CPU time budget of one read; 0 for unlimited */
export function createReaders(options: { uri: string; budgetMs: number; charge: ChargeRead }): Readers {
  const { budgetMs, charge } = options;
  const queue = new FairQueue<Job>();
  const pool = createReaderPool(options.uri);
  const running = createRunning();
  let closed = false;
  let ended: (() => void) | null = null;

  const serve = async (job: Job): Promise<void> => {
    const startedMs = performance.now();
    const before = processMs();
    charge(job.billingAccount, 'queueMs', startedMs - job.sinceMs);
    let reader: Reader | undefined;
    try {
      reader = await pool.take();
      const rows = await readWithin(budgetMs, reader, job, () => closed);
      addWaitTime(job.billingAccount, job.sinceMs);
      job.resolve(rows);
    } catch (error) {
      addWaitTime(job.billingAccount, job.sinceMs);
      job.reject(error);
    }
    charge(job.billingAccount, 'cpuMs', Math.min(processMs() - before, performance.now() - startedMs));
    if (reader) pool.give(reader);
  };

  const pump = (): void => {
    while (running.all < readersMax) {
      const job = queue.take((one) => running.hasCapacityFor(one.billingAccount), running.hasCapacity);
      if (!job) break;
      running.count(job.billingAccount, 1);
      void serve(job).then(() => {
        running.count(job.billingAccount, -1);
        // The event loop processes these rows first, and must handle other events before it gets the next rows.
        setImmediate(pump);
      });
    }
    if (running.all === 0) ended?.();
  };

  return {
    read(billingAccount, text, values) {
      if (closed) return Promise.reject(storeClosed());
      if (isCrowded(queue, billingAccount)) return Promise.reject(tooManyWait());
      return new Promise((resolve, reject) => {
        const job = { billingAccount, text, values, sinceMs: performance.now(), resolve, reject };
        queue.push(billingAccount.workspaceId, partyOf(billingAccount), job);
        pump();
      });
    },
    async close() {
      closed = true;
      for (const job of queue.clear()) job.reject(storeClosed());
      if (running.all > 0) {
        pool.interrupt();
        const again = setInterval(pool.interrupt, interruptAgainMs);
        await new Promise<void>((resolve) => (ended = resolve));
        clearInterval(again);
      }
      pool.close();
    },
  };
}

/** @throws ApiError budget_exceeded, StoreError */
async function readWithin(
  budgetMs: number,
  reader: Reader,
  { text, values }: Job,
  isClosed: () => boolean,
): Promise<Value[][]> {
  const prepared = await prepareRead(reader, text);
  if (isClosed()) throw storeClosed();
  const stopWatch = watchBudget(budgetMs, () => reader.db.interrupt());
  try {
    return await prepared.all(values);
  } catch (error) {
    if (isEngineError(error) && error.code === 'SQLITE_INTERRUPT')
      throw isClosed() ? storeClosed() : overBudget(budgetMs);
    throw concernsStore(error) ? faultOf(error) : error;
  } finally {
    stopWatch();
  }
}

/** Counts running reads by workspace and by account; at most twice `readersMax` entries. */
function createRunning() {
  const counts = new Map<string, number>();
  const of = (key: string): number => counts.get(key) ?? 0;
  const add = (key: string, by: 1 | -1): void => {
    const now = of(key) + by;
    if (now > 0) counts.set(key, now);
    else counts.delete(key);
  };
  const accountKey = (billingAccount: BillingAccount): string =>
    `${billingAccount.workspaceId} ${partyOf(billingAccount)}`;
  let all = 0;
  return {
    get all() {
      return all;
    },
    count(billingAccount: BillingAccount, by: 1 | -1): void {
      all += by;
      add(billingAccount.workspaceId, by);
      add(accountKey(billingAccount), by);
    },
    hasCapacityFor: (billingAccount: BillingAccount): boolean =>
      of(accountKey(billingAccount)) < runningPerAccount,
    hasCapacity: (workspaceId: string): boolean => of(workspaceId) < runningOfWorkspace,
  };
}

/** An account without waiting reads is always admitted, so no other account can fill the queue of its workspace. */
function isCrowded(queue: FairQueue<Job>, billingAccount: BillingAccount): boolean {
  const { workspaceId } = billingAccount;
  const accountWaiting = queue.waitingOfMember(workspaceId, partyOf(billingAccount));
  return (
    accountWaiting >= waitingPerAccount ||
    (accountWaiting > 0 && queue.waitingOf(workspaceId) >= waitingOfWorkspace)
  );
}

function overBudget(budgetMs: number): ApiError {
  return new ApiError(
    'budget_exceeded',
    `The read exceeded its budget of ${budgetMs} ms of CPU time. Filter by team, state or assignee, search for fewer terms, or omit the sort.`,
  );
}

function tooManyWait(): ApiError {
  return tooManyAtOnce(
    `Too many long reads are queued: the limit is ${waitingPerAccount} for one member and ${waitingOfWorkspace} for one workspace. Wait for the responses, then retry.`,
  );
}

function storeClosed(): StoreError {
  return new StoreError('broken', 'The store is closed.');
}

/**
 * Calls `interrupt` when a read has used its budget, and repeatedly until the returned function is called. Measures the CPU time of the
 * process, which is an upper bound for the read: a read that waits for a CPU may continue, up to the wall time limit.
 */
function watchBudget(budgetMs: number, interrupt: () => void): () => void {
  if (budgetMs === 0) return () => undefined;
  const startedMs = performance.now();
  const before = processMs();
  let timer: ReturnType<typeof setTimeout>;
  const look = (): void => {
    const leftMs = Math.min(
      budgetMs - (processMs() - before),
      budgetMs * patience - (performance.now() - startedMs),
    );
    if (leftMs <= 0) interrupt();
    timer = setTimeout(look, Math.max(leftMs, interruptAgainMs));
  };
  timer = setTimeout(look, budgetMs);
  return () => clearTimeout(timer);
}

interface PreparedRead {
  raw(on: boolean): PreparedRead;
  all(values: Value[]): Promise<Value[][]>;
}

/** Read-only connection on one of libsql's threads. */
interface Reader {
  readonly db: Database;
  /**
   * Prepared statements by text. None is dropped while the reader is in use: the finalizer of a statement waits for its connection, and
   * would block the event loop while another statement runs there.
   */
  readonly prepared: Map<string, PreparedRead>;
}

async function prepareRead(reader: Reader, text: string): Promise<PreparedRead> {
  const known = reader.prepared.get(text);
  if (known) return known;
  // libsql fetches rows on the event loop one by one. MATERIALIZED computes all rows, off the loop, before the first one is returned.
  const whole = `WITH page AS MATERIALIZED (${text}) SELECT * FROM page`;
  const prepared = ((await reader.db.prepare(whole)) as PreparedRead).raw(true);
  reader.prepared.set(text, prepared);
  return prepared;
}

interface ReaderPool {
  take(): Promise<Reader>;
  give(reader: Reader): void;
  /** Interrupts the reads in progress. */
  interrupt(): void;
  /** Must be called after all readers were returned. */
  close(): void;
}

/** Creates a pool that grows to the peak number of concurrent readers. @param uri read-only SQLite URI of the database */
function createReaderPool(uri: string): ReaderPool {
  const idle: Reader[] = [];
  const busy = new Set<Reader>();
  return {
    async take() {
      const reader = idle.pop() ?? (await openReader(uri));
      busy.add(reader);
      return reader;
    },
    give(reader) {
      busy.delete(reader);
      if (reader.prepared.size < preparedMax) idle.push(reader);
      else reader.db.close();
    },
    interrupt() {
      for (const reader of busy) reader.db.interrupt();
    },
    close() {
      for (const reader of idle) reader.db.close();
    },
  };
}

async function openReader(uri: string): Promise<Reader> {
  const reader: Reader = { db: open(uri), prepared: new Map() };
  for (const pragma of [
    // A closing connection holds the file lock briefly. This timeout waits on a libsql thread, not on the event loop.
    'PRAGMA busy_timeout = 2000',
    'PRAGMA query_only = ON',
    'PRAGMA cache_size = -8192',
    'PRAGMA temp_store = MEMORY',
  ]) {
    const prepared = (await reader.db.prepare(pragma)) as PreparedRead;
    reader.prepared.set(pragma, prepared);
    await prepared.all([]);
  }
  return reader;
}

/** @throws StoreError if the file is missing; libsql's own error has no code */
function open(uri: string): Database {
  try {
    return new Database(uri, {});
  } catch (error) {
    throw new StoreError(
      'busy',
      'The database cannot be opened. Check that its file exists and is readable.',
      error,
    );
  }
}
