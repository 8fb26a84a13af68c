-- What lists of issues are filtered by, in the order they come in. Only what is there is in those of projects and parents.
CREATE INDEX issues_priority ON issues (workspace_id, priority, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_creator ON issues (workspace_id, creator_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_project ON issues (workspace_id, project_id, created_at, id) WHERE deleted_at IS NULL AND project_id IS NOT NULL;
DROP INDEX issues_parent;
CREATE INDEX issues_parent ON issues (workspace_id, parent_id, created_at, id) WHERE deleted_at IS NULL AND parent_id IS NOT NULL;

-- With the issue's time, which never changes, the issues of a label come in the order of lists.
DROP INDEX issue_labels_label;
ALTER TABLE issue_labels ADD COLUMN created_at INTEGER NOT NULL DEFAULT 0;
UPDATE issue_labels SET created_at = (SELECT i.created_at FROM issues AS i
  WHERE i.workspace_id = issue_labels.workspace_id AND i.id = issue_labels.issue_id);
CREATE INDEX issue_labels_label ON issue_labels (workspace_id, label_id, created_at, issue_id);
