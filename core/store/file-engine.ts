// The embedded engine: libsql's synchronous API over one file, one connection, group commit at synchronous=FULL.
// Jobs queued in one turn of the event loop share one transaction (a savepoint each) and one fsync; reads run between groups.
import Database from 'libsql';
import { createHash } from 'node:crypto';
import { threadMs } from '../lib/processor.ts';
import { createCompiler } from './compile.ts';
import { concernsStore, constraintOf, faultOf, isEngineError } from './engine-errors.ts';
import { checkHead, type LogHead, type LogHeadFile } from './log-head.ts';
import { createReaders, type ChargeRead } from './readers.ts';
import {
  registeredStatements,
  systemStatement,
  type Params,
  type Row,
  type Statement,
  type Value,
} from './statement.ts';
import { StoreError, type CommitOutcome, type Op, type Scope, type Store } from './store.ts';
import { bind } from './values.ts';

/** A group larger than this would hold reads back noticeably. */
const groupJobsMax = 128;
/** How long a job waits for another process's lock before it fails as busy. */
const busyWaitMs = 2_000;
/** The lock is tried again after 1 ms, then half as often each time, down to this. */
const busyRetryMsMax = 16;
/** For so long after a write was refused the store counts as not writable; then the next write finds out. */
const refusedMs = 5_000;
/**
 * Under load the next group waits as long as the last one took, at most this, so that more jobs share its sync. A writer
 * alone never waits.
 */
const gatherMsMax = 2;

type Hash = ReturnType<typeof createHash>;

interface GroupRun {
  readonly outcomes: readonly (CommitOutcome | Error)[];
  /** Over what the group appended to the event log. */
  readonly chain: Hash;
}

interface Job {
  ops: readonly Op[];
  /** On the monotonic clock: a wall clock that is set back must not make a job wait for ever. */
  sinceMs: number;
  resolve(outcome: CommitOutcome): void;
  reject(error: unknown): void;
}

const moveHead = systemStatement(
  'log_head.move',
  'the log head covers the whole installation',
  'UPDATE log_head SET position = :position, hash = :hash WHERE id = 1',
);

