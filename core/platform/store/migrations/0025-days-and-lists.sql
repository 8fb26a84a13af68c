-- The issues that ever were in a project, by their id: its progress by day is read from the log of these. What had left a project before
-- this was kept is not known.
CREATE TABLE project_issues (
  workspace_id TEXT NOT NULL, project_id TEXT NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, project_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO project_issues (workspace_id, project_id, id)
  SELECT workspace_id, project_id, id FROM issues WHERE project_id IS NOT NULL;

-- The clocks that count, what is due first at the beginning and what is paused at the end; and those in a state, also long ago.
CREATE INDEX sla_clocks_due ON sla_clocks (workspace_id, coalesce(due_at, 9e15), id) WHERE ended_at IS NULL;
CREATE INDEX sla_clocks_state ON sla_clocks (workspace_id, state, coalesce(due_at, 9e15), id);

-- What issues of a template say in custom fields, by id of the field.
ALTER TABLE templates ADD COLUMN fields_json TEXT NOT NULL DEFAULT '{}';
