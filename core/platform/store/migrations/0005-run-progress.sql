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

-- Installs that are off miss what comes from where their consumer stands; those that are on may have runs that were given up.
INSERT INTO plugin_gaps (workspace_id, id, install_id, cause, after_sequence, until_sequence, status, created_at)
  SELECT workspace_id, 'gap_' || substr(lower(hex(randomblob(16))), 1, 26), id,
    CASE state WHEN 'paused_by_admin' THEN 'person' ELSE 'system' END, stands, CASE state WHEN 'active' THEN stands END,
    CASE state WHEN 'active' THEN 'counting' ELSE 'off' END, CAST(strftime('%s', 'now') AS INTEGER) * 1000
  FROM (SELECT p.workspace_id, p.id, p.state, max(p.since_sequence, coalesce((SELECT c.sequence FROM cursors AS c
          WHERE c.workspace_id = p.workspace_id AND c.consumer = 'plugins'), 0)) AS stands
        FROM plugins AS p WHERE p.deleted_at IS NULL) AS installs
  WHERE state <> 'active' OR EXISTS (SELECT 1 FROM runs AS r WHERE r.workspace_id = installs.workspace_id AND r.install_id = installs.id
    AND r.status = 'dead' AND json_extract(r.error_json, '$.code') = 'plugin_inactive');
INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
  SELECT workspace_id, id, 'catch-up', install_id, CASE status WHEN 'counting' THEN 0 ELSE 8640000000000000 END, 0, NULL, 1
  FROM plugin_gaps;
