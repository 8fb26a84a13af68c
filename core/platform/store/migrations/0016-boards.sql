-- Boards, and the ranks of the cards that somebody put in their place. Of all others the order follows from their creation.
CREATE TABLE boards (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, team_id TEXT, group_by TEXT NOT NULL, swimlanes TEXT, sort TEXT NOT NULL, limits TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  filter_json TEXT NOT NULL, columns_json TEXT, description TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX boards_created ON boards (workspace_id, created_at, id);

CREATE TABLE board_cards (
  workspace_id TEXT NOT NULL, board_id TEXT NOT NULL, issue_id TEXT NOT NULL, rank TEXT NOT NULL,
  PRIMARY KEY (workspace_id, board_id, issue_id),
  FOREIGN KEY (workspace_id, board_id) REFERENCES boards (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- Who puts two cards in one place at once has lost a race.
CREATE UNIQUE INDEX board_cards_rank ON board_cards (workspace_id, board_id, rank);
CREATE INDEX board_cards_issue ON board_cards (workspace_id, issue_id);

-- Boards count by these. SQLite asks a row for each column that a statement names, also for the one of which the index says that it is
-- null, and to go to each row costs ten times as much: so the index has it.
DROP INDEX issues_state;
CREATE INDEX issues_state ON issues (workspace_id, state_id, created_at, id, deleted_at) WHERE deleted_at IS NULL;
DROP INDEX issues_priority;
CREATE INDEX issues_priority ON issues (workspace_id, priority, created_at, id, deleted_at) WHERE deleted_at IS NULL;

-- Filters, sorts and layouts that people keep, for themselves or for all.
CREATE TABLE views (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, sort TEXT, layout TEXT NOT NULL, group_by TEXT, visibility TEXT NOT NULL,
  owner_kind TEXT NOT NULL, owner_id TEXT NOT NULL, owner_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  filter_json TEXT NOT NULL, description TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX views_created ON views (workspace_id, created_at, id);
