// Group commit: batches that arrive while the writer thread is busy share the next transaction and its fsync. A batch that fails does not
// affect the others; a store fault fails all of them.
import { StoreError, type CommitOutcome, type CommittedBatch, type Op } from '../store.ts';
import type { SqlRow } from '../statement.ts';
import { type Encoder, faultFromWire, outcomeFromWire, type GroupAnswer, type WireBatch } from './wire.ts';
import type { Writer } from './thread.ts';

/** A larger group would noticeably delay the next one. */
const groupBatchesMax = 128;

interface Waiting {
  readonly ops: readonly Op[];
  readonly batch: WireBatch;
  /** Due time on the monotonic clock. */
  readonly dueMs: number;
  resolve(outcome: CommitOutcome): void;
  reject(error: unknown): void;
}

interface GroupCommitOptions {
  readonly writer: Writer;
  readonly encoder: Encoder;
  /**
   * Called after a group is committed, before its callers are notified and before the next group is sent, with its successful batches;
   * called without them after a checkpoint.
   */
  onCommitted(batches?: readonly CommittedBatch[]): void;
}

export interface Writes {
  /** @throws StoreError, and Error for a value that cannot be bound */
  commit(ops: readonly Op[], commitDelayMs: number): Promise<CommitOutcome>;
  /** Latest known reason why the store cannot be written. */
  readonly fault: StoreError | null;
  /** Numbers of commits since the store was opened. */
  readonly counts: { readonly batches: number; readonly groups: number };
  /** Rejects every write with this fault, until called with null. */
  suspend(fault: StoreError | null): void;
  /** Sends another request to the thread when it is idle. A request is dropped while another one waits. */
  aside(question: () => Promise<void>): void;
  /** Runs work in the writer thread between two groups; null if the store is read-only or closing. */
  between<T>(work: (writer: Writer) => Promise<T>): Promise<T | null>;
  /** Resolves once the loop has processed every commit that may have completed by now. */
  commitsProcessed(): Promise<void>;
  /**
   * Resolves once no batch waits and the thread has closed the file. No batch may be committed afterwards.
   * @param released called after the last batch, before the thread closes the file
   * @returns true if the database file contains every commit
   */
  close(released: () => void): Promise<boolean>;
}

// Schedules the next group of batches: at once for a single writer, slightly later under load, so that more batches share its sync.

/**
 * Maximum gather times in milliseconds. Under load the next group waits as long as the last one took, up to `quick`. After a slow group it
 * waits half of that duration, up to `slow`, so that callers that were just answered can join it instead of alternating with the others in
 * groups of half the size. A single writer never waits.
 */
const gatherMsMax = { quick: 2, slow: 8 };

interface GroupTimer {
  /** Schedules a group; a scheduled group is sent earlier if a later batch has a shorter delay. */
  schedule(delayMs: number): void;
  /** Records a committed group. @param startedMs start of the group, from `performance.now` */
  committed(batches: number, startedMs: number): void;
}

function createGroupTimer(go: () => void): GroupTimer {
  let last = { batches: 0, endedMs: 0, tookMs: 0 };
  let scheduled: { readonly dueMs: number; readonly timer: ReturnType<typeof setTimeout> | null } | null =
    null;

  const fire = (): void => {
    scheduled = null;
    go();
  };

  return {
    schedule(delayMs) {
      const nowMs = performance.now();
      const gatherMs = last.batches > 1 ? last.endedMs + gatherMsAfter(last.tookMs) - nowMs : 0;
      const waitMs = Math.max(delayMs, gatherMs >= 0.5 ? gatherMs : 0);
      const dueMs = nowMs + waitMs;
      if (scheduled && dueMs >= scheduled.dueMs) return;
      if (scheduled?.timer) clearTimeout(scheduled.timer);
      if (waitMs > 0) scheduled = { dueMs, timer: setTimeout(fire, waitMs) };
      else {
        scheduled = { dueMs: 0, timer: null };
        setImmediate(fire);
      }
    },
    committed(batches, startedMs) {
      const endedMs = performance.now();
      last = { batches, endedMs, tookMs: endedMs - startedMs };
    },
  };
}

function gatherMsAfter(tookMs: number): number {
  return Math.max(Math.min(tookMs, gatherMsMax.quick), Math.min(tookMs / 2, gatherMsMax.slow));
}

export class GroupCommit implements Writes {
  readonly #options: GroupCommitOptions;
  readonly #timer = createGroupTimer(() => this.#send());
  #batches = 0;
  #groups = 0;
  #queue: Waiting[] = [];
  #underWay: Promise<void> | null = null;
  #idle: (() => void) | null = null;
  #broken: StoreError | null = null;
  #suspended: StoreError | null = null;
  #aside: (() => Promise<void>) | null = null;
  #isClosing = false;
  /** Reason of the last rejected write, until a write succeeds. */
  #refused: StoreError | null = null;

  constructor(options: GroupCommitOptions) {
    this.#options = options;
  }

