-- How far a schedule's run came, as JSON {done, of, unit?}; the run that goes on from there, how many went before it, and when the
-- first of them was due.
ALTER TABLE runs ADD COLUMN progress_json TEXT;
ALTER TABLE runs ADD COLUMN continued_by TEXT;
ALTER TABLE runs ADD COLUMN continuation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN fired_at INTEGER;
-- How often it was interrupted through no fault of its own and waited to be run again.
ALTER TABLE runs ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0;

-- The last event that an install does not listen to: what came before it was installed or switched on.
ALTER TABLE plugins ADD COLUMN since_sequence INTEGER NOT NULL DEFAULT 0;
UPDATE plugins SET since_sequence = coalesce((SELECT max(e.sequence) FROM events AS e
  WHERE e.workspace_id = plugins.workspace_id AND e.created_at < plugins.created_at), 0);

-- What an install missed while it was off: the events after after_sequence, up to until_sequence, which is NULL while it is off still.
-- Runs that were given up in that time count among them. Catching up moves after_sequence in the batch that makes the runs.
CREATE TABLE plugin_gaps (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, install_id TEXT NOT NULL,
  -- system or person: who switched it off.
  cause TEXT NOT NULL,
  after_sequence INTEGER NOT NULL, until_sequence INTEGER,
  -- off, counting, offered, running or done.
  status TEXT NOT NULL,
  missed INTEGER, runs INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, finished_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX plugin_gaps_install ON plugin_gaps (workspace_id, install_id, created_at, id);
-- system: housekeeping.
CREATE INDEX plugin_gaps_finished ON plugin_gaps (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX runs_dead ON runs (workspace_id, install_id, sequence) WHERE status = 'dead';
