-- Attachments of issues: links, and files whose contents lie in `blobs/`.
CREATE TABLE attachments (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, issue_id TEXT NOT NULL,
  kind TEXT NOT NULL, title TEXT NOT NULL, url TEXT, content_type TEXT, bytes INTEGER, sha256 TEXT,
  creator_kind TEXT NOT NULL, creator_id TEXT NOT NULL, creator_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachments_issue ON attachments (workspace_id, issue_id, created_at, id);
CREATE INDEX attachments_deleted ON attachments (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX attachments_blob ON attachments (sha256) WHERE deleted_at IS NULL AND sha256 IS NOT NULL;

-- What the files of a workspace take. It grows where one is added, which may be refused, and shrinks with every row that goes.
CREATE TABLE attachment_usage (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER attachments_deleted_usage AFTER UPDATE OF deleted_at ON attachments
  WHEN old.deleted_at IS NULL AND new.deleted_at IS NOT NULL AND old.bytes IS NOT NULL
BEGIN
  UPDATE attachment_usage SET bytes = bytes - old.bytes WHERE workspace_id = old.workspace_id;
END;
CREATE TRIGGER attachments_removed_usage AFTER DELETE ON attachments
  WHEN old.deleted_at IS NULL AND old.bytes IS NOT NULL
BEGIN
  UPDATE attachment_usage SET bytes = bytes - old.bytes WHERE workspace_id = old.workspace_id;
END;