/** Opens a migrated database. @throws Error when a tenant statement breaks the guard, or the log lost acknowledged writes. */
export function openFileEngine(options: {
  path: string;
  logHead: LogHeadFile;
  /** Of one long read: processor time in milliseconds; 0 is unlimited. */
  budgetMs: number;
  charge: ChargeRead;
}): Store {
  const db = new Database(options.path);
  for (const pragma of [
    'journal_mode = WAL',
    'synchronous = FULL',
    'foreign_keys = ON',
    'busy_timeout = 0',
    'cache_size = -65536',
    'temp_store = MEMORY',
    'wal_autocheckpoint = 4000',
  ])
    db.prepare(`PRAGMA ${pragma}`).all();

  const planner = new Database(options.path);
  const compile = createCompiler(db, planner);
  const readers = createReaders(options);
  const listeners: ((workspaceIds: ReadonlySet<string>) => void)[] = [];

  const toRow = (columns: string[], values: Value[]): Row => {
    const row: Record<string, Value> = {};
    for (let i = 0; i < columns.length; i++) row[columns[i]!] = values[i]!;
    return row;
  };

  const readRows = <R>(statement: Statement<R>, params: Params, workspaceId: string | null): R[] => {
    const { prepared, columns } = compile(statement);
    return prepared.all(bind(statement, params, workspaceId)).map((values) => toRow(columns, values)) as R[];
  };

  for (const statement of registeredStatements()) compile(statement);
  let head = checkHead(
    readRows<{ position: number; hash: string }>(readHead, {}, null)[0],
    options.logHead.read(),
  );
  options.logHead.write(head);

  const begin = db.prepare('BEGIN IMMEDIATE');
  const commitGroup = db.prepare('COMMIT');
  const rollback = db.prepare('ROLLBACK');
  const savepoint = db.prepare('SAVEPOINT job');
  const release = db.prepare('RELEASE job');
  const undo = db.prepare('ROLLBACK TO job');
  const totalChanges = db.prepare('SELECT total_changes()').raw(true);
  const rowsWritten = (): number => Number((totalChanges.all([]) as Value[][])[0]![0]);

  let queue: Job[] = [];
  let last = { jobs: 0, endedMs: 0, tookMs: 0 };
  let scheduled: { dueMs: number; timer: ReturnType<typeof setTimeout> | null } | null = null;
  let closed: Promise<void> | null = null;
  let broken: StoreError | null = null;
  let idle: (() => void) | null = null;
  let busyRetryMs = 1;
  let refused: { fault: StoreError; atMs: number } | null = null;

  /** Runs one job inside the open group. One that fails is undone where it is `isolated` by a savepoint. */
  const runJob = (job: Job, chain: Hash, touched: Set<string>, isolated: boolean): CommitOutcome => {
    if (isolated) savepoint.run();
    const rows: Row[][] = [];
    const links: string[] = [];
    const workspaces: string[] = [];
    let failed: CommitOutcome | null = null;
    for (let index = 0; index < job.ops.length && !failed; index++) {
      const { statement, params, scope, expectRows } = job.ops[index]!;
      const { prepared, columns } = compile(statement);
      const values = bind(statement, params, scope?.workspaceId ?? null);
      let changed: number;
      try {
        if (statement.returnsRows) {
          const returned = prepared.all(values).map((row) => toRow(columns, row));
          changed = returned.length;
          rows.push(returned);
        } else {
          changed = prepared.run(values).changes;
          rows.push([]);
        }
      } catch (error) {
        const reason = constraintOf(error);
        if (!reason) throw error;
        failed = { ok: false, op: index, reason, message: String((error as Error).message) };
        break;
      }
      if (expectRows !== undefined && changed !== expectRows)
        failed = {
          ok: false,
          op: index,
          reason: 'lost_race',
          message: `${statement.name} changed ${changed} rows`,
        };
      else if (statement.chained) {
        links.push(
          JSON.stringify([...values, rows[index]], (_, value) =>
            typeof value === 'bigint' ? Number(value) : value,
          ),
        );
        if (scope) workspaces.push(scope.workspaceId);
      }
    }
    if (failed) {
      if (isolated) undo.run();
    } else {
      for (const link of links) chain.update(link);
      for (const workspaceId of workspaces) touched.add(workspaceId);
    }
    if (isolated) release.run();
    return failed ?? { ok: true, rows };
  };

  /** All jobs without savepoints, which nearly always do; null, with the group begun anew, when one of them fails. */
  const runTogether = (group: readonly Job[], touched: Set<string>): GroupRun | null => {
    const chain = createHash('sha256').update(head.hash);
    const outcomes: CommitOutcome[] = [];
    for (const job of group) {
      let outcome: CommitOutcome | null = null;
      try {
        outcome = runJob(job, chain, touched, false);
      } catch (error) {
        if (concernsStore(error) || !db.inTransaction) throw error;
      }
      if (!outcome?.ok) {
        touched.clear();
        rollback.run();
        begin.run();
        return null;
      }
      outcomes.push(outcome);
    }
    return { outcomes, chain };
  };

  /** Each job in a savepoint of its own, so that one that fails costs the others nothing. */
  const runApart = (group: readonly Job[], touched: Set<string>): GroupRun => {
    const chain = createHash('sha256').update(head.hash);
    return { outcomes: group.map((job) => attempt(() => runJob(job, chain, touched, true))), chain };
  };

  const flush = (): void => {
    scheduled = null;
    if (queue.length === 0) return;
    const startedMs = performance.now();
    try {
      begin.run();
      busyRetryMs = 1;
    } catch (error) {
      return postpone(faultOf(error), startedMs);
    }
    const group = queue.slice(0, groupJobsMax);
    queue = queue.slice(groupJobsMax);
    const touched = new Set<string>();
    try {
      const before = rowsWritten();
      const { outcomes, chain } = runTogether(group, touched) ?? runApart(group, touched);
      if (rowsWritten() > before) {
        const next: LogHead = { position: head.position + 1, hash: chain.digest('hex') };
        compile(moveHead).prepared.run(bind(moveHead, { ...next }, null));
        commitGroup.run();
        head = next;
        options.logHead.write(head);
        refused = null;
      } else commitGroup.run();
      const endedMs = performance.now();
      last = { jobs: group.length, endedMs, tookMs: endedMs - startedMs };
      group.forEach((job, index) => {
        const outcome = outcomes[index]!;
        if (outcome instanceof Error) job.reject(outcome);
        else {
          job.resolve(outcome);
          // Behind the one who waits for the batch, who may have to move caches along first.
          if (outcome.ok && job.ops.some(({ taken }) => taken))
            queueMicrotask(() => handOut(job.ops, outcome.rows));
        }
      });
    } catch (error) {
      const fault = abandon(faultOf(error));
      refused = { fault, atMs: performance.now() };
      for (const job of group) job.reject(fault);
      // After a failed sync nobody knows what reached the disk: no later write may claim to be durable.
      if (fault.fault === 'broken') {
        broken = fault;
        return failAll(fault);
      }
      return goOn();
    }
    goOn();
    if (touched.size > 0) for (const listener of listeners) listener(touched);
  };

  /** A fault of one job (a bad binding, a value that a function cannot take) undoes that job alone. */
  const attempt = (run: () => CommitOutcome): CommitOutcome | Error => {
    try {
      return run();
    } catch (error) {
      if (concernsStore(error) || !db.inTransaction) throw error;
      undo.run();
      release.run();
      return error instanceof Error ? error : new Error(String(error));
    }
  };

  /** The group could not begin. Jobs wait a while for a lock, and for nothing else. */
  const postpone = (fault: StoreError, now: number): void => {
    if (fault.fault !== 'busy') return failAll(fault);
    const late = queue.filter((job) => now - job.sinceMs >= busyWaitMs);
    queue = queue.filter((job) => now - job.sinceMs < busyWaitMs);
    if (late.length > 0) refused = { fault, atMs: now };
    for (const job of late) job.reject(fault);
    goOn(busyRetryMs);
    busyRetryMs = Math.min(busyRetryMs * 2, busyRetryMsMax);
  };

  /** Returns the fault, or a worse one when the group cannot be undone. */
  const abandon = (fault: StoreError): StoreError => {
    // SQLite rolls back by itself after a full disk or an I/O error.
    if (!db.inTransaction) return fault;
    try {
      rollback.run();
      return fault;
    } catch (error) {
      if (!isEngineError(error)) throw error;
      return new StoreError('broken', `A failed group could not be undone: ${error.message}`, error);
    }
  };

  const failAll = (fault: StoreError): void => {
    refused = { fault, atMs: performance.now() };
    const failed = queue;
    queue = [];
    for (const job of failed) job.reject(fault);
    goOn();
  };

  const goOn = (delayMs = 0): void => {
    if (queue.length > 0) schedule(delayMs);
    else if (idle) idle();
  };

  /** The group that is scheduled goes at its time, or earlier when a later job is in more of a hurry. */
  const schedule = (delayMs = 0): void => {
    const gatherMs =
      last.jobs > 1 ? last.endedMs + Math.min(last.tookMs, gatherMsMax) - performance.now() : 0;
    const waitMs = Math.max(delayMs, gatherMs >= 0.5 ? gatherMs : 0);
    const dueMs = performance.now() + waitMs;
    if (scheduled && dueMs >= scheduled.dueMs) return;
    if (scheduled?.timer) clearTimeout(scheduled.timer);
    if (waitMs > 0) scheduled = { dueMs, timer: setTimeout(flush, waitMs) };
    else {
      scheduled = { dueMs: 0, timer: null };
      setImmediate(flush);
    }
  };

  const finish = async (): Promise<void> => {
    await readers.close();
    if (queue.length > 0) await new Promise<void>((resolve) => (idle = resolve));
    // libsql keeps a connection until its statements are collected, so the log would not be folded in by closing.
    try {
      if (!broken) db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    } catch (error) {
      // The next start reads the log instead.
      if (!isEngineError(error)) throw error;
    }
    planner.close();
    db.close();
    options.logHead.close();
  };

  return {
    async read<R>(scope: Scope, statement: Statement<R>, params: Params = {}) {
      const { pace, columns } = compile(statement);
      if (!pace?.isSlow(scope.workspaceId)) {
        const before = pace ? threadMs() : 0;
        const found = readRows(statement, params, scope.workspaceId);
        if (pace) pace.took(scope.workspaceId, threadMs() - before);
        return found;
      }
      const rows = await readers.read(scope, statement.text, bind(statement, params, scope.workspaceId));
      return rows.map((values) => toRow(columns, values)) as R[];
    },
    readOne: async <R>(scope: Scope, statement: Statement<R>, params: Params = {}) => {
      const { prepared, columns } = compile(statement);
      const values = prepared.get(bind(statement, params, scope.workspaceId));
      return values === undefined ? undefined : (toRow(columns, values) as R);
    },
    readSystem: async (statement, params = {}) => readRows(statement, params, null),
    commit(ops, { patienceMs = 0 } = {}) {
      if (closed) return Promise.reject(new StoreError('broken', 'The store is closed.'));
      if (broken) return Promise.reject(broken);
      return new Promise((resolve, reject) => {
        queue.push({ ops, sinceMs: performance.now(), resolve, reject });
        schedule(queue.length < groupJobsMax ? patienceMs : 0);
      });
    },
    onEvents: (listener) => void listeners.push(listener),
    status() {
      const recent = refused && performance.now() - refused.atMs < refusedMs ? refused.fault : null;
      const fault = broken ?? recent;
      return { writable: !fault && !closed, reason: fault?.message ?? null };
    },
    close: () => (closed ??= finish()),
  };
}

function handOut(ops: readonly Op[], rows: readonly (readonly Row[])[]): void {
  for (const [index, { taken }] of ops.entries()) taken?.(rows[index]!);
}

const readHead = systemStatement<{ position: number; hash: string }>(
  'log_head.read',
  'the log head covers the whole installation',
  'SELECT position, hash FROM log_head WHERE id = 1',
);
