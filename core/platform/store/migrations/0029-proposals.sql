-- Writes that wait for approval, and what becomes of the writes of a plugin by their class.
ALTER TABLE plugins ADD COLUMN modes_json TEXT NOT NULL DEFAULT '{}';
-- The proposal that holds what a run would have written.
ALTER TABLE runs ADD COLUMN proposal_id TEXT;

CREATE TABLE proposals (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  status TEXT NOT NULL, source TEXT NOT NULL, title TEXT NOT NULL,
  author_kind TEXT NOT NULL, author_id TEXT NOT NULL, author_name TEXT NOT NULL,
  install_id TEXT, run_id TEXT, revision INTEGER NOT NULL,
  -- Whoever its events name, and why they happen.
  actor_json TEXT NOT NULL, cause_json TEXT,
  -- What is shown of it, the issues that this is about, and the writes as they were asked, sealed.
  diff_json TEXT NOT NULL, issue_ids_json TEXT NOT NULL, writes_sealed_json TEXT NOT NULL,
  decided_by_kind TEXT, decided_by_id TEXT, decided_by_name TEXT, decided_at INTEGER, reason TEXT,
  events_json TEXT NOT NULL, expires_at INTEGER NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposals_created ON proposals (workspace_id, created_at, id);
CREATE INDEX proposals_status ON proposals (workspace_id, status, created_at, id);
CREATE INDEX proposals_install ON proposals (workspace_id, install_id, created_at, id);
CREATE INDEX proposals_author ON proposals (workspace_id, author_id, created_at, id);
-- system: what was decided goes after a while, in all workspaces.
CREATE INDEX proposals_decided ON proposals (decided_at) WHERE decided_at IS NOT NULL;

-- The items that tell of a proposal, which go when it is decided.
CREATE INDEX inbox_items_proposal ON inbox_items (workspace_id, target_json)
  WHERE reason = 'proposal' AND archived_at IS NULL;
