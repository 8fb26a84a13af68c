// Migrates a database to a schema two steps newer than that of this build. Argument: the data directory.
import { join } from 'node:path';
import { migrate } from '../../core/platform/store/migrate.ts';
import { migrations } from '../../core/platform/store/migrations/index.ts';

/** Steps as in later builds: a new table filled from an old one, a changed column, a rebuilt table. */
export const newerSteps = [
  ...migrations,
  {
    name: 'test-notes',
    sql: `
      CREATE TABLE notes (workspace_id TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (workspace_id, id)) STRICT, WITHOUT ROWID;
      INSERT INTO notes SELECT workspace_id, consumer, 'from ' || sequence FROM cursors;
      ALTER TABLE notes ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
      UPDATE notes SET pinned = 1 WHERE id LIKE '%1';`,
  },
  {
    name: 'test-rebuilt',
    sql: `
      CREATE TABLE rebuilt (workspace_id TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (workspace_id, id)) STRICT, WITHOUT ROWID;
      INSERT INTO rebuilt SELECT workspace_id, id, text FROM notes;
      DROP TABLE notes;
      ALTER TABLE rebuilt RENAME TO notes;
      CREATE INDEX notes_body ON notes (workspace_id, body);`,
  },
];

if (import.meta.main) {
  const dir = process.argv[2] ?? '';
  migrate(
    { path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots'), nowMs: () => 1_800_000_000_000 },
    newerSteps,
  );
}
