-- Issues that are gone for good, until what others had kept of them is gone as well: proposals, runs and their recordings, changes kept
-- for undo, reports.
CREATE TABLE purged_issues (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  -- Of the issue: nothing older speaks of it.
  created_at INTEGER NOT NULL,
  -- When it is looked for a second time, as what was under way may have written of it once more; 0 before the first time.
  again_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
