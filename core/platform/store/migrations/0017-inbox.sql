-- What people say of comments and issues, who follows an issue, and what each member is told.
ALTER TABLE comments ADD COLUMN mention_ids_json TEXT NOT NULL DEFAULT '[]';
ALTER TABLE comments ADD COLUMN edited_at INTEGER;

CREATE TABLE reactions (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  -- The comment, or the issue itself.
  issue_id TEXT NOT NULL, subject_id TEXT NOT NULL, emoji TEXT NOT NULL,
  actor_kind TEXT NOT NULL, actor_id TEXT NOT NULL, actor_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX reactions_one ON reactions (workspace_id, subject_id, emoji, actor_id) WHERE deleted_at IS NULL;
CREATE INDEX reactions_issue ON reactions (workspace_id, issue_id);
-- system: what was taken back goes after a while, in all workspaces.
CREATE INDEX reactions_deleted ON reactions (deleted_at) WHERE deleted_at IS NOT NULL;

-- Whoever made an issue follows it without a row; a row that is muted says that somebody does not want to.
CREATE TABLE subscribers (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  issue_id TEXT NOT NULL, member_id TEXT NOT NULL, reason TEXT NOT NULL, muted INTEGER NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX subscribers_one ON subscribers (workspace_id, issue_id, member_id);

CREATE TABLE inbox_items (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  member_id TEXT NOT NULL, reason TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
  target_json TEXT NOT NULL, issue_id TEXT, issue_json TEXT, actor_kind TEXT, actor_id TEXT, actor_name TEXT,
  count INTEGER NOT NULL, happened_at INTEGER NOT NULL,
  read_at INTEGER, archived_at INTEGER, snoozed_until INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_items_newest ON inbox_items (workspace_id, member_id, happened_at, id);
CREATE INDEX inbox_items_unread ON inbox_items (workspace_id, member_id, issue_id, reason)
  WHERE read_at IS NULL AND archived_at IS NULL;
CREATE INDEX inbox_items_issue ON inbox_items (workspace_id, issue_id) WHERE issue_id IS NOT NULL;
-- system: what was archived goes after a while, in all workspaces.
CREATE INDEX inbox_items_archived ON inbox_items (archived_at) WHERE archived_at IS NOT NULL;

-- By the id of the member.
CREATE TABLE inbox_preferences (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, off_json TEXT NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;

INSERT INTO cursors (workspace_id, consumer, sequence)
SELECT workspace_id, 'reaction inbox', max(sequence) FROM events GROUP BY workspace_id;
