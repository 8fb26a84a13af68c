// Stores the inputs, calls and answers of each run in the batch that ends it. During the run, only
// references are collected. docs/spec/plugins.md › Recordings defines the limits.
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import type { BillingAccount } from '../../../platform/lib/billing-account.ts';
import type {
  GuestCall,
  Tape,
  CallReply,
  SandboxJob,
  SandboxOutcome,
} from '../../../platform/sandbox/supervisor.ts';
import {
  type RecordedCall,
  type UnansweredCall,
  encodeRecording,
  type RecordedEnd,
  storeRecordingOp,
} from './recording.ts';
import { createLru } from '../../../platform/lib/lru.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';

/** Limit of one compressed recording. */
const recordingBytesMax = 256 * 1024;
/** Limit of the compressed recordings of one install per UTC day and process. */
const bytesPerDayMax = 64 * 1024 * 1024;
/** Limit of installs with counts in memory; an evicted install starts again at zero. */
const trackedInstallsMax = 10_000;
/** Limit of characters in the long tapes of all runs together. */
const tapeQuotaChars = 64 * 1024 * 1024;

/** Job for the sandbox, with a tape if the run is recorded. */
export interface TapedJob extends Omit<SandboxJob, 'call' | 'tape'> {
  readonly tape?: RunTape;
}

export interface Recorder {
  /** Adds a tape to a job, replacing the tape of an earlier attempt of the run. */
  taped(job: TapedJob): TapedJob;
  /** Returns ops that store a recording in the batch that ends the run; none without a tape, or beyond the daily limit. */
  ops(scope: Scope, job: TapedJob, outcome: SandboxOutcome): Promise<readonly Op[]> | readonly Op[];
  /** Releases the tape of a run. */
  forget(runId: string): void;
}

export function createRecorder(options: { record: boolean; nowMs: () => number }): Recorder {
  const { nowMs } = options;
  const quota = new FairQuota(tapeQuotaChars);
  /** Tapes of runs in progress, bounded by the capacity of their work queue. */
  const tapes = new Map<string, RunTape>();
  const days = createLru<string, { readonly day: number; bytes: number }>(trackedInstallsMax);

  /** Counts the bytes of a recording. @returns false if the daily limit is reached */
  const isWithinDailyLimit = (installId: string, bytes: number): boolean => {
    const day = Math.floor(nowMs() / dayMs);
    let recorded = days.get(installId);
    if (recorded?.day !== day) days.set(installId, (recorded = { day, bytes: 0 }));
    if (recorded.bytes + bytes > bytesPerDayMax) return false;
    recorded.bytes += bytes;
    return true;
  };

  const opsOf = (scope: Scope, { runId, installId }: TapedJob, data: Uint8Array | null): readonly Op[] => {
    const recorded = data !== null && data.byteLength > recordingBytesMax ? null : data;
    return isWithinDailyLimit(installId, recorded?.byteLength ?? 0)
      ? [storeRecordingOp(scope, runId, recorded, nowMs())]
      : [];
  };

  const forget = (runId: string): void => {
    tapes.get(runId)?.release();
    tapes.delete(runId);
  };

  return {
    forget,
    taped(job) {
      if (!options.record) return job;
      forget(job.runId);
      const tape = createTape(quota, { workspaceId: job.workspaceId, billingAccount: job.installId });
      tapes.set(job.runId, tape);
      return { ...job, tape };
    },
    ops(scope, job, outcome) {
      const end = endOf(outcome);
      const { tape, handler, limits, input } = job;
      if (!end || !tape) return [];
      if (tape.isCut) return opsOf(scope, job, null);
      const { sha256 } = job.code;
      const data = encodeRecording({ format: 1, sha256, handler, limits, input, ...tape.read(), end });
      if (data instanceof Uint8Array) return opsOf(scope, job, data);
      return data.then((long) => opsOf(scope, job, long));
    },
  };
}

