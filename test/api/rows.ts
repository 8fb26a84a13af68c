// A digest of all rows of a workspace on disk, read without our own code, to prove that nothing changed.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createClient } from '@libsql/client';
import type { TestApp } from '../app.ts';

export async function rowsOf(app: TestApp, workspaceId: string): Promise<string> {
  const db = createClient({ url: pathToFileURL(join(app.dataDir, 'tatami.db')).href });
  const tables = await db.execute(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%workspace_id%' ORDER BY name",
  );
  const hash = createHash('sha256');
  for (const { name } of tables.rows) {
    const { rows } = await db.execute({
      sql: `SELECT * FROM ${String(name)} WHERE workspace_id = ?`,
      args: [workspaceId],
    });
    hash.update(
      JSON.stringify([name, rows], (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    );
  }
  db.close();
  return hash.digest('hex');
}
