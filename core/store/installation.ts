// What holds for the installation as a whole: its name, which of its histories the database tells, and whether what a restore
// brought back may act by itself.
import { systemStatement, tenantStatement } from './statement.ts';
import { systemOp, type Op, type Scope, type Store } from './store.ts';

export interface Installation {
  /** Stays the same over restores. */
  readonly name: string;
  /** Of the history that goes on; a restore begins another one. */
  readonly generation: string;
  /** Null until a start has known it. */
  readonly keyFingerprint: string | null;
  /** Since then webhooks, plugins and schedules wait for the operator's word (milliseconds); null where they run. */
  readonly heldAtMs: number | null;
}

/** A sequence after `afterSequence` means another event in this history than in the one before. */
export interface LogCut {
  /** Cuts of a workspace count from 1. */
  readonly number: number;
  /** Of the history that begins here. */
  readonly generation: string;
  readonly afterSequence: number;
}

const why = 'it is one for all workspaces';

const readRow = systemStatement<{
  name: string;
  generation: string;
  key_fingerprint: string | null;
  held_at: number | null;
}>(
  'installation.read',
  why,
  'SELECT name, generation, key_fingerprint, held_at FROM installation WHERE id = 1',
);

const releaseRow = systemStatement(
  'installation.release',
  why,
  'UPDATE installation SET held_at = NULL WHERE id = 1',
);

const cutsOf = tenantStatement<{ number: number; generation: string; after_sequence: number }>(
  'log_cuts.list',
  'SELECT number, generation, after_sequence FROM log_cuts WHERE workspace_id = :ws ORDER BY number',
);

export async function readInstallation(store: Store): Promise<Installation> {
  const [row] = await store.readSystem(readRow);
  if (!row) throw new Error('The database says nothing of its installation: it was not made by Tatami.');
  return {
    name: row.name,
    generation: row.generation,
    keyFingerprint: row.key_fingerprint,
    heldAtMs: row.held_at,
  };
}

/** In the order in which they were made; none of a workspace that was never restored. */
export async function logCuts(store: Store, scope: Scope): Promise<LogCut[]> {
  const rows = await store.read(scope, cutsOf);
  return rows.map((row) => ({
    number: row.number,
    generation: row.generation,
    afterSequence: row.after_sequence,
  }));
}

/** What waits for the operator's word has it. */
export const releaseOp = (): Op => systemOp(releaseRow, {});
