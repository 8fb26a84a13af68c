// Defines the format of a recording: everything that a handler could observe, and how the run ended. The same
// code with the same recording runs identically, bit for bit, except for `cpuLeftMs`. docs/spec/plugins.md ›
// Recordings.
import type {
  CallAnswer,
  GuestProgress,
  RunLimits,
  RunUsage,
  SandboxJob,
} from '../../../platform/sandbox/supervisor.ts';
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import type { Op, Scope, Store } from '../../../platform/store/store.ts';
import { runRecordTable } from '../tables.ts';

/** Call that had no answer when the run ended. */
export interface UnansweredCall {
  /** Number of the call in call order, from 1; timers are calls of `sleep`. */
  readonly call: number;
  readonly op: string;
  /** JSON text of the argument list. */
  readonly args: string;
}

export interface RecordedCall extends UnansweredCall {
  readonly answer: CallAnswer;
  /** Age of the run when it got the answer, by the run's own clock, in milliseconds. */
  readonly elapsedMs: number;
  /**
   * Number of the delivery, ascending from 1. Answers with the same number were delivered together, before
   * any code continued.
   */
  readonly entry: number;
}

export interface RecordedEnd {
  readonly status: 'succeeded' | 'failed';
  /** Reason of a failure: `error`, `retry_later`, `drop`, `cpu`, … */
  readonly reason: string | null;
  readonly message: string | null;
  readonly retryAfterMs: number | null;
  readonly progress: GuestProgress | null;
  readonly logs: RunUsage['logs'];
}

export interface Recording {
  readonly format: 1;
  /** SHA-256 of the code that ran, in hex. */
  readonly sha256: string;
  readonly handler: SandboxJob['handler'];
  readonly limits: RunLimits;
  /** JSON input of the guest: event, run, settings, clock, seed and scopes. */
  readonly input: string;
  /** Answered calls, in the order of their answers. */
  readonly calls: readonly RecordedCall[];
  readonly unanswered: readonly UnansweredCall[];
  readonly end: RecordedEnd;
}

/** Longer texts are compressed off the event loop. */
const longChars = 64 * 1024;

/** Compresses a recording; short ones synchronously. */
export function encodeRecording(recording: Recording): Uint8Array | Promise<Uint8Array> {
  const text = JSON.stringify(recording);
  return text.length > longChars ? Bun.zstdCompress(text) : Bun.zstdCompressSync(text);
}

async function decodeRecording(data: Uint8Array): Promise<Recording> {
  return JSON.parse(new TextDecoder().decode(await Bun.zstdDecompress(data))) as Recording;
}

export function callsInOrder({ calls, unanswered }: Recording) {
  return [...calls, ...unanswered].sort((one, other) => one.call - other.call);
}

/**
 * Returns the reason that the code cannot replay the recording; null if it can.
 * @param pluginId plugin of the run; undefined if it is no longer known
 */
export function whyNotItsCode(
  { id, handlers }: PluginManifest,
  { kind, name }: Recording['handler'],
  pluginId: string | undefined,
): string | null {
  if (pluginId !== undefined && pluginId !== id)
    return `The code is of the plugin ${id}, but the run is of ${pluginId}. Use the code of ${pluginId}.`;
  if (handlers.includes(`${kind}:${name}`)) return null;
  const others = handlers.filter((handler) => handler.startsWith(`${kind}:`));
  const there =
    others.length > 0 ? `its handlers are ${others.join(', ')}` : 'it has no handlers of this kind';
  return `${id} has no handler ${kind}:${name}, which this run used; ${there}. Use code that has the handler.`;
}

export interface RecordingFacts {
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly at: number;
  /** True if the recording exceeded the size limit, so that only this fact is stored. */
  readonly truncated: boolean;
}

const insertRecording = runRecordTable.upsert(
  'store',
  ['id', 'finished_at', 'bytes', 'data'],
  ['finished_at', 'bytes', 'data'],
);
const read = runRecordTable.select('read', ['data'], ['id']);
const facts = tenantStatement<Pick<RowOf<typeof runRecordTable>, 'id' | 'finished_at' | 'bytes'>>(
  'run_records.facts',
  `SELECT ${runRecordTable.names('id', 'finished_at', 'bytes')} FROM run_records
   WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`,
);

/** @param data null if the recording exceeded the size limit */
export function storeRecordingOp(scope: Scope, id: string, data: Uint8Array | null, at: number): Op {
  return insertRecording(scope, { id, finished_at: at, bytes: data?.byteLength ?? 0, data });
}

/** @returns undefined if the run has no recording, or a truncated one */
export async function findRecording(
  store: Store,
  scope: Scope,
  runId: string,
): Promise<Recording | undefined> {
  const row = await read.one(store, scope, { id: runId });
  if (!row?.data) return undefined;
  return decodeRecording(new Uint8Array(row.data));
}

/** Returns the metadata of recordings by run id; runs without a recording are absent. */
export async function recordingFacts(
  store: Store,
  scope: Scope,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RecordingFacts>> {
  const rows = await store.read(scope, facts, { ids: JSON.stringify(ids) });
  return new Map(rows.map(({ id, finished_at: at, bytes }) => [id, { at, bytes, truncated: bytes === 0 }]));
}
