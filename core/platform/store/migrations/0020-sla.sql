-- Service levels: when people work, what is promised of which issues, and the clocks that count it.
CREATE TABLE calendars (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, time_zone TEXT NOT NULL, hours_json TEXT NOT NULL, holidays_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX calendars_created ON calendars (workspace_id, created_at, id);

CREATE TABLE sla_policies (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, kind TEXT NOT NULL, enabled INTEGER NOT NULL, position INTEGER NOT NULL,
  filter_json TEXT NOT NULL, target_minutes INTEGER NOT NULL, at_risk_minutes INTEGER, calendar_id TEXT,
  paused_in_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, calendar_id) REFERENCES calendars (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sla_policies_position ON sla_policies (workspace_id, position, id);
CREATE INDEX sla_policies_calendar ON sla_policies (workspace_id, calendar_id) WHERE calendar_id IS NOT NULL;

CREATE TABLE sla_clocks (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  issue_id TEXT NOT NULL, kind TEXT NOT NULL, policy_id TEXT NOT NULL, state TEXT NOT NULL,
  started_at INTEGER NOT NULL, due_at INTEGER, at_risk_at INTEGER,
  -- Since when it counts, of one that was paused before; of one that is paused, since when it does not, and what is left.
  counted_from INTEGER NOT NULL, paused_at INTEGER, remaining_ms INTEGER,
  reached_at INTEGER, ended_at INTEGER,
  -- The last event of its issue that it has heeded.
  sequence INTEGER NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, policy_id) REFERENCES sla_policies (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sla_clocks_issue ON sla_clocks (workspace_id, issue_id, created_at, id);
-- An issue has one clock of each kind that goes.
CREATE UNIQUE INDEX sla_clocks_open ON sla_clocks (workspace_id, issue_id, kind) WHERE ended_at IS NULL;
CREATE INDEX sla_clocks_policy ON sla_clocks (workspace_id, policy_id) WHERE ended_at IS NULL;

-- What is due soonest comes first. What is never due has the last moment there is, so that it comes last, and pages go by the index.
ALTER TABLE issues ADD COLUMN sla_due_at INTEGER NOT NULL DEFAULT 8640000000000000;
CREATE INDEX issues_sla_due ON issues (workspace_id, sla_due_at, id) WHERE deleted_at IS NULL;

-- What happened before there were policies starts no clock.
INSERT INTO cursors (workspace_id, consumer, sequence)
  SELECT workspace_id, 'reaction sla', max(sequence) FROM events GROUP BY workspace_id;
