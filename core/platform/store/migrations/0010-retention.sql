-- system: housekeeping. What is deleted goes for good after a while; few rows are in these.
CREATE INDEX issues_deleted ON issues (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX comments_deleted ON comments (deleted_at) WHERE deleted_at IS NOT NULL;
-- Whatever refers to a row is looked for when that row goes, by the foreign key.
CREATE INDEX issues_children ON issues (workspace_id, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX comments_replies ON comments (workspace_id, parent_id) WHERE parent_id IS NOT NULL;
-- Runs and deliveries that are too old are found by their ids, which begin with the time.
DROP INDEX runs_finished;
DROP INDEX deliveries_finished;

-- Cause and data of an event, compressed; they are empty texts then. Where several events in a row have the same, the later ones
-- name the distance of the one that has it: '=1' in data_json is the event before.
ALTER TABLE events ADD COLUMN packed BLOB;

-- What old events say, in a file: '@7' in data_json is the file of this workspace that begins with the event 7.
CREATE TABLE event_files (
  workspace_id TEXT NOT NULL, first_sequence INTEGER NOT NULL, last_sequence INTEGER NOT NULL,
  bytes INTEGER NOT NULL, sha256 TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, first_sequence)
) STRICT, WITHOUT ROWID;
