// Reads that may look at much run here, off the event loop: a few connections of their own, whose turns are fair by workspace
// and payer, and a budget after which a read is interrupted. They only read: one thread alone writes and checkpoints.
// See docs/decisions/0013.
import Database from 'libsql/promise';
import { availableParallelism } from 'node:os';
import { ApiError } from '../lib/errors.ts';
import { Turns } from '../lib/fairness/turns.ts';
import { noteAway, type Payer } from '../lib/payer.ts';
import { processMs } from '../lib/processor.ts';
import { concernsStore, faultOf, isEngineError } from './engine-errors.ts';
import type { Value } from './statement.ts';
import { StoreError } from './store.ts';

/** libsql has as many threads as there are processors. */
const readersMax = Math.min(4, Math.max(2, availableParallelism()));
/** One workspace leaves a reader to the others. */
const runningOfWorkspace = readersMax - 1;
const runningOfPayer = 1;
const waitingOfWorkspace = 200;
const waitingOfPayer = 50;
/** A budget is of processor time; on a busy machine a read may take so many times as long, no longer: it keeps the log from being folded in. */
const patience = 5;
/** With so many statements a reader is given up for a new one. */
const preparedMax = 100;
const interruptAgainMs = 20;

export type ChargeRead = (payer: Payer, quantity: 'cpuMs' | 'queueMs', ms: number) => void;

export interface Readers {
  /** @throws ApiError budget_exceeded, rate_limited; StoreError once closed */
  read(payer: Payer, text: string, values: Value[]): Promise<Value[][]>;
  /** Interrupts what runs. To be called before the writer closes. */
  close(): Promise<void>;
}

interface PreparedRead {
  raw(on: boolean): PreparedRead;
  all(values: Value[]): Promise<Value[][]>;
}

interface Reader {
  readonly db: Database;
  /**
   * All that was ever prepared here, by its text. None is forgotten while the reader is in use: a statement that is collected
   * waits for its connection, and the event loop with it, for as long as another one runs there.
   */
  readonly prepared: Map<string, PreparedRead>;
}

interface Job {
  readonly payer: Payer;
  readonly text: string;
  readonly values: Value[];
  readonly sinceMs: number;
  resolve(rows: Value[][]): void;
  reject(error: unknown): void;
}

