// Stores recordings: one row per ended run.
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import { decodeRecording, type Recording } from './recording.ts';

export interface RecordingFacts {
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly at: number;
  /** True if the recording exceeded the size limit, so that only this fact is stored. */
  readonly truncated: boolean;
}

const insertRecording = tenantStatement(
  'run_records.keep',
  `INSERT INTO run_records (workspace_id, id, finished_at, bytes, data) VALUES (:ws, :id, :at, :bytes, :data)
   ON CONFLICT (workspace_id, id) DO UPDATE SET finished_at = excluded.finished_at, bytes = excluded.bytes, data = excluded.data`,
);
const read = tenantStatement<{ data: ArrayBuffer | Uint8Array | null }>(
  'run_records.read',
  'SELECT data FROM run_records WHERE workspace_id = :ws AND id = :id',
);
const facts = tenantStatement<{ id: string; at: number; bytes: number }>(
  'run_records.facts',
  `SELECT id, finished_at AS at, bytes FROM run_records
   WHERE workspace_id = :ws AND id IN (SELECT value FROM json_each(:ids))`,
);

/** @param data null if the recording exceeded the size limit */
export function storeRecordingOp(scope: Scope, id: string, data: Uint8Array | null, at: number): Op {
  return tenantOp(scope, insertRecording, { id, at, bytes: data?.byteLength ?? 0, data });
}

/** @returns undefined if the run has no recording, or a truncated one */
export async function findRecording(
  store: Store,
  scope: Scope,
  runId: string,
): Promise<Recording | undefined> {
  const row = await store.readOne(scope, read, { id: runId });
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
  return new Map(rows.map(({ id, at, bytes }) => [id, { at, bytes, truncated: bytes === 0 }]));
}
