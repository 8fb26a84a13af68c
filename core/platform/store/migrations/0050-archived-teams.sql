-- A team that is archived takes no new issues; null for others.
ALTER TABLE teams ADD COLUMN archived_at INTEGER;
-- Deleted projects keep their row, which issues and milestones refer to.
ALTER TABLE projects ADD COLUMN deleted_at INTEGER;

-- Words that end in signs (C++, C#) and emoji are words of their own now: texts that may hold one are indexed again in the background.
INSERT INTO search_pending (workspace_id, id, revision)
SELECT workspace_id, id, 1 FROM issues
WHERE deleted_at IS NULL
  AND (title || ' ' || description GLOB '*[a-zA-Z0-9][+#]*'
    OR length(CAST(title || description AS BLOB)) <> length(title || description))
ON CONFLICT DO UPDATE SET revision = revision + 1;
INSERT INTO search_pending (workspace_id, id, revision)
SELECT workspace_id, id, 1 FROM comments
WHERE deleted_at IS NULL AND (body GLOB '*[a-zA-Z0-9][+#]*' OR length(CAST(body AS BLOB)) <> length(body))
ON CONFLICT DO UPDATE SET revision = revision + 1;