/** @param budgetMs processor time that one read may take; 0 is unlimited */
export function createReaders(options: { path: string; budgetMs: number; charge: ChargeRead }): Readers {
  const { budgetMs, charge } = options;
  const queue = new Turns<Job>();
  const idle: Reader[] = [];
  const busy = new Set<Reader>();
  const running = new Map<string, number>();
  let active = 0;
  let closed = false;
  let ended: (() => void) | null = null;

  const open = async (): Promise<Reader> => {
    const reader: Reader = { db: new Database(options.path, {}), prepared: new Map() };
    for (const pragma of [
      // A connection that closes somewhere holds the file for a moment. This waits on a thread of its own, not on the loop.
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
  };

  const prepare = async (reader: Reader, text: string): Promise<PreparedRead> => {
    const known = reader.prepared.get(text);
    if (known) return known;
    // Rows are fetched on the loop, one after the other, so that all of them must be there when the first one is.
    const whole = `WITH page AS MATERIALIZED (${text}) SELECT * FROM page`;
    const prepared = ((await reader.db.prepare(whole)) as PreparedRead).raw(true);
    reader.prepared.set(text, prepared);
    return prepared;
  };

  const attempt = async (reader: Reader, { text, values }: Job): Promise<Value[][]> => {
    const prepared = await prepare(reader, text);
    if (closed) throw storeClosed();
    const stopWatch = budgetMs === 0 ? () => undefined : watchBudget(budgetMs, () => reader.db.interrupt());
    try {
      return await prepared.all(values);
    } catch (error) {
      if (isEngineError(error) && error.code === 'SQLITE_INTERRUPT')
        throw closed ? storeClosed() : overBudget(budgetMs);
      throw concernsStore(error) ? faultOf(error) : error;
    } finally {
      stopWatch();
    }
  };

  const serve = async (job: Job): Promise<void> => {
    const startedMs = performance.now();
    const before = processMs();
    charge(job.payer, 'queueMs', startedMs - job.sinceMs);
    let reader: Reader | undefined;
    try {
      reader = idle.pop() ?? (await open());
      busy.add(reader);
      const rows = await attempt(reader, job);
      noteAway(job.payer, job.sinceMs);
      job.resolve(rows);
    } catch (error) {
      noteAway(job.payer, job.sinceMs);
      job.reject(error);
    }
    charge(job.payer, 'cpuMs', Math.min(processMs() - before, performance.now() - startedMs));
    if (!reader) return;
    busy.delete(reader);
    if (reader.prepared.size < preparedMax) idle.push(reader);
    else reader.db.close();
  };

  const count = (payer: Payer, by: 1 | -1): void => {
    for (const key of keysOf(payer)) {
      const now = (running.get(key) ?? 0) + by;
      if (now > 0) running.set(key, now);
      else running.delete(key);
    }
  };

  const payerMayGo = ({ payer }: Job): boolean => (running.get(keysOf(payer)[1]) ?? 0) < runningOfPayer;
  const workspaceMayGo = (workspaceId: string): boolean =>
    (running.get(workspaceId) ?? 0) < runningOfWorkspace;

  const pump = (): void => {
    while (active < readersMax) {
      const job = queue.take(payerMayGo, workspaceMayGo);
      if (!job) break;
      active++;
      count(job.payer, 1);
      void serve(job).then(() => {
        active--;
        count(job.payer, -1);
        // What becomes of the rows is work for the loop, which is to look up before it gets the next ones.
        setImmediate(pump);
      });
    }
    if (active === 0) ended?.();
  };

  return {
    read(payer, text, values) {
      if (closed) return Promise.reject(storeClosed());
      const group = payer.workspaceId;
      const member = payer.payer ?? '';
      if (
        queue.waitingOfMember(group, member) >= waitingOfPayer ||
        queue.waitingOf(group) >= waitingOfWorkspace
      )
        return Promise.reject(tooManyWait());
      return new Promise((resolve, reject) => {
        queue.push(group, member, { payer, text, values, sinceMs: performance.now(), resolve, reject });
        pump();
      });
    },
    async close() {
      closed = true;
      for (const job of queue.clear()) job.reject(storeClosed());
      if (active > 0) {
        const interrupt = (): void => {
          for (const reader of busy) reader.db.interrupt();
        };
        interrupt();
        // A read that had not quite begun does not notice.
        const again = setInterval(interrupt, interruptAgainMs);
        await new Promise<void>((resolve) => (ended = resolve));
        clearInterval(again);
      }
      for (const reader of idle) reader.db.close();
    },
  };
}

const keysOf = ({ workspaceId, payer }: Payer): [workspace: string, payer: string] => [
  workspaceId,
  `${workspaceId} ${payer ?? ''}`,
];

/**
 * Calls `interrupt` once a read has used its budget, and again until it stops. What the process as a whole has not used, the
 * read has not: on a machine where it waits for a processor it goes on, for a while.
 */
function watchBudget(budgetMs: number, interrupt: () => void): () => void {
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

function overBudget(budgetMs: number): ApiError {
  return new ApiError(
    'budget_exceeded',
    `This read was stopped after ${budgetMs} ms of processor time, its budget. Narrow it by team, state or assignee, search for fewer texts, or leave out the sort.`,
  );
}

function tooManyWait(): ApiError {
  return new ApiError(
    'rate_limited',
    `Too many long reads wait for their turn: ${waitingOfPayer} of one token, ${waitingOfWorkspace} of one workspace. Wait for the answers before you ask again.`,
  );
}

function storeClosed(): StoreError {
  return new StoreError('broken', 'The store is closed.');
}
