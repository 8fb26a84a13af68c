-- Schema of the baseline server, frozen on 2026-11-28: the tables that Tatami then wrote for a creation, with their
-- indexes. It never follows Tatami's schema; otherwise a new index would slow both sides and remain unnoticed.
CREATE TABLE workspaces (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE teams (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  key TEXT NOT NULL, name TEXT NOT NULL, transitions_json TEXT,
  issue_count INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  triage TEXT NOT NULL DEFAULT 'off', time_zone TEXT NOT NULL DEFAULT 'UTC',
  cycles_json TEXT,
  archived_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, workspace_id) REFERENCES workspaces (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX teams_key ON teams (workspace_id, key);
CREATE TABLE states (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE members (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE projects (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE issues (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  team_id TEXT NOT NULL, number INTEGER NOT NULL, title TEXT NOT NULL, state_id TEXT NOT NULL,
  priority INTEGER NOT NULL,
  assignee_id TEXT, creator_kind TEXT NOT NULL, creator_id TEXT NOT NULL, creator_name TEXT NOT NULL,
  project_id TEXT, parent_id TEXT, estimate REAL, due_date TEXT, external_source TEXT, external_id TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  sub_order TEXT,
  snoozed_until INTEGER,
  fields_json TEXT,
  milestone_id TEXT,
  cycle_id TEXT,
  sla_due_at INTEGER NOT NULL DEFAULT 8640000000000000,
  started_at INTEGER,
  completed_at INTEGER, canceled_at INTEGER,
  description TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id),
  FOREIGN KEY (workspace_id, state_id) REFERENCES states (workspace_id, id),
  FOREIGN KEY (workspace_id, assignee_id) REFERENCES members (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id),
  FOREIGN KEY (workspace_id, parent_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX issues_number ON issues (workspace_id, team_id, number);
CREATE UNIQUE INDEX issues_external ON issues (workspace_id, external_source, external_id)
  WHERE external_id IS NOT NULL;
CREATE INDEX issues_created ON issues (workspace_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_updated ON issues (workspace_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_team ON issues (workspace_id, team_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_assignee ON issues (workspace_id, assignee_id, created_at, id)
  WHERE deleted_at IS NULL AND assignee_id IS NOT NULL;
CREATE INDEX issues_creator ON issues (workspace_id, creator_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_project ON issues (workspace_id, project_id, created_at, id)
  WHERE deleted_at IS NULL AND project_id IS NOT NULL;
CREATE INDEX issues_parent ON issues (workspace_id, parent_id, created_at, id)
  WHERE deleted_at IS NULL AND parent_id IS NOT NULL;
CREATE INDEX issues_deleted ON issues (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX issues_children ON issues (workspace_id, parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX issues_trash ON issues (workspace_id, created_at, id) WHERE deleted_at IS NOT NULL;
CREATE INDEX issues_sub_order ON issues (workspace_id, parent_id, sub_order, id)
  WHERE deleted_at IS NULL AND parent_id IS NOT NULL;
CREATE INDEX issues_state ON issues (workspace_id, state_id, created_at, id, deleted_at)
  WHERE deleted_at IS NULL;
CREATE INDEX issues_priority ON issues (workspace_id, priority, created_at, id, deleted_at)
  WHERE deleted_at IS NULL;
CREATE INDEX issues_milestone ON issues (workspace_id, milestone_id, created_at, id)
  WHERE deleted_at IS NULL AND milestone_id IS NOT NULL;
CREATE INDEX issues_cycle ON issues (workspace_id, cycle_id, created_at, id)
  WHERE deleted_at IS NULL AND cycle_id IS NOT NULL;
CREATE INDEX issues_sla_due ON issues (workspace_id, sla_due_at, id) WHERE deleted_at IS NULL;
CREATE TABLE issue_labels (
  workspace_id TEXT NOT NULL, issue_id TEXT NOT NULL, label_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, issue_id, label_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE search_pending (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  revision INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  workspace_id TEXT NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL,
  type TEXT NOT NULL,
  created_at INTEGER NOT NULL, entity_type TEXT NOT NULL, entity_id TEXT NOT NULL, issue_id TEXT,
  number INTEGER,
  actor_json TEXT NOT NULL, cause_json TEXT NOT NULL, request_id TEXT, traceparent TEXT,
  data_json TEXT NOT NULL,
  packed BLOB,
  PRIMARY KEY (workspace_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_id ON events (workspace_id, id);
CREATE INDEX events_issue ON events (workspace_id, issue_id, sequence) WHERE issue_id IS NOT NULL;
CREATE INDEX events_inbox ON events (workspace_id, sequence) WHERE type = 'inbox.item_created';
CREATE INDEX events_object ON events (workspace_id, entity_type, entity_id, sequence) WHERE issue_id IS NULL;
