// Installation-wide state: name, log generation, and the pause of outgoing activity after a restore.
import { systemStatement, tenantStatement } from '../statement.ts';
import { systemOp, type Op, type Scope, type Store } from '../store.ts';

export interface Installation {
  /** Name of the installation, which restores retain. */
  readonly name: string;
  /** Current log generation; each restore begins a new one. */
  readonly generation: string;
  /** Fingerprint of the master key; null until the first start has recorded it. */
  readonly keyFingerprint: string | null;
  /** Time at which a restore paused webhooks, plugins and schedules until `tatami release` (milliseconds); null if they run. */
  readonly pausedAtMs: number | null;
}

/** Boundary between two log generations: a sequence after `afterSequence` denotes different events in the two generations. */
export interface LogCut {
  /** Ordinal within the workspace, from 1. */
  readonly number: number;
  /** Log generation that begins here. */
  readonly generation: string;
  readonly afterSequence: number;
}

const why = 'the installation is shared by all workspaces';

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
  if (!row)
    throw new Error('The database has no installation row: it was not made by Tatami. Restore a backup.');
  return {
    name: row.name,
    generation: row.generation,
    keyFingerprint: row.key_fingerprint,
    pausedAtMs: row.held_at,
  };
}

/** Returns the cuts of a workspace in the order of their creation; empty if it was never restored. */
export async function logCuts(store: Store, scope: Scope): Promise<LogCut[]> {
  const rows = await store.read(scope, cutsOf);
  return rows.map((row) => ({
    number: row.number,
    generation: row.generation,
    afterSequence: row.after_sequence,
  }));
}

/** Ends the pause of webhooks, plugins and schedules after a restore. */
export const releaseOp = (): Op => systemOp(releaseRow, {});