  commit(ops: readonly Op[], commitDelayMs: number): Promise<CommitOutcome> {
    const barred = this.#broken ?? this.#suspended;
    if (barred) return Promise.reject(barred);
    return new Promise((resolve, reject) => {
      const batch = this.#options.encoder.batch(ops);
      this.#queue.push({ ops, batch, dueMs: performance.now() + commitDelayMs, resolve, reject });
      if (!this.#underWay) this.#timer.schedule(this.#queue.length < groupBatchesMax ? commitDelayMs : 0);
    });
  }

  get fault(): StoreError | null {
    return this.#broken ?? this.#suspended ?? this.#refused;
  }

  get counts(): Writes['counts'] {
    return { batches: this.#batches, groups: this.#groups };
  }

  suspend(fault: StoreError | null): void {
    this.#suspended = fault;
    if (fault) this.#refuse(this.#queue.splice(0), fault);
  }

  aside(question: () => Promise<void>): void {
    this.#aside ??= question;
    if (!this.#underWay) this.#goOn();
  }

  async commitsProcessed(): Promise<void> {
    await this.#underWay;
  }

  async close(released: () => void): Promise<boolean> {
    this.#isClosing = true;
    if (this.#underWay || this.#queue.length > 0)
      await new Promise<void>((resolve) => (this.#idle = resolve));
    released();
    return this.#options.writer.close(!this.#broken);
  }

  async between<T>(work: (writer: Writer) => Promise<T>): Promise<T | null> {
    while (this.#underWay) await this.#underWay;
    if (this.#broken || this.#suspended || this.#isClosing) return null;
    const working = work(this.#options.writer);
    this.#underWay = working.then(
      () => this.#goOn(),
      () => this.#goOn(),
    );
    return working;
  }

  #send(): void {
    if (this.#underWay || this.#queue.length === 0) return;
    this.#underWay = this.#exchange(this.#queue.splice(0, groupBatchesMax));
  }

  async #exchange(group: readonly Waiting[]): Promise<void> {
    const { writer, encoder, onCommitted } = this.#options;
    const startedMs = performance.now();
    const answer = await writer.commit(encoder.group(group.map(({ batch }) => batch)));
    this.#timer.committed(group.length, startedMs);
    if (answer.ok) this.#committed(group, answer);
    else this.#failed(group, faultFromWire(answer), answer.breaks);
    if (answer.ok && answer.logIsLong) {
      await writer.checkpoint();
      onCommitted();
    }
    this.#goOn();
  }

  #committed(group: readonly Waiting[], answer: Extract<GroupAnswer, { ok: true }>): void {
    const outcomes = answer.outcomes.map(outcomeFromWire);
    if (answer.wroteRows) {
      this.#refused = null;
      this.#options.onCommitted(committedIn(group, outcomes));
    }
    this.#groups++;
    this.#batches += group.length;
    for (let index = 0; index < group.length; index++) settle(group[index]!, outcomes[index]!);
  }

  #failed(group: readonly Waiting[], fault: StoreError, breaks: boolean): void {
    this.#refuse(group, fault);
    if (!breaks) return;
    // After a failed sync the content of the disk is unknown: no later write may claim to be durable.
    this.#broken = fault;
    this.#refuse(this.#queue.splice(0), fault);
  }

  #refuse(batches: readonly Waiting[], fault: StoreError): void {
    this.#refused = fault;
    for (const batch of batches) batch.reject(fault);
  }

  #goOn(): void {
    this.#underWay = null;
    const aside = this.#aside;
    this.#aside = null;
    if (aside) {
      this.#underWay = aside().then(() => this.#goOn());
      return;
    }
    if (this.#queue.length === 0) return this.#idle?.();
    const dueMs = Math.min(...this.#queue.map((batch) => batch.dueMs));
    this.#timer.schedule(this.#queue.length < groupBatchesMax ? Math.max(0, dueMs - performance.now()) : 0);
  }
}

function committedIn(
  group: readonly Waiting[],
  outcomes: readonly (CommitOutcome | Error)[],
): readonly CommittedBatch[] {
  return outcomes.flatMap((outcome, index) =>
    !(outcome instanceof Error) && outcome.ok ? [{ ops: group[index]!.ops, rows: outcome.rows }] : [],
  );
}

function settle(waiting: Waiting, outcome: CommitOutcome | Error): void {
  if (outcome instanceof Error) return waiting.reject(outcome);
  waiting.resolve(outcome);
  // Runs after the awaiting caller, which may have to update caches first.
  if (outcome.ok && waiting.ops.some(takesRows)) queueMicrotask(() => handOut(waiting.ops, outcome.rows));
}

const takesRows = ({ taken }: Op): boolean => taken !== undefined;

function handOut(ops: readonly Op[], rows: readonly (readonly SqlRow[])[]): void {
  for (let index = 0; index < ops.length; index++) ops[index]!.taken?.(rows[index]!);
}
