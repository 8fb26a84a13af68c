-- Relations between issues, each stored once: its other side is derived.
CREATE TABLE relations (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  -- blocks, duplicate_of or relates_to, as from_id is to issue_id; of relates_to, the lesser id comes first.
  from_id TEXT NOT NULL, type TEXT NOT NULL, issue_id TEXT NOT NULL,
  creator_kind TEXT NOT NULL, creator_id TEXT NOT NULL, creator_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, from_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX relations_pair ON relations (workspace_id, from_id, type, issue_id) WHERE deleted_at IS NULL;
-- An issue is a duplicate of one other.
CREATE UNIQUE INDEX relations_original ON relations (workspace_id, from_id) WHERE type = 'duplicate_of' AND deleted_at IS NULL;
CREATE INDEX relations_from ON relations (workspace_id, from_id, created_at, id);
CREATE INDEX relations_issue ON relations (workspace_id, issue_id, created_at, id);
CREATE INDEX relations_deleted ON relations (deleted_at) WHERE deleted_at IS NOT NULL;

-- What issues were called before they moved to another team.
CREATE TABLE former_identifiers (
  workspace_id TEXT NOT NULL, team_id TEXT NOT NULL, number INTEGER NOT NULL, issue_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, team_id, number),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX former_identifiers_issue ON former_identifiers (workspace_id, issue_id);

-- The rank of an issue among those of its parent: at first that of its id, which goes by time.
ALTER TABLE issues ADD COLUMN sub_order TEXT;
UPDATE issues SET sub_order = 'm' || substr(id, 5, 13) WHERE parent_id IS NOT NULL;
CREATE INDEX issues_sub_order ON issues (workspace_id, parent_id, sub_order, id) WHERE deleted_at IS NULL AND parent_id IS NOT NULL;
ALTER TABLE issues ADD COLUMN snoozed_until INTEGER;

ALTER TABLE teams ADD COLUMN triage TEXT NOT NULL DEFAULT 'off';

CREATE TABLE templates (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, team_id TEXT, title TEXT, description TEXT NOT NULL, priority TEXT NOT NULL,
  assignee_id TEXT, project_id TEXT, labels_json TEXT NOT NULL, estimate REAL, sub_issues_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id),
  FOREIGN KEY (workspace_id, assignee_id) REFERENCES members (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX templates_created ON templates (workspace_id, created_at, id);
CREATE INDEX templates_deleted ON templates (deleted_at) WHERE deleted_at IS NOT NULL;
