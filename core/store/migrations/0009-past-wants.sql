-- What a subscriber wanted until it was changed, kept for as long as its consumer may still read events from before: those up to
-- until_sequence mean what was wanted then. It goes in the batch that stores how far the consumer came.
CREATE TABLE past_wants (
  workspace_id TEXT NOT NULL, consumer TEXT NOT NULL, until_sequence INTEGER NOT NULL, id TEXT NOT NULL,
  wants_json TEXT NOT NULL,
  PRIMARY KEY (workspace_id, consumer, until_sequence, id)
) STRICT, WITHOUT ROWID;
