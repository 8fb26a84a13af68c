// The recording of a run: everything that its handler could know, and how it ended. The same code with the same recording runs the
// same way, bit for bit, but for `cpuLeftMs`. docs/spec/plugins.md › Recordings.
import type { CallAnswer, Progress, RunLimits, RunUsage, SandboxJob } from '../../sandbox/supervisor.ts';

/** A call that had no answer when the run ended. */
export interface UnansweredCall {
  /** From 1, in the order in which the handler made them; timers are calls of `sleep`. */
  readonly call: number;
  readonly op: string;
  /** JSON text of the list of its arguments. */
  readonly args: string;
}

export interface RecordedCall extends UnansweredCall {
  readonly answer: CallAnswer;
  /** The age of the run on its own clock when it got the answer, in milliseconds. */
  readonly elapsedMs: number;
  /** Answers with the same number were given together, before any code went on; the numbers rise, from 1. */
  readonly entry: number;
}

export interface RecordedEnd {
  readonly status: 'succeeded' | 'failed';
  /** Of a failure: `error`, `retry_later`, `drop`, `cpu`, … */
  readonly reason: string | null;
  readonly message: string | null;
  readonly retryAfterMs: number | null;
  readonly progress: Progress | null;
  readonly logs: RunUsage['logs'];
}

export interface Recording {
  readonly format: 1;
  /** Of the code that ran. */
  readonly sha256: string;
  readonly handler: SandboxJob['handler'];
  readonly limits: RunLimits;
  /** The JSON that the guest was given: event, run, settings, clock, seed and scopes. */
  readonly input: string;
  /** In the order of their answers. */
  readonly calls: readonly RecordedCall[];
  readonly unanswered: readonly UnansweredCall[];
  readonly end: RecordedEnd;
}

/** What is longer is compressed beside the loop. */
const longChars = 64 * 1024;

/** Resolves at once for what is short. */
export function encodeRecording(recording: Recording): Uint8Array | Promise<Uint8Array> {
  const text = JSON.stringify(recording);
  return text.length > longChars ? Bun.zstdCompress(text) : Bun.zstdCompressSync(text);
}

export async function decodeRecording(data: Uint8Array): Promise<Recording> {
  return JSON.parse(new TextDecoder().decode(await Bun.zstdDecompress(data))) as Recording;
}

/** All calls, in the order in which they were made. */
export function callsAsMade({ calls, unanswered }: Pick<Recording, 'calls' | 'unanswered'>) {
  return [...calls, ...unanswered].sort((one, other) => one.call - other.call);
}
