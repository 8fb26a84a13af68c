// Group commit: batches queued in one turn of the event loop share one transaction and one fsync. A batch that fails costs the
// others nothing; a fault of the store fails them all.
import { faultOf } from './engine-errors.ts';
import { createGroupTimer } from './group-timer.ts';
import type { Row } from './statement.ts';
import { type CommitOutcome, type Op, StoreError } from './store.ts';
import type { Batch, Transactions } from './transaction.ts';

/** A group larger than this would hold reads back noticeably. */
const groupBatchesMax = 128;
/** How long a batch waits for another process's lock before it fails as busy. */
const busyWaitMs = 2_000;
/** The lock is tried again after 1 ms, then half as often each time, down to this. */
const busyRetryMsMax = 16;
/** For so long after a write was refused the store counts as not writable; then the next write finds out. */
const refusedMs = 5_000;

interface Waiting extends Batch {
  /** On the monotonic clock: a wall clock that is set back must not make a batch wait for ever. */
  readonly sinceMs: number;
  resolve(outcome: CommitOutcome): void;
  reject(error: unknown): void;
}

export class GroupCommit {
  readonly #transactions: Transactions;
  readonly #onEvents: (workspaceIds: ReadonlySet<string>) => void;
  readonly #timer = createGroupTimer(() => this.#flush());
  #queue: Waiting[] = [];
  #idle: (() => void) | null = null;
  #busyRetryMs = 1;
  #broken: StoreError | null = null;
  #refused: { readonly fault: StoreError; readonly atMs: number } | null = null;

  /** @param onEvents is told of workspaces with new events, after those who wait for the batches */
  constructor(transactions: Transactions, onEvents: (workspaceIds: ReadonlySet<string>) => void) {
    this.#transactions = transactions;
    this.#onEvents = onEvents;
  }

  /** @throws StoreError */
  commit(ops: readonly Op[], commitDelayMs: number): Promise<CommitOutcome> {
    if (this.#broken) return Promise.reject(this.#broken);
    return new Promise((resolve, reject) => {
      this.#queue.push({ ops, sinceMs: performance.now(), resolve, reject });
      this.#timer.schedule(this.#queue.length < groupBatchesMax ? commitDelayMs : 0);
    });
  }

  /** Why the store cannot be written, as far as is known. */
  get fault(): StoreError | null {
    const recent = this.#refused && performance.now() - this.#refused.atMs < refusedMs;
    return this.#broken ?? (recent ? this.#refused!.fault : null);
  }

  /** Nobody knows what the file holds. */
  get isBroken(): boolean {
    return this.#broken !== null;
  }

  /** Resolves once no batch waits. No later one may be given. */
  async drain(): Promise<void> {
    if (this.#queue.length > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #flush(): void {
    if (this.#queue.length === 0) return;
    const startedMs = performance.now();
    try {
      this.#transactions.begin();
    } catch (error) {
      return this.#postpone(faultOf(error), startedMs);
    }
    this.#busyRetryMs = 1;
    const group = this.#queue.slice(0, groupBatchesMax);
    this.#queue = this.#queue.slice(groupBatchesMax);
    const workspaces = this.#run(group, startedMs);
    this.#goOn();
    if (workspaces && workspaces.size > 0) this.#onEvents(workspaces);
  }

  /** @returns workspaces that have new events; null where the whole group failed */
  #run(group: readonly Waiting[], startedMs: number): ReadonlySet<string> | null {
    try {
      const { outcomes, workspaces, wroteRows } = this.#transactions.commit(group);
      if (wroteRows) this.#refused = null;
      this.#timer.committed(group.length, startedMs);
      for (let index = 0; index < group.length; index++) settle(group[index]!, outcomes[index]!);
      return workspaces;
    } catch (error) {
      const fault = this.#transactions.abandon(faultOf(error));
      this.#refuse(group, fault);
      // After a failed sync nobody knows what reached the disk: no later write may claim to be durable.
      if (fault.fault === 'broken') {
        this.#broken = fault;
        this.#refuse(this.#queue.splice(0), fault);
      }
      return null;
    }
  }

  /** The group could not begin. Batches wait a while for a lock, and for nothing else. */
  #postpone(fault: StoreError, nowMs: number): void {
    const isLate = ({ sinceMs }: Waiting): boolean => fault.fault !== 'busy' || nowMs - sinceMs >= busyWaitMs;
    const late = this.#queue.filter(isLate);
    this.#queue = this.#queue.filter((batch) => !isLate(batch));
    if (late.length > 0) this.#refuse(late, fault);
    this.#goOn(this.#busyRetryMs);
    this.#busyRetryMs = Math.min(this.#busyRetryMs * 2, busyRetryMsMax);
  }

  #refuse(batches: readonly Waiting[], fault: StoreError): void {
    this.#refused = { fault, atMs: performance.now() };
    for (const batch of batches) batch.reject(fault);
  }

  #goOn(delayMs = 0): void {
    if (this.#queue.length > 0) this.#timer.schedule(delayMs);
    else if (this.#idle) this.#idle();
  }
}

function settle(batch: Waiting, outcome: CommitOutcome | Error): void {
  if (outcome instanceof Error) return batch.reject(outcome);
  batch.resolve(outcome);
  // Behind the one who waits for the batch, who may have to move caches along first.
  if (outcome.ok && batch.ops.some(takesRows)) queueMicrotask(() => handOut(batch.ops, outcome.rows));
}

const takesRows = ({ taken }: Op): boolean => taken !== undefined;

function handOut(ops: readonly Op[], rows: readonly (readonly Row[])[]): void {
  for (let index = 0; index < ops.length; index++) ops[index]!.taken?.(rows[index]!);
}
