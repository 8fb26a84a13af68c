-- Who resolved a thread, as authors are kept: of which kind, and by the name of then.
ALTER TABLE comments RENAME COLUMN resolved_by TO resolved_by_id;
ALTER TABLE comments ADD COLUMN resolved_by_kind TEXT;
ALTER TABLE comments ADD COLUMN resolved_by_name TEXT;
UPDATE comments SET
  resolved_by_kind = CASE substr(resolved_by_id, 1, 4) WHEN 'usr_' THEN 'user' WHEN 'plg_' THEN 'plugin' ELSE 'system' END,
  resolved_by_name = coalesce(
    (SELECT m.name FROM members AS m WHERE m.workspace_id = comments.workspace_id AND m.id = resolved_by_id),
    (SELECT p.plugin_id FROM plugins AS p WHERE p.workspace_id = comments.workspace_id AND p.id = resolved_by_id),
    resolved_by_id)
  WHERE resolved_by_id IS NOT NULL;

-- Deleted issues, in the order of lists.
CREATE INDEX issues_trash ON issues (workspace_id, created_at, id) WHERE deleted_at IS NOT NULL;

-- Labels that were deleted are not on issues any more: a later deletion takes them away and tells it.
DELETE FROM issue_labels WHERE EXISTS
  (SELECT 1 FROM labels AS l WHERE l.workspace_id = issue_labels.workspace_id AND l.id = issue_labels.label_id AND l.deleted_at IS NOT NULL);
