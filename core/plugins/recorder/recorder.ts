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

/** What the sandbox was told, and what it noted. */
export interface RecordedAttempt {
  readonly job: Pick<SandboxJob, 'installId' | 'code' | 'handler' | 'limits' | 'input'>;
  readonly tape: RunTape;
}

export interface Recorder {
  /** Null where nothing is recorded. */
  tape(scope: Scope): RunTape | null;
  /** What keeps the recording of a run, in the batch that ends it; none where there is no room left today. */
  ops(
    scope: Scope,
    runId: string,
    recorded: RecordedAttempt,
    outcome: SandboxOutcome,
  ): Promise<readonly Op[]> | readonly Op[];
}

export function createRecorder(options: { record: boolean; nowMs: () => number }): Recorder {
  const { nowMs } = options;
  const room = new Shares(tapeRoomChars);
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

  const opsOf = (scope: Scope, runId: string, installId: string, data: Uint8Array | null): readonly Op[] => {
    const kept = data !== null && data.byteLength > recordingBytesMax ? null : data;
    return mayKeep(installId, kept?.byteLength ?? 0) ? [keepRecordingOp(scope, runId, kept, nowMs())] : [];
  };

  return {
    tape: (scope) => (options.record ? createTape(room, scope) : null),
    ops(scope, runId, { job, tape }, outcome) {
      const end = endOf(outcome);
      if (!end) return [];
      if (tape.isCut) return opsOf(scope, runId, job.installId, null);
      const { handler, limits, input } = job;
      const { sha256 } = job.code;
      const data = encodeRecording({ format: 1, sha256, handler, limits, input, ...tape.read(), end });
      if (data instanceof Uint8Array) return opsOf(scope, runId, job.installId, data);
      return data.then((long) => opsOf(scope, runId, job.installId, long));
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
