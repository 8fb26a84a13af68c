// Begins another history in a database that nobody serves, as a restore does: readers of the one before are told apart by their
// generation, and what acts by itself waits for the operator's word.
import Database from 'libsql';
import { randomBytes } from 'node:crypto';
import { dropSums } from './integrity/page-sums.ts';

/** Tables by which people are signed in, or reset a password. */
export const signInTables = ['sessions', 'password_resets', 'ceremonies'] as const;

/**
 * Cuts the log of every workspace where it ends. The pages have no checksums then: `adoptDatabase` follows.
 * @param emptied tables whose rows are deleted, as far as the schema has them
 * @returns the generation that begins
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
