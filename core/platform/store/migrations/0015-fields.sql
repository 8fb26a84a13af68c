-- Custom fields. The values of an issue lie in one column, by id of field, so that a name or key that changes hands means nothing there.
CREATE TABLE fields (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  key TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, type TEXT NOT NULL, options_json TEXT NOT NULL,
  required INTEGER NOT NULL, archived INTEGER NOT NULL, team_id TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX fields_created ON fields (workspace_id, created_at, id);
CREATE UNIQUE INDEX fields_key ON fields (workspace_id, key) WHERE deleted_at IS NULL;
ALTER TABLE issues ADD COLUMN fields_json TEXT;
