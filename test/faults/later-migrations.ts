// Migrations as in later builds: a new table filled from an old one, new columns, a rebuilt table.
import { migrations, type Migration } from '../../core/platform/store/migrations/index.ts';

export const laterMigrations: readonly Migration[] = [
  ...migrations,
  {
    name: 'test-notes',
    sql: `
      CREATE TABLE notes (workspace_id TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (workspace_id, id)) STRICT, WITHOUT ROWID;
      INSERT INTO notes SELECT workspace_id, consumer, 'from ' || sequence FROM cursors;
      ALTER TABLE notes ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
      UPDATE notes SET pinned = 1 WHERE id LIKE '%1';
      ALTER TABLE labels ADD COLUMN shade TEXT NOT NULL DEFAULT 'none';
      ALTER TABLE projects ADD COLUMN budget INTEGER;`,
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
