-- What holds for the installation as a whole: one row.
CREATE TABLE installation (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- Names it. A restored one keeps its name.
  name TEXT NOT NULL,
  -- Names its history: a restore begins another one, in which sequences after the cut mean other events.
  generation TEXT NOT NULL,
  -- Of the master key; NULL until a start that knows it.
  key_fingerprint TEXT,
  -- Since then webhooks and schedules wait for the operator's word (milliseconds); NULL where they run.
  held_at INTEGER
) STRICT;
INSERT INTO installation VALUES (1, lower(hex(randomblob(16))), lower(hex(randomblob(8))), NULL, NULL);

-- Where a restore began another history of a workspace: what came after `after_sequence` in the one before is not in it.
CREATE TABLE log_cuts (
  workspace_id TEXT NOT NULL, number INTEGER NOT NULL,
  generation TEXT NOT NULL, after_sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, number)
) STRICT, WITHOUT ROWID;
