// Stores the inputs, calls and answers of each run in the batch that ends it. During the run, only references
// are collected. docs/spec/plugins.md › Recordings defines the limits.
import { LRUCache } from 'lru-cache';
import { FairQuota } from '../../../platform/lib/fairness/fair-quota.ts';
import { dayMs } from '../../../platform/lib/time/time.ts';
import type { SandboxJob, SandboxOutcome } from '../../../platform/sandbox/supervisor.ts';
import type { Op, Scope } from '../../../platform/store/store.ts';
import { encodeRecording, type RecordedEnd } from './recording.ts';
import { storeRecordingOp } from './rows.ts';
import { createTape, type RunTape } from './tape.ts';

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
  const days = new LRUCache<string, { readonly day: number; bytes: number }>({ max: trackedInstallsMax });

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
