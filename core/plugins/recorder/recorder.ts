// The flight recorder: keeps what each run saw and said, in the batch that ends it. It holds references while the run goes on, and
// its bounds are those of docs/spec/plugins.md › Recordings.
import { LRUCache } from 'lru-cache';
import { Shares } from '../../lib/fairness/shares.ts';
import { dayMs } from '../../lib/time.ts';
import type { SandboxJob, SandboxOutcome } from '../../sandbox/supervisor.ts';
import type { Op, Scope } from '../../store/store.ts';
import { encodeRecording, type RecordedEnd } from './recording.ts';
import { keepRecordingOp } from './rows.ts';
import { createTape, type RunTape } from './tape.ts';

/** Compressed, of one run. */
const recordingBytesMax = 256 * 1024;
/** Compressed, of the runs of one install on one day (UTC) in one process. */
const bytesPerDayMax = 64 * 1024 * 1024;
/** Installs that are counted at once; one that is forgotten because so many others ran since begins a new day. */
const installsHeldMax = 10_000;
/** Characters that the long tapes of all runs may hold. */
const tapeRoomChars = 64 * 1024 * 1024;

/** A job as the sandbox is given it, with its tape where it is recorded. */
export interface TapedJob extends Omit<SandboxJob, 'call' | 'tape'> {
  readonly tape?: RunTape;
}

export interface Recorder {
  /** Gives a job its tape, in place of the one that an earlier attempt of the run had. */
  taped(job: Omit<TapedJob, 'tape'>): TapedJob;
  /** What keeps the recording of a run, in the batch that ends it; none where it has no tape, or there is no room left today. */
  ops(scope: Scope, job: TapedJob, outcome: SandboxOutcome): Promise<readonly Op[]> | readonly Op[];
  /** The tape of a run takes no room any more. */
  forget(runId: string): void;
}

export function createRecorder(options: { record: boolean; nowMs: () => number }): Recorder {
  const { nowMs } = options;
  const room = new Shares(tapeRoomChars);
  /** Of runs under way, which the room of their work queue bounds. */
  const tapes = new Map<string, RunTape>();
  const days = new LRUCache<string, { readonly day: number; bytes: number }>({ max: installsHeldMax });

  /** Counts what is kept. @returns whether it may be */
  const mayKeep = (installId: string, bytes: number): boolean => {
    const day = Math.floor(nowMs() / dayMs);
    let kept = days.get(installId);
    if (kept?.day !== day) days.set(installId, (kept = { day, bytes: 0 }));
    if (kept.bytes + bytes > bytesPerDayMax) return false;
    kept.bytes += bytes;
    return true;
  };

  const opsOf = (scope: Scope, { runId, installId }: TapedJob, data: Uint8Array | null): readonly Op[] => {
    const kept = data !== null && data.byteLength > recordingBytesMax ? null : data;
    return mayKeep(installId, kept?.byteLength ?? 0) ? [keepRecordingOp(scope, runId, kept, nowMs())] : [];
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
      const tape = createTape(room, { workspaceId: job.workspaceId, payer: job.installId });
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

/** Undefined of a run that was interrupted: that is no end of its own. */
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
