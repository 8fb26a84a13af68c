-- What a subscriber wanted until it was changed, kept for as long as its consumer may still read events from before: those up to
-- until_sequence mean what was wanted then. It goes in the batch that stores how far the consumer came.
CREATE TABLE past_wants (
  workspace_id TEXT NOT NULL, consumer TEXT NOT NULL, until_sequence INTEGER NOT NULL, id TEXT NOT NULL,
  wants_json TEXT NOT NULL,
  PRIMARY KEY (workspace_id, consumer, until_sequence, id)
) STRICT, WITHOUT ROWID;

-- What the clock on the wall showed when the due times of a kind of work last followed it: a start that finds it earlier knows by how
-- much it was set back at least.
CREATE TABLE wall_clock (kind TEXT PRIMARY KEY, seen_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;