/** Returns undefined for an interrupted run, because the interruption is not an outcome of the handler. */
export function endOf(outcome: SandboxOutcome): RecordedEnd | undefined {
  if (outcome.status === 'interrupted') return undefined;
  const { status, logs } = outcome;
  if (status === 'succeeded')
    return {
      status,
      reason: null,
      message: null,
      retryAfterMs: null,
      progress: outcome.progress ?? null,
      logs,
    };
  const { reason, message, retryAfterMs = null } = outcome;
  return { status, reason, message, retryAfterMs, progress: null, logs };
}

/** Characters of arguments and answers that a tape can hold. A longer tape is dropped, and the recording marked as truncated. */
const charsMax = 4 * 1024 * 1024;
/** Characters that every tape can hold without a quota check. */
const freeChars = 64 * 1024;
/** Minimum size of each further reservation, in characters. */
const stepChars = 256 * 1024;

interface RunTape extends Tape {
  /** True if the tape exceeded its limit, or no quota was left for it. */
  readonly isCut: boolean;
  /** Number of characters recorded so far. */
  readonly chars: number;
  read(): { readonly calls: readonly RecordedCall[]; readonly unanswered: readonly UnansweredCall[] };
  /** Releases the tape's quota. */
  release(): void;
}

/** @param quota quota for long tapes, shared by all runs */
function createTape(quota: FairQuota, billingAccount: BillingAccount): RunTape {
  let issued: GuestCall[] = [];
  let delivered: CallReply[] = [];
  /** Number of messages that the guest had received at each of its entries. */
  let entries: number[] = [];
  let chars = 0;
  let isCut = false;
  let reserved: { chars: number; give: () => void }[] = [];

  const release = (): void => {
    for (const { give } of reserved) give();
    reserved = [];
  };
  const clear = (): void => {
    issued = [];
    delivered = [];
    entries = [];
    release();
  };
  const count = (more: number): void => {
    chars += more;
    if (chars <= freeChars) return;
    const reservedChars = reserved.reduce((sum, one) => sum + one.chars, freeChars);
    if (chars <= reservedChars) return;
    const amount = Math.max(stepChars, chars - reservedChars);
    isCut = chars > charsMax || !quota.hasCapacityFor(billingAccount, amount);
    if (isCut) clear();
    else reserved.push({ chars: amount, give: quota.reserve(billingAccount, amount) });
  };

  return {
    release,
    get isCut() {
      return isCut;
    },
    get chars() {
      return chars;
    },
    begin() {
      clear();
      chars = 0;
      isCut = false;
    },
    recordReply(message) {
      if (isCut) return;
      delivered.push(message);
      count(message.t === 'answer' ? message.value.length : message.message.length);
    },
    recordCalls(acked, calls) {
      if (isCut) return;
      if (acked > (entries.at(-1) ?? 0)) entries.push(acked);
      for (const call of calls) {
        issued.push(call);
        count(call[2].length);
      }
    },
    read: () => readTape(issued, delivered, entries),
  };
}

/** Number of messages before the first answer: only the job itself. */
const orders = 1;

function readTape(issued: readonly GuestCall[], delivered: readonly CallReply[], entries: readonly number[]) {
  const open = new Map<number, UnansweredCall>(
    issued.map(([number, op, args], at) => [number, { call: at + 1, op, args }]),
  );
  const calls: RecordedCall[] = [];
  let entry = 0;
  for (const [at, message] of delivered.entries()) {
    const nth = at + 1 + orders;
    while (entry < entries.length && entries[entry]! < nth) entry++;
    const pendingCall = open.get(message.call);
    // This answer was sent after the guest had ended.
    if (entry === entries.length) break;
    if (!pendingCall) continue;
    open.delete(message.call);
    const answer =
      message.t === 'answer'
        ? { ok: true as const, value: message.value }
        : { ok: false as const, error: { code: message.code, message: message.message } };
    calls.push({ ...pendingCall, answer, elapsedMs: message.elapsedMs, entry });
  }
  return { calls, unanswered: [...open.values()] };
}
