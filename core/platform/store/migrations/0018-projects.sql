-- Projects: who works on them, how they look, and that they were put away.
ALTER TABLE projects ADD COLUMN icon TEXT;
ALTER TABLE projects ADD COLUMN color TEXT;
ALTER TABLE projects ADD COLUMN members_json TEXT NOT NULL DEFAULT '[]';
ALTER TABLE projects ADD COLUMN archived_at INTEGER;

CREATE TABLE project_updates (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  project_id TEXT NOT NULL, health TEXT NOT NULL,
  author_kind TEXT NOT NULL, author_id TEXT NOT NULL, author_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  body TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_updates_project ON project_updates (workspace_id, project_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX project_updates_gone ON project_updates (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE milestones (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  project_id TEXT NOT NULL, name TEXT NOT NULL, target_date TEXT, position REAL NOT NULL, completed_at INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  description TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX milestones_project ON milestones (workspace_id, project_id, position, id) WHERE deleted_at IS NULL;
CREATE INDEX milestones_gone ON milestones (deleted_at) WHERE deleted_at IS NOT NULL;

-- Of the issue's project, and there: each change that names one checks it (core/tracker/issues/kind.ts).
ALTER TABLE issues ADD COLUMN milestone_id TEXT;
CREATE INDEX issues_milestone ON issues (workspace_id, milestone_id, created_at, id) WHERE deleted_at IS NULL AND milestone_id IS NOT NULL;

CREATE TABLE pipelines (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, type TEXT NOT NULL, stages_json TEXT NOT NULL, team_id TEXT, repository TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pipelines_created ON pipelines (workspace_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX pipelines_gone ON pipelines (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE releases (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  pipeline_id TEXT NOT NULL, name TEXT NOT NULL, tag TEXT NOT NULL, stage TEXT NOT NULL, status TEXT NOT NULL,
  target_date TEXT, published_at INTEGER, rolled_back_at INTEGER, rollback_reason TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  issue_ids_json TEXT NOT NULL, notes TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, pipeline_id) REFERENCES pipelines (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX releases_tag ON releases (workspace_id, pipeline_id, tag) WHERE deleted_at IS NULL;
CREATE INDEX releases_created ON releases (workspace_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX releases_pipeline ON releases (workspace_id, pipeline_id, created_at, id);
CREATE INDEX releases_gone ON releases (deleted_at) WHERE deleted_at IS NOT NULL;

-- By it the issues of a release are listed; what a release says of them stands in its row.
CREATE TABLE release_issues (
  workspace_id TEXT NOT NULL, release_id TEXT NOT NULL, issue_id TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, release_id, issue_id),
  FOREIGN KEY (workspace_id, release_id) REFERENCES releases (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_issues_listed ON release_issues (workspace_id, release_id, created_at, issue_id);
CREATE INDEX release_issues_issue ON release_issues (workspace_id, issue_id);

-- What happened before there were milestones means nothing to them.
INSERT INTO cursors (workspace_id, consumer, sequence)
  SELECT workspace_id, 'reaction milestone', max(sequence) FROM events GROUP BY workspace_id;
