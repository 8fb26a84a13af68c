-- What plugins asked of other servers, by a key that the host computes: a run that is tried again is answered from here. `answer_json` is
-- null while the answer is awaited of a request that may be sent once only.
CREATE TABLE journal (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, run_id TEXT NOT NULL, install_id TEXT NOT NULL, request TEXT NOT NULL,
  answer_json TEXT, created_at INTEGER NOT NULL, finished_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX journal_age ON journal (created_at);
-- Of a plugin, put in by an administrator; sealed with the master key.
CREATE TABLE plugin_secrets (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, install_id TEXT NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX plugin_secrets_install ON plugin_secrets (workspace_id, install_id);
-- When each of them was set, by name.
ALTER TABLE plugins ADD COLUMN secrets_set_json TEXT NOT NULL DEFAULT '{}';
