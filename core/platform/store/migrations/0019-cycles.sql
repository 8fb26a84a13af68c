-- Cycles. A team has a zone, and perhaps a rhythm by which its cycles are made.
ALTER TABLE teams ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';
ALTER TABLE teams ADD COLUMN cycles_json TEXT;

CREATE TABLE cycles (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  team_id TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
  starts_at INTEGER NOT NULL, ends_at INTEGER NOT NULL,
  status TEXT NOT NULL, started_at INTEGER, completed_at INTEGER,
  -- Of a completed one: since when none of its unfinished issues waits to be moved on.
  settled_at INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX cycles_number ON cycles (workspace_id, team_id, number);
CREATE UNIQUE INDEX cycles_active ON cycles (workspace_id, team_id) WHERE status = 'active';
CREATE INDEX cycles_start ON cycles (workspace_id, starts_at, id);
CREATE INDEX cycles_team_start ON cycles (workspace_id, team_id, starts_at, id) WHERE deleted_at IS NULL;
-- Those for which something is still to happen: few, however many there were.
CREATE INDEX cycles_open ON cycles (workspace_id, team_id) WHERE settled_at IS NULL AND deleted_at IS NULL;

-- The issues that ever were in a cycle, by their id; and where they were moved when it was completed, null where to none.
CREATE TABLE cycle_issues (
  workspace_id TEXT NOT NULL, cycle_id TEXT NOT NULL, id TEXT NOT NULL,
  rolled_at INTEGER, rolled_to TEXT,
  PRIMARY KEY (workspace_id, cycle_id, id),
  FOREIGN KEY (workspace_id, cycle_id) REFERENCES cycles (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cycle_issues_rolled ON cycle_issues (workspace_id, cycle_id, rolled_at, id) WHERE rolled_at IS NOT NULL;

ALTER TABLE issues ADD COLUMN cycle_id TEXT;
CREATE INDEX issues_cycle ON issues (workspace_id, cycle_id, created_at, id) WHERE deleted_at IS NULL AND cycle_id IS NOT NULL;
