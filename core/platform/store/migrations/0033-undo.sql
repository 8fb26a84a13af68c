-- What runs, approved proposals and undos changed, object by object as it was and as it became: what an undo goes by. Runs keep
-- nothing of this themselves, since most are never asked about again.
CREATE TABLE kept_changes (
  workspace_id TEXT NOT NULL,
  -- Of the run, the proposal or the undo.
  id TEXT NOT NULL,
  -- Of the plugin whose doing it was; null of an undo, which is a person's.
  install_id TEXT,
  created_at INTEGER NOT NULL,
  -- The undo that took it back; null while it stands.
  undone_by TEXT,
  -- JSON: of an undo the ids of what it took back.
  undid_json TEXT,
  -- JSON: the kinds of the objects, by which the rights to undo it are known.
  kinds_json TEXT NOT NULL,
  -- JSON, compressed with zstd.
  changes BLOB NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_changes_install ON kept_changes (workspace_id, install_id, created_at, id) WHERE install_id IS NOT NULL;
-- system: housekeeping.
CREATE INDEX kept_changes_created ON kept_changes (created_at);
