-- Recordings of runs that have ended: what each was given, what it asked, and what it was answered, so that it can be replayed.
-- `data` is zstd of JSON; absent where that was longer than a recording may be. `bytes` is its length, 0 where it is absent.
CREATE TABLE run_records (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  finished_at INTEGER NOT NULL, bytes INTEGER NOT NULL, data BLOB,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
