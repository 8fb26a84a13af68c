// Begins a new log generation in a database that no server has open, as a restore does. Consumers detect the change by the generation, and
// outgoing activity is paused until `tatami release`.
import Database from 'libsql';
import { randomBytes } from 'node:crypto';
import { dropSums } from '../integrity/pages/page-sums.ts';

/** Tables of sessions, password resets and pending sign-in challenges. */
export const signInTables = ['sessions', 'password_resets', 'ceremonies'] as const;

/**
 * Records a cut at the end of each workspace's log. Drops the page checksums, so `adoptDatabase` must follow.
 * @param emptied tables to empty, if the schema has them
 * @returns the new generation
 */
export function beginHistory(path: string, nowMs: number, emptied: readonly string[] = []): string {
  const generation = randomBytes(8).toString('hex');
  dropSums(path);
  const db = new Database(path);
  try {
    db.exec('BEGIN IMMEDIATE');
    db.prepare('UPDATE installation SET generation = ?1, held_at = ?2 WHERE id = 1').run([
      generation,
      BigInt(nowMs),
    ]);
    db.prepare(
      `INSERT INTO log_cuts (workspace_id, number, generation, after_sequence)
       SELECT w.workspace_id,
         1 + coalesce((SELECT max(c.number) FROM log_cuts AS c WHERE c.workspace_id = w.workspace_id), 0), ?1,
         coalesce((SELECT max(e.sequence) FROM events AS e WHERE e.workspace_id = w.workspace_id), 0)
       FROM workspaces AS w`,
    ).run([generation]);
    const there = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as {
      name: string;
    }[];
    for (const table of emptied)
      if (there.some(({ name }) => name === table)) db.exec(`DELETE FROM ${table}`);
    db.exec('COMMIT');
    return generation;
  } finally {
    db.close();
  }
}
