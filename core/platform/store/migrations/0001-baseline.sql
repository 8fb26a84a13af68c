-- Tables of a workspace are STRICT, WITHOUT ROWID and have workspace_id first in their key; so do their
-- indexes, except those marked "system", which serve all workspaces. Times are milliseconds since the epoch,
-- UTC. JSON columns are named *_json.

-- # Installation and schema

CREATE TABLE migrations (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
) STRICT;

-- Position and hash of the last commit, which the log head file must match.
CREATE TABLE log_head (
  id INTEGER PRIMARY KEY CHECK (id = 1), position INTEGER NOT NULL, hash TEXT NOT NULL
) STRICT;
INSERT INTO log_head VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');

-- One row for the whole installation.
CREATE TABLE installation (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- Retained by a restore.
  name TEXT NOT NULL,
  -- Log generation: a restore starts another one, in which sequences after the cut are other events.
  generation TEXT NOT NULL,
  -- Fingerprint of the master key; null until a start that knows it.
  key_fingerprint TEXT,
  -- Time since which webhooks and schedules wait for the operator; null if they run.
  paused_at INTEGER,
  -- API key of the first start, as `<workspace>/<key>`, until it was shown: the next start completes a killed
  -- one.
  first_key TEXT,
  -- Open problems that all workspaces were notified of: `[name, since]`.
  reported_problems TEXT NOT NULL DEFAULT '[]'
) STRICT;
INSERT INTO installation (id, name, generation) VALUES (1, lower(hex(randomblob(16))), lower(hex(randomblob(8))));

-- Where a restore started another log generation of a workspace: events after `after_sequence` of the
-- previous generation are not part of it.
CREATE TABLE log_cuts (
  workspace_id TEXT NOT NULL, number INTEGER NOT NULL, generation TEXT NOT NULL,
  after_sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, number)
) STRICT, WITHOUT ROWID;

-- Wall-clock time at which the due times of an entity of work were last adjusted; an earlier time at start
-- shows that the clock was set back.
CREATE TABLE wall_clock (kind TEXT PRIMARY KEY, seen_at INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- # Workspaces and members

CREATE TABLE workspaces (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL CHECK (id = workspace_id),
  name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  -- Teams whose issues are shown to the public as duplicates; null for none.
  public_triage_json TEXT,
  -- Actions of agents that need approval, in addition to those of the consent.
  guarded_json TEXT NOT NULL DEFAULT '["delete","bulk","finish","others"]',
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, email TEXT, role TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  -- Time at which an account accepted the invitation; null until then.
  joined_at INTEGER,
  -- Ids of the teams that a guest sees; empty for other roles.
  teams_json TEXT NOT NULL DEFAULT '[]',
  -- Normal form of the address.
  email_key TEXT,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, workspace_id) REFERENCES workspaces (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX members_email ON members (workspace_id, email_key)
  WHERE email_key IS NOT NULL AND deleted_at IS NULL;
CREATE TRIGGER members_end_once BEFORE UPDATE OF deleted_at ON members
  WHEN old.deleted_at IS NOT NULL AND new.deleted_at IS NOT old.deleted_at
  BEGIN SELECT raise(ABORT, 'a removed member stays removed'); END;

-- # Teams, states and labels

CREATE TABLE teams (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  key TEXT NOT NULL, name TEXT NOT NULL, transitions_json TEXT,
  -- Changed only by the creation of an issue, never by an update of the team.
  issue_count INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  triage TEXT NOT NULL DEFAULT 'off', time_zone TEXT NOT NULL DEFAULT 'UTC',
  -- Schedule by which cycles are created; null for none.
  cycles_json TEXT,
  -- An archived team takes no new issues.
  archived_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, workspace_id) REFERENCES workspaces (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX teams_key ON teams (workspace_id, key);

CREATE TABLE states (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  team_id TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, position INTEGER NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX states_name ON states (workspace_id, team_id, lower(name)) WHERE deleted_at IS NULL;

CREATE TABLE labels (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  team_id TEXT, name TEXT NOT NULL, color TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX labels_name ON labels (workspace_id, coalesce(team_id, ''), lower(name))
  WHERE deleted_at IS NULL;

-- # Projects, milestones and releases

CREATE TABLE projects (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, description TEXT NOT NULL, status TEXT NOT NULL, health TEXT, lead_id TEXT,
  start_date TEXT, target_date TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, icon TEXT, color TEXT,
  members_json TEXT NOT NULL DEFAULT '[]', archived_at INTEGER,
  -- Deleted projects retain their row, to which issues and milestones refer.
  deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, lead_id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX projects_created ON projects (workspace_id, created_at, id);

CREATE TABLE project_updates (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  project_id TEXT NOT NULL, health TEXT NOT NULL, author_kind TEXT NOT NULL, author_id TEXT NOT NULL,
  author_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  body TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX project_updates_project ON project_updates (workspace_id, project_id, created_at, id)
  WHERE deleted_at IS NULL;
-- system: retention.
CREATE INDEX project_updates_deleted ON project_updates (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE milestones (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  project_id TEXT NOT NULL, name TEXT NOT NULL, target_date TEXT, position REAL NOT NULL,
  completed_at INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  description TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX milestones_project ON milestones (workspace_id, project_id, position, id)
  WHERE deleted_at IS NULL;
-- system: retention.
CREATE INDEX milestones_deleted ON milestones (deleted_at) WHERE deleted_at IS NOT NULL;

-- Issues that were ever in a project; the progress by day is read from their events.
CREATE TABLE project_issues (
  workspace_id TEXT NOT NULL, project_id TEXT NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, project_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE pipelines (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, type TEXT NOT NULL, stages_json TEXT NOT NULL, team_id TEXT, repository TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX pipelines_created ON pipelines (workspace_id, created_at, id) WHERE deleted_at IS NULL;
-- system: retention.
CREATE INDEX pipelines_deleted ON pipelines (deleted_at) WHERE deleted_at IS NOT NULL;

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
-- system: retention.
CREATE INDEX releases_deleted ON releases (deleted_at) WHERE deleted_at IS NOT NULL;

-- Index of the issues of a release; the row of the release is authoritative.
CREATE TABLE release_issues (
  workspace_id TEXT NOT NULL, release_id TEXT NOT NULL, issue_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, release_id, issue_id),
  FOREIGN KEY (workspace_id, release_id) REFERENCES releases (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX release_issues_listed ON release_issues (workspace_id, release_id, created_at, issue_id);
CREATE INDEX release_issues_issue ON release_issues (workspace_id, issue_id);

-- # Issues

CREATE TABLE issues (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  team_id TEXT NOT NULL, number INTEGER NOT NULL, title TEXT NOT NULL, state_id TEXT NOT NULL,
  -- 0 urgent, 1 high, 2 medium, 3 low, 4 none: an ascending sort puts the most urgent first and none last.
  priority INTEGER NOT NULL,
  assignee_id TEXT, creator_kind TEXT NOT NULL, creator_id TEXT NOT NULL, creator_name TEXT NOT NULL,
  project_id TEXT, parent_id TEXT, estimate REAL, due_date TEXT, external_source TEXT, external_id TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  -- Rank among the sub-issues of the parent.
  sub_order TEXT,
  snoozed_until INTEGER,
  -- Values of custom fields by field id, so that a renamed field keeps its values.
  fields_json TEXT,
  -- Milestone of the issue's project; each change that sets it is checked.
  milestone_id TEXT,
  cycle_id TEXT,
  -- The highest possible time if nothing is due, so that pages follow the index.
  sla_due_at INTEGER NOT NULL DEFAULT 8640000000000000,
  -- Times at which the issue was started, completed and canceled; null otherwise.
  started_at INTEGER,
  completed_at INTEGER, canceled_at INTEGER,
  -- Last, because columns after a long text are on its overflow pages.
  description TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id),
  FOREIGN KEY (workspace_id, state_id) REFERENCES states (workspace_id, id),
  FOREIGN KEY (workspace_id, assignee_id) REFERENCES members (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id),
  FOREIGN KEY (workspace_id, parent_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- A creation without parent, project, cycle and external id writes eight of these indexes. Each serves a list
-- of docs/spec/api.md, which test/api/list-plans.test.ts checks by name, or the reads below.

-- Identifiers such as ENG-7, current and former.
CREATE UNIQUE INDEX issues_number ON issues (workspace_id, team_id, number);
-- Issues by external id, which are unique.
CREATE UNIQUE INDEX issues_external ON issues (workspace_id, external_source, external_id)
  WHERE external_id IS NOT NULL;
-- Newest first, `sort=createdAt`, and filters by creation time.
CREATE INDEX issues_created ON issues (workspace_id, created_at, id) WHERE deleted_at IS NULL;
-- `sort=updatedAt` and `updatedSince`, by which clients synchronize.
CREATE INDEX issues_updated ON issues (workspace_id, updated_at, id) WHERE deleted_at IS NULL;
-- `team=`, and the issues of a team that wake from a snooze.
CREATE INDEX issues_team ON issues (workspace_id, team_id, created_at, id) WHERE deleted_at IS NULL;
-- `assignee=`.
CREATE INDEX issues_assignee ON issues (workspace_id, assignee_id, created_at, id)
  WHERE deleted_at IS NULL AND assignee_id IS NOT NULL;
-- Filter by creator.
CREATE INDEX issues_creator ON issues (workspace_id, creator_id, created_at, id) WHERE deleted_at IS NULL;
-- Filter by project.
CREATE INDEX issues_project ON issues (workspace_id, project_id, created_at, id)
  WHERE deleted_at IS NULL AND project_id IS NOT NULL;
-- `parent=`.
CREATE INDEX issues_parent ON issues (workspace_id, parent_id, created_at, id)
  WHERE deleted_at IS NULL AND parent_id IS NOT NULL;
-- system: retention.
CREATE INDEX issues_deleted ON issues (deleted_at) WHERE deleted_at IS NOT NULL;
-- Includes deleted issues, for the checks of foreign keys.
CREATE INDEX issues_children ON issues (workspace_id, parent_id) WHERE parent_id IS NOT NULL;
-- `deleted=only`.
CREATE INDEX issues_trash ON issues (workspace_id, created_at, id) WHERE deleted_at IS NOT NULL;
-- `sort=subOrder` of a parent, and the neighbors of a sub-issue.
CREATE INDEX issues_sub_order ON issues (workspace_id, parent_id, sub_order, id)
  WHERE deleted_at IS NULL AND parent_id IS NOT NULL;
-- `state=`, and the counts of boards from the index alone.
CREATE INDEX issues_state ON issues (workspace_id, state_id, created_at, id, deleted_at)
  WHERE deleted_at IS NULL;
-- `priority=`, `sort=priority`, and the counts of boards from the index alone.
CREATE INDEX issues_priority ON issues (workspace_id, priority, created_at, id, deleted_at)
  WHERE deleted_at IS NULL;
-- Progress of milestones.
CREATE INDEX issues_milestone ON issues (workspace_id, milestone_id, created_at, id)
  WHERE deleted_at IS NULL AND milestone_id IS NOT NULL;
-- `cycle=`, and the issues that a cycle leaves.
CREATE INDEX issues_cycle ON issues (workspace_id, cycle_id, created_at, id)
  WHERE deleted_at IS NULL AND cycle_id IS NOT NULL;
-- `sort=slaDueAt`; not partial, because issues without a due time follow the others in one order.
CREATE INDEX issues_sla_due ON issues (workspace_id, sla_due_at, id) WHERE deleted_at IS NULL;

CREATE TABLE issue_labels (
  workspace_id TEXT NOT NULL, issue_id TEXT NOT NULL, label_id TEXT NOT NULL,
  -- Creation time of the issue, so that the issues of a label come in the order of lists.
  created_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, issue_id, label_id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, label_id) REFERENCES labels (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_labels_label ON issue_labels (workspace_id, label_id, created_at, issue_id);

-- Identifiers of issues before they moved to another team. Rows outlive a purged issue, so that its events
-- can be read by them.
CREATE TABLE former_identifiers (
  workspace_id TEXT NOT NULL, team_id TEXT NOT NULL, number INTEGER NOT NULL, issue_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, team_id, number),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX former_identifiers_issue ON former_identifiers (workspace_id, issue_id);

-- Version of each order whose objects are placed by their neighbors: cards of a board, sub-issues, positions
-- of a list. A change that places an object commits only at the version that it read.
CREATE TABLE order_versions (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- Purged issues whose remains in proposals, runs, recordings, undo changes and reports are still to be
-- removed.
CREATE TABLE purged_issues (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  -- Creation time of the issue; older data does not refer to it.
  created_at INTEGER NOT NULL,
  -- Time of the second search, which finds what work in flight wrote after the first; 0 before the first.
  recheck_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE comments (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  issue_id TEXT NOT NULL, parent_id TEXT, author_kind TEXT NOT NULL, author_id TEXT NOT NULL,
  author_name TEXT NOT NULL, resolved_at INTEGER, resolved_by_id TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  -- Entity and name of the resolver at that time, as for authors.
  resolved_by_kind TEXT,
  resolved_by_name TEXT, mention_ids_json TEXT NOT NULL DEFAULT '[]', edited_at INTEGER,
  -- Last, because columns after a long text are on its overflow pages.
  body TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, parent_id) REFERENCES comments (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX comments_issue ON comments (workspace_id, issue_id, created_at, id);
-- system: retention.
CREATE INDEX comments_deleted ON comments (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX comments_replies ON comments (workspace_id, parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE reactions (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  -- The subject is a comment, or the issue itself.
  issue_id TEXT NOT NULL,
  subject_id TEXT NOT NULL, emoji TEXT NOT NULL, actor_kind TEXT NOT NULL, actor_id TEXT NOT NULL,
  actor_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX reactions_one ON reactions (workspace_id, subject_id, emoji, actor_id)
  WHERE deleted_at IS NULL;
CREATE INDEX reactions_issue ON reactions (workspace_id, issue_id);
-- system: retention.
CREATE INDEX reactions_deleted ON reactions (deleted_at) WHERE deleted_at IS NOT NULL;

-- Relations between issues, each stored once; the other side is derived.
CREATE TABLE relations (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  -- The type is blocks, duplicate_of or relates_to, read from from_id to issue_id; the lesser id comes first
  -- in relates_to.
  from_id TEXT NOT NULL,
  type TEXT NOT NULL, issue_id TEXT NOT NULL, creator_kind TEXT NOT NULL, creator_id TEXT NOT NULL,
  creator_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, from_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX relations_pair ON relations (workspace_id, from_id, type, issue_id)
  WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX relations_original ON relations (workspace_id, from_id)
  WHERE type = 'duplicate_of' AND deleted_at IS NULL;
CREATE INDEX relations_from ON relations (workspace_id, from_id, created_at, id);
CREATE INDEX relations_issue ON relations (workspace_id, issue_id, created_at, id);
-- system: retention.
CREATE INDEX relations_deleted ON relations (deleted_at) WHERE deleted_at IS NOT NULL;

CREATE TABLE templates (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, team_id TEXT, title TEXT, description TEXT NOT NULL, priority TEXT NOT NULL,
  assignee_id TEXT, project_id TEXT, labels_json TEXT NOT NULL, estimate REAL, sub_issues_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  -- Values of custom fields by field id.
  fields_json TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id),
  FOREIGN KEY (workspace_id, assignee_id) REFERENCES members (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX templates_created ON templates (workspace_id, created_at, id);
-- system: retention.
CREATE INDEX templates_deleted ON templates (deleted_at) WHERE deleted_at IS NOT NULL;

-- Custom fields.
CREATE TABLE fields (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  key TEXT NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL, type TEXT NOT NULL,
  options_json TEXT NOT NULL, required INTEGER NOT NULL, archived INTEGER NOT NULL, team_id TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX fields_created ON fields (workspace_id, created_at, id);
CREATE UNIQUE INDEX fields_key ON fields (workspace_id, key) WHERE deleted_at IS NULL;

-- Links and files of issues; the contents of files are in `blobs/`.
CREATE TABLE attachments (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  issue_id TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, url TEXT, content_type TEXT, bytes INTEGER,
  sha256 TEXT, creator_kind TEXT NOT NULL, creator_id TEXT NOT NULL, creator_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachments_issue ON attachments (workspace_id, issue_id, created_at, id);
-- system: retention.
CREATE INDEX attachments_deleted ON attachments (deleted_at) WHERE deleted_at IS NOT NULL;
-- system: contents of all workspaces are found by digest.
CREATE INDEX attachments_blob ON attachments (sha256) WHERE deleted_at IS NULL AND sha256 IS NOT NULL;
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

-- Bytes of the files of a workspace. Grows when a file is added, which may be refused, and shrinks by
-- trigger.
CREATE TABLE attachment_usage (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- # Boards and views

CREATE TABLE boards (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, team_id TEXT, group_by TEXT NOT NULL, swimlanes TEXT, sort TEXT NOT NULL,
  limits TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  filter_json TEXT NOT NULL, columns_json TEXT, description TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX boards_created ON boards (workspace_id, created_at, id);

-- Ranks of cards that were placed by hand; the order of the others follows from their creation.
CREATE TABLE board_cards (
  workspace_id TEXT NOT NULL, board_id TEXT NOT NULL, issue_id TEXT NOT NULL, rank TEXT NOT NULL,
  PRIMARY KEY (workspace_id, board_id, issue_id),
  FOREIGN KEY (workspace_id, board_id) REFERENCES boards (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX board_cards_rank ON board_cards (workspace_id, board_id, rank);
CREATE INDEX board_cards_issue ON board_cards (workspace_id, issue_id);

CREATE TABLE views (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, sort TEXT, layout TEXT NOT NULL, group_by TEXT, visibility TEXT NOT NULL,
  owner_kind TEXT NOT NULL, owner_id TEXT NOT NULL, owner_name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  filter_json TEXT NOT NULL, description TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX views_created ON views (workspace_id, created_at, id);

-- # Cycles

CREATE TABLE cycles (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  team_id TEXT NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL, description TEXT NOT NULL,
  starts_at INTEGER NOT NULL, ends_at INTEGER NOT NULL, status TEXT NOT NULL, started_at INTEGER,
  completed_at INTEGER,
  -- Time at which no unfinished issue of a completed cycle was left to move.
  settled_at INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX cycles_number ON cycles (workspace_id, team_id, number);
CREATE UNIQUE INDEX cycles_active ON cycles (workspace_id, team_id) WHERE status = 'active';
CREATE INDEX cycles_start ON cycles (workspace_id, starts_at, id);
CREATE INDEX cycles_team_start ON cycles (workspace_id, team_id, starts_at, id) WHERE deleted_at IS NULL;
-- Cycles that still need work: few, however many there are.
CREATE INDEX cycles_open ON cycles (workspace_id, team_id) WHERE settled_at IS NULL AND deleted_at IS NULL;

-- Issues that were ever in a cycle, and the cycle to which each was moved at completion; null if it was moved
-- to none.
CREATE TABLE cycle_issues (
  workspace_id TEXT NOT NULL, cycle_id TEXT NOT NULL, id TEXT NOT NULL,
  rolled_at INTEGER, rolled_to TEXT,
  PRIMARY KEY (workspace_id, cycle_id, id),
  FOREIGN KEY (workspace_id, cycle_id) REFERENCES cycles (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX cycle_issues_rolled ON cycle_issues (workspace_id, cycle_id, rolled_at, id)
  WHERE rolled_at IS NOT NULL;

-- # Service levels

CREATE TABLE calendars (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, time_zone TEXT NOT NULL, hours_json TEXT NOT NULL, holidays_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX calendars_created ON calendars (workspace_id, created_at, id);

CREATE TABLE sla_policies (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, kind TEXT NOT NULL, enabled INTEGER NOT NULL, position INTEGER NOT NULL,
  filter_json TEXT NOT NULL, target_minutes INTEGER NOT NULL, at_risk_minutes INTEGER, calendar_id TEXT,
  paused_in_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, calendar_id) REFERENCES calendars (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sla_policies_position ON sla_policies (workspace_id, position, id);
CREATE INDEX sla_policies_calendar ON sla_policies (workspace_id, calendar_id) WHERE calendar_id IS NOT NULL;

CREATE TABLE sla_clocks (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  issue_id TEXT NOT NULL, kind TEXT NOT NULL, policy_id TEXT NOT NULL, state TEXT NOT NULL,
  started_at INTEGER NOT NULL, due_at INTEGER, at_risk_at INTEGER,
  -- Start of the current count, after a pause. paused_at and remaining_ms are those of a paused clock.
  counted_from INTEGER NOT NULL,
  paused_at INTEGER, remaining_ms INTEGER, reached_at INTEGER, ended_at INTEGER,
  -- Last event of the issue that was applied.
  sequence INTEGER NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, policy_id) REFERENCES sla_policies (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sla_clocks_issue ON sla_clocks (workspace_id, issue_id, created_at, id);
CREATE UNIQUE INDEX sla_clocks_open ON sla_clocks (workspace_id, issue_id, kind) WHERE ended_at IS NULL;
CREATE INDEX sla_clocks_policy ON sla_clocks (workspace_id, policy_id) WHERE ended_at IS NULL;
CREATE INDEX sla_clocks_due ON sla_clocks (workspace_id, coalesce(due_at, 9e15), id) WHERE ended_at IS NULL;
CREATE INDEX sla_clocks_state ON sla_clocks (workspace_id, state, coalesce(due_at, 9e15), id);

-- # Inbox

-- Creators follow their issue without a row; a muted row excludes a member.
CREATE TABLE subscribers (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  issue_id TEXT NOT NULL, member_id TEXT NOT NULL, reason TEXT NOT NULL, muted INTEGER NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX subscribers_one ON subscribers (workspace_id, issue_id, member_id);
-- `subscriber=`.
CREATE INDEX subscribers_member ON subscribers (workspace_id, member_id, muted, issue_id);

CREATE TABLE inbox_items (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  member_id TEXT NOT NULL, reason TEXT NOT NULL, kind TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
  target_json TEXT NOT NULL, issue_id TEXT, issue_json TEXT, actor_kind TEXT, actor_id TEXT, actor_name TEXT,
  count INTEGER NOT NULL, happened_at INTEGER NOT NULL, read_at INTEGER, archived_at INTEGER,
  snoozed_until INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_items_newest ON inbox_items (workspace_id, member_id, happened_at, id);
-- The last columns are there so that unread items are counted from the index alone.
CREATE INDEX inbox_items_unread
  ON inbox_items (workspace_id, member_id, issue_id, reason, snoozed_until, read_at, archived_at)
  WHERE read_at IS NULL AND archived_at IS NULL;
CREATE INDEX inbox_items_issue ON inbox_items (workspace_id, issue_id) WHERE issue_id IS NOT NULL;
-- system: retention.
CREATE INDEX inbox_items_archived ON inbox_items (archived_at) WHERE archived_at IS NOT NULL;
CREATE INDEX inbox_items_proposal ON inbox_items (workspace_id, target_json)
  WHERE reason = 'proposal' AND archived_at IS NULL;

-- Last sequence of the log before the latest change of an inbox. The id is that of the member.
CREATE TABLE inbox_changes (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  after_sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- The id is that of the member.
CREATE TABLE inbox_preferences (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  off_json TEXT NOT NULL,
  version INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- The id is that of the member. A column is null for the default.
CREATE TABLE member_preferences (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  theme TEXT, density TEXT, single_key_shortcuts INTEGER, start_page TEXT,
  version INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- The id is derived from member and target, so that a target is a favorite once.
CREATE TABLE favorites (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  member_id TEXT NOT NULL, type TEXT NOT NULL, target_id TEXT NOT NULL, position REAL NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX favorites_member ON favorites (workspace_id, member_id, position, id) WHERE deleted_at IS NULL;
-- system: retention.
CREATE INDEX favorites_deleted ON favorites (deleted_at) WHERE deleted_at IS NOT NULL;

-- # Search

-- Words of issues and comments, each prefixed with the mark of its workspace, so that a query never matches
-- words of another one. Texts are read from the rows.
CREATE VIRTUAL TABLE search_index USING fts5(
  title, description, comment, content='', contentless_delete=1, tokenize='ascii'
);

-- Issue or comment of each row of the index.
CREATE TABLE search_documents (
  workspace_id TEXT NOT NULL, issue_id TEXT NOT NULL, id TEXT NOT NULL,
  doc INTEGER NOT NULL, team_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, issue_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_documents_doc ON search_documents (workspace_id, doc, issue_id, team_id);

-- # Events and work

CREATE TABLE events (
  workspace_id TEXT NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL,
  type TEXT NOT NULL,
  created_at INTEGER NOT NULL, entity_type TEXT NOT NULL, entity_id TEXT NOT NULL, issue_id TEXT,
  -- Number of the issue if only the commit knew it; renderEvent inserts it into the payload.
  number INTEGER,
  actor_json TEXT NOT NULL, cause_json TEXT NOT NULL, request_id TEXT, traceparent TEXT,
  -- Empty if packed; '=1' refers to the event 1 before, '@7' to the event file that starts with event 7.
  data_json TEXT NOT NULL,
  -- Compressed cause and data.
  packed BLOB,
  PRIMARY KEY (workspace_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_id ON events (workspace_id, id);
CREATE INDEX events_issue ON events (workspace_id, issue_id, sequence) WHERE issue_id IS NOT NULL;
CREATE INDEX events_object ON events (workspace_id, entity_type, entity_id, sequence) WHERE issue_id IS NULL;
-- Events of the directory. A chain of OR costs an append nothing; IN would build a table for each.
CREATE INDEX events_naming ON events (workspace_id, sequence) WHERE
  entity_type = 'calendar' OR entity_type = 'cycle' OR entity_type = 'field' OR entity_type = 'label' OR entity_type = 'member' OR entity_type = 'milestone'
  OR entity_type = 'pipeline' OR entity_type = 'project' OR entity_type = 'sla_policy' OR entity_type = 'state' OR entity_type = 'team';

-- Files that hold the cause and data of old events.
CREATE TABLE event_files (
  workspace_id TEXT NOT NULL, first_sequence INTEGER NOT NULL, last_sequence INTEGER NOT NULL,
  bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, first_sequence)
) STRICT, WITHOUT ROWID;

CREATE TABLE cursors (
  workspace_id TEXT NOT NULL, consumer TEXT NOT NULL, sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, consumer)
) STRICT, WITHOUT ROWID;

-- Previous subscription of a subscriber, for events up to `until_sequence`, until its consumer has passed
-- them.
CREATE TABLE past_subscriptions (
  workspace_id TEXT NOT NULL, consumer TEXT NOT NULL, until_sequence INTEGER NOT NULL, id TEXT NOT NULL,
  subscription_json TEXT NOT NULL,
  PRIMARY KEY (workspace_id, consumer, until_sequence, id)
) STRICT, WITHOUT ROWID;

-- Work that waits for a worker: a run, a delivery, a schedule. A lease is held by one owner (a process) until
-- `lease_until`; the epoch fences writes of an earlier holder.
CREATE TABLE due_work (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  kind TEXT NOT NULL, due_at INTEGER NOT NULL, lease_until INTEGER NOT NULL DEFAULT 0, lease_owner TEXT,
  epoch INTEGER NOT NULL DEFAULT 0,
  -- Install or endpoint that the work is for. Work over the capacity of its subject waits by subject.
  subject TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- system: workers take over expired leases in all workspaces.
CREATE INDEX due_work_leased ON due_work (kind, lease_until) WHERE lease_owner IS NOT NULL;
-- system: workers serve all workspaces, earliest first.
CREATE INDEX due_work_due ON due_work (kind, due_at) WHERE lease_owner IS NULL AND due_at < 8640000000000000;
CREATE INDEX due_work_over_quota ON due_work (workspace_id, kind, subject, id)
  WHERE due_at = 8640000000000001 AND lease_owner IS NULL;

CREATE TABLE idempotency (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  body_hash TEXT NOT NULL, status INTEGER NOT NULL, headers_json TEXT NOT NULL, body BLOB NOT NULL,
  sealed INTEGER NOT NULL,
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  -- Parts of the response that are not stored, but read from the repeated request, or from the data of an
  -- event after after_sequence.
  recall_json TEXT,
  after_sequence INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- system: retention.
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

-- # Webhooks

CREATE TABLE endpoints (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  url TEXT NOT NULL, description TEXT NOT NULL, events_json TEXT NOT NULL, namespaces_json TEXT NOT NULL,
  filter_json TEXT, since_sequence INTEGER NOT NULL, enabled INTEGER NOT NULL, disabled_reason TEXT,
  ordering TEXT NOT NULL, payload_version TEXT NOT NULL, secret_sealed BLOB NOT NULL,
  secret_since INTEGER NOT NULL, previous_secrets_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  -- Creator and its key: the endpoint ends with their right to create it. Null for the operator.
  created_by TEXT,
  created_with TEXT,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX endpoints_created ON endpoints (workspace_id, created_at, id);

-- Separate from the endpoint, because it changes with every failure and is not a change of the endpoint.
CREATE TABLE endpoint_health (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  failures INTEGER NOT NULL, failing_since INTEGER, succeeded_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  endpoint_id TEXT NOT NULL, event_id TEXT NOT NULL, event_type TEXT NOT NULL, sequence INTEGER NOT NULL,
  -- event, replay, ping or sample; a sample is in no log, so it has its payload.
  origin TEXT NOT NULL,
  sample_json TEXT,
  -- Deliveries of an ordered endpoint with the same key are made one after the other.
  order_key TEXT,
  status TEXT NOT NULL, attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL, first_attempt_at INTEGER, next_attempt_at INTEGER, finished_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_created ON deliveries (workspace_id, created_at, id);
CREATE INDEX deliveries_endpoint ON deliveries (workspace_id, endpoint_id, created_at, id);
CREATE INDEX deliveries_event ON deliveries (workspace_id, event_id);
CREATE INDEX deliveries_open ON deliveries (workspace_id, endpoint_id, sequence)
  WHERE status IN ('pending', 'retrying');
CREATE INDEX deliveries_ordered ON deliveries (workspace_id, endpoint_id, order_key, sequence, id)
  WHERE order_key IS NOT NULL AND status IN ('pending', 'retrying');

CREATE TABLE attempts (
  workspace_id TEXT NOT NULL, delivery_id TEXT NOT NULL, number INTEGER NOT NULL, at INTEGER NOT NULL,
  latency_ms REAL NOT NULL, status_code INTEGER, error TEXT, request_headers_json TEXT NOT NULL,
  response_headers_json TEXT, response_body BLOB, truncated INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, delivery_id, number),
  FOREIGN KEY (workspace_id, delivery_id) REFERENCES deliveries (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- Past events that are sent again to an endpoint, a page at a time.
CREATE TABLE replays (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  endpoint_id TEXT NOT NULL, since INTEGER, until INTEGER, only_undelivered INTEGER NOT NULL,
  status TEXT NOT NULL,
  -- Requested start; the progress is current_sequence.
  after_sequence INTEGER NOT NULL,
  last_sequence INTEGER NOT NULL, deliveries INTEGER NOT NULL,
  created_at INTEGER NOT NULL, finished_at INTEGER, current_sequence INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX replays_endpoint ON replays (workspace_id, endpoint_id, created_at, id);
-- system: retention.
CREATE INDEX replays_finished ON replays (finished_at) WHERE finished_at IS NOT NULL;

-- # Automations
-- Rules without code, run by the plugin `automations`. Each counts as an install.

CREATE TABLE automations (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, description TEXT NOT NULL, trigger_json TEXT NOT NULL, conditions_json TEXT NOT NULL,
  issues_json TEXT, actions_json TEXT NOT NULL,
  mode TEXT NOT NULL, step_down_json TEXT NOT NULL, owner_id TEXT, state TEXT NOT NULL, state_reason TEXT,
  revision INTEGER NOT NULL,
  -- Backtest of the revision, as {id, status}.
  backtest_json TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  -- Events up to this one precede the creation or activation.
  since_sequence INTEGER NOT NULL DEFAULT 0,
  -- Runs that still have to propose.
  probation_left INTEGER NOT NULL DEFAULT 0,
  -- Position of the trigger `unchanged`: time of the last change, and id, of the last issue that was due.
  due_json TEXT,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- Servers that automations may send requests to, with a sealed secret.
CREATE TABLE automation_hosts (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, origin TEXT NOT NULL, path TEXT, header TEXT, format TEXT, secret_set_at INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  secret_sealed BLOB,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- # Plugins
CREATE TABLE plugins (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  plugin_id TEXT NOT NULL, plugin_version TEXT NOT NULL, sha256 TEXT NOT NULL, manifest_json TEXT NOT NULL,
  grant_json TEXT NOT NULL, settings_json TEXT NOT NULL, mode TEXT NOT NULL, state TEXT NOT NULL,
  state_reason TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  -- Events up to this one precede the installation or activation.
  since_sequence INTEGER NOT NULL DEFAULT 0,
  -- Times at which secrets were set, by name.
  secrets_set_json TEXT NOT NULL DEFAULT '{}',
  -- Handling of writes by their class.
  modes_json TEXT NOT NULL DEFAULT '{}',
  -- Version that waits for consent because it needs more than was granted; the previous one runs on under its
  -- own grant.
  pending_json TEXT,
  -- Signer of the package, by the name under which the operator trusts the key; null for none.
  publisher TEXT,
  -- Runs that still have to propose. Not an edit, so counted without a new version.
  probation_left INTEGER NOT NULL DEFAULT 0,
  budget_json TEXT NOT NULL DEFAULT '{"whenSpent":"stop"}',
  -- Digests of manifest and code of the versions that waited for consent, by code hash; 'several' for code
  -- that came with several manifests.
  offered_json TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX plugins_plugin ON plugins (workspace_id, plugin_id) WHERE deleted_at IS NULL;

CREATE TABLE plugin_code (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  source TEXT NOT NULL,
  -- Maps to the author's source; null if the package had none.
  source_map TEXT,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- Versions that an install has run, including the current one, so that it can return to each.
CREATE TABLE plugin_versions (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, plugin_version TEXT NOT NULL, sha256 TEXT NOT NULL, publisher TEXT,
  manifest_json TEXT NOT NULL, grant_json TEXT NOT NULL, settings_json TEXT NOT NULL,
  installed_at INTEGER NOT NULL, installed_by_json TEXT NOT NULL, replaced_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX plugin_versions_install ON plugin_versions (workspace_id, install_id, id);
CREATE INDEX plugin_versions_code ON plugin_versions (workspace_id, sha256);

-- Secrets of a plugin that an administrator set, sealed with the master key.
CREATE TABLE plugin_secrets (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, name TEXT NOT NULL, sealed BLOB NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX plugin_secrets_install ON plugin_secrets (workspace_id, install_id);

CREATE TABLE plugin_kv (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, key TEXT NOT NULL, bytes INTEGER NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, value_json TEXT,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX plugin_kv_key ON plugin_kv (workspace_id, install_id, key);

-- Totals of the stored values of an install, so that the quota costs one read: charged bytes, keys, and the
-- highest version of a deleted value, above which a new value starts.
CREATE TABLE plugin_kv_usage (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  bytes INTEGER NOT NULL, keys INTEGER NOT NULL,
  version INTEGER NOT NULL,
  -- Number of writes, so that a run that listed keys can detect a later write.
  changes INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- Usage of the budget of an install by UTC day (days since 1970).
CREATE TABLE plugin_usage (
  workspace_id TEXT NOT NULL, install_id TEXT NOT NULL, day INTEGER NOT NULL, runs INTEGER NOT NULL,
  cpu_ms REAL NOT NULL, calls INTEGER NOT NULL, egress_bytes INTEGER NOT NULL,
  notified INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, install_id, day)
) STRICT, WITHOUT ROWID;

-- Last use of each scope of an install.
CREATE TABLE plugin_scope_use (
  workspace_id TEXT NOT NULL, install_id TEXT NOT NULL, scope TEXT NOT NULL, used_at INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, install_id, scope)
) STRICT, WITHOUT ROWID;

-- Events that an install missed while it was off: those after `after_sequence`, up to `until_sequence`, which
-- is null while it is off. Dead runs of that time are included. A backfill moves `after_sequence` in the
-- batch that creates its runs.
CREATE TABLE plugin_backfills (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL,
  -- system or person: who switched it off.
  cause TEXT NOT NULL,
  after_sequence INTEGER NOT NULL, until_sequence INTEGER,
  -- off, counting, offered, running or done.
  status TEXT NOT NULL,
  missed INTEGER, runs INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL, finished_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX plugin_backfills_install ON plugin_backfills (workspace_id, install_id, created_at, id);
-- system: retention.
CREATE INDEX plugin_backfills_finished ON plugin_backfills (finished_at) WHERE finished_at IS NOT NULL;

-- One-time jobs that a run requested.
CREATE TABLE one_time_jobs (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, name TEXT NOT NULL, due_at INTEGER NOT NULL, input_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX one_time_jobs_install ON one_time_jobs (workspace_id, install_id, due_at, id);

CREATE TABLE plugin_routes (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, name TEXT NOT NULL,
  -- Requests are matched by the digest of the token; the sealed token can be shown again.
  token_hash TEXT NOT NULL,
  token_sealed BLOB NOT NULL, secret_sealed BLOB, opened_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- system: a request to a route does not name its workspace.
CREATE UNIQUE INDEX plugin_routes_token ON plugin_routes (token_hash);

-- Accepted signatures of inbound requests, until they expire, to reject replays.
CREATE TABLE route_signatures (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX route_signatures_expiry ON route_signatures (workspace_id, expires_at);

CREATE TABLE runs (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, handler_kind TEXT NOT NULL, handler TEXT NOT NULL,
  -- Runs with the same order_key run one after the other, by sequence.
  order_key TEXT NOT NULL,
  sequence INTEGER NOT NULL, event_id TEXT, root_event_id TEXT, depth INTEGER NOT NULL, status TEXT NOT NULL,
  mode TEXT NOT NULL, attempt INTEGER NOT NULL,
  created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER, cpu_ms REAL, memory_bytes INTEGER,
  wall_ms REAL, queue_ms REAL, events_json TEXT NOT NULL DEFAULT '[]', calls_json TEXT NOT NULL DEFAULT '[]',
  effects_json TEXT NOT NULL DEFAULT '[]', logs_json TEXT NOT NULL DEFAULT '[]', error_json TEXT,
  -- Progress of a schedule's run, as {done, of, unit?}.
  progress_json TEXT,
  -- The run that continues this one, the number of runs before it, and the due time of the first.
  continued_by TEXT,
  continuation INTEGER NOT NULL DEFAULT 0, fired_at INTEGER,
  -- Interruptions without a fault of the run, after which it waits to run again.
  interruptions INTEGER NOT NULL DEFAULT 0,
  -- Input of a run that no event caused: data, reason and caller.
  input_json TEXT,
  -- Response of an action or a route.
  result_json TEXT,
  -- Proposal with the writes of the run.
  proposal_id TEXT,
  -- Version of the plugin in the last attempt.
  plugin_version TEXT,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_install ON runs (workspace_id, install_id, created_at, id);
CREATE INDEX runs_open ON runs (workspace_id, install_id, handler, order_key, sequence)
  WHERE status IN ('queued', 'waiting', 'retrying');
CREATE INDEX runs_root ON runs (workspace_id, root_event_id) WHERE root_event_id IS NOT NULL;
CREATE INDEX runs_canceled ON runs (workspace_id, install_id, sequence) WHERE status = 'canceled';

-- Recordings of ended runs, for replay.
CREATE TABLE run_records (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  finished_at INTEGER NOT NULL,
  -- Length of the data, which is zstd of JSON; 0 and null if it exceeded the limit of a recording.
  bytes INTEGER NOT NULL,
  data BLOB,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- Outbound requests of plugins, by a key that the host computes: a retried run gets the stored response.
-- `response_json` is null while the response of a request that may be sent only once is pending.
CREATE TABLE journal (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  run_id TEXT NOT NULL, install_id TEXT NOT NULL, request TEXT NOT NULL, response_json TEXT,
  created_at INTEGER NOT NULL, finished_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- system: retention.
CREATE INDEX journal_created ON journal (created_at);

-- Changes by runs, approved proposals and undos, with each object before and after, from which an undo is
-- computed.
CREATE TABLE stored_changes (
  workspace_id TEXT NOT NULL,
  -- Id of the run, the proposal or the undo.
  id TEXT NOT NULL,
  -- Plugin that made the changes; null for an undo, which a person makes.
  install_id TEXT,
  created_at INTEGER NOT NULL,
  -- Undo that reverted the changes; null while they stand.
  undone_by TEXT,
  -- Ids that an undo reverted.
  undid_json TEXT,
  -- Entities of the objects, from which the rights to undo follow.
  entities_json TEXT NOT NULL,
  -- JSON, compressed with zstd.
  changes BLOB NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stored_changes_install ON stored_changes (workspace_id, install_id, created_at, id)
  WHERE install_id IS NOT NULL;
-- system: retention.
CREATE INDEX stored_changes_created ON stored_changes (created_at);

-- Plugin versions that run on recorded events. The request and report are JSON; the package is stored until
-- the end.
CREATE TABLE backtests (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  -- backtest or gate
  kind TEXT NOT NULL,
  install_id TEXT, plugin_id TEXT NOT NULL, plugin_version TEXT NOT NULL,
  -- queued, running, done, canceled, failed
  status TEXT NOT NULL,
  starts INTEGER NOT NULL DEFAULT 0, request_json TEXT NOT NULL, package_json TEXT, report_json TEXT,
  error TEXT,
  created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX backtests_created ON backtests (workspace_id, created_at, id);
CREATE INDEX backtests_open ON backtests (workspace_id, id) WHERE finished_at IS NULL;
-- system: retention.
CREATE INDEX backtests_finished ON backtests (finished_at) WHERE finished_at IS NOT NULL;

-- Versions that run beside the installed one to count differences; the package is stored while it runs.
CREATE TABLE shadows (
  workspace_id TEXT NOT NULL, install_id TEXT NOT NULL, plugin_version TEXT NOT NULL,
  -- Hash of the installed code; an upgrade ends the shadow.
  installed_sha256 TEXT NOT NULL,
  -- asked, upgraded, removed; null while it runs
  stopped_by TEXT,
  package_json TEXT, report_json TEXT NOT NULL, started_at INTEGER NOT NULL, stopped_at INTEGER,
  PRIMARY KEY (workspace_id, install_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX shadows_running ON shadows (workspace_id, install_id) WHERE stopped_at IS NULL;

-- Writes that wait for approval.
CREATE TABLE proposals (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  status TEXT NOT NULL, source TEXT NOT NULL, title TEXT NOT NULL, author_kind TEXT NOT NULL,
  author_id TEXT NOT NULL, author_name TEXT NOT NULL, install_id TEXT, run_id TEXT, revision INTEGER NOT NULL,
  -- Actor and cause of the events.
  actor_json TEXT NOT NULL,
  cause_json TEXT,
  -- Shown changes, the issues concerned, and the requested writes, sealed.
  diff_json TEXT NOT NULL,
  issue_ids_json TEXT NOT NULL, writes_sealed_json TEXT NOT NULL, decided_by_kind TEXT, decided_by_id TEXT,
  decided_by_name TEXT, decided_at INTEGER, reason TEXT, events_json TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  -- Grant of the app that proposed, so that the proposal ends with it.
  grant_id TEXT,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX proposals_created ON proposals (workspace_id, created_at, id);
CREATE INDEX proposals_status ON proposals (workspace_id, status, created_at, id);
CREATE INDEX proposals_install ON proposals (workspace_id, install_id, created_at, id);
CREATE INDEX proposals_author ON proposals (workspace_id, author_id, created_at, id);
-- system: retention.
CREATE INDEX proposals_decided ON proposals (decided_at) WHERE decided_at IS NOT NULL;

-- # Accounts and sign-in

-- Accounts of the installation. Several may claim one address; only one may have it verified.
CREATE TABLE accounts (
  id TEXT PRIMARY KEY, name TEXT NOT NULL,
  -- Address as entered, and its normal form.
  email TEXT NOT NULL,
  email_key TEXT NOT NULL,
  -- Time at which the mailbox was verified; null until then.
  email_verified_at INTEGER,
  -- argon2id in the PHC form; null for accounts that sign in only by other means.
  password_hash TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_email ON accounts (email_key, id);
CREATE UNIQUE INDEX accounts_verified_email ON accounts (email_key) WHERE email_verified_at IS NOT NULL;

-- Account that acts as a member of a workspace.
CREATE TABLE memberships (
  workspace_id TEXT NOT NULL, member_id TEXT NOT NULL, account_id TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, member_id)
) STRICT, WITHOUT ROWID;
-- system: an account finds its workspaces.
CREATE UNIQUE INDEX memberships_account ON memberships (account_id, workspace_id);

-- Signed-in browsers; only the hash of the token is stored.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY, account_id TEXT NOT NULL, token_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  -- Time of the last authentication.
  authenticated_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, address TEXT NOT NULL, agent TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_account ON sessions (account_id, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Links by which an account becomes a member, at most one for each member; only the hash of the token is
-- stored.
CREATE TABLE invitations (
  workspace_id TEXT NOT NULL, member_id TEXT NOT NULL, token_hash TEXT NOT NULL UNIQUE,
  -- Name of the creator.
  invited_by TEXT NOT NULL,
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  -- Address and role of the invitation, and the hash of the link that was mailed to that address only.
  email_key TEXT,
  role TEXT NOT NULL DEFAULT '', mailed_hash TEXT,
  -- Creator and its key: the invitation ends with their right to create it. Null for the operator.
  invited_by_id TEXT,
  invited_with TEXT,
  PRIMARY KEY (workspace_id, member_id)
) STRICT, WITHOUT ROWID;
-- system: retention.
CREATE INDEX invitations_expiry ON invitations (expires_at);
-- system: an account finds its invitations in all workspaces.
CREATE INDEX invitations_email ON invitations (email_key) WHERE email_key IS NOT NULL;
-- system: a mailed link does not name its workspace.
CREATE UNIQUE INDEX invitations_mailed ON invitations (mailed_hash) WHERE mailed_hash IS NOT NULL;

-- Links to set another password, at most one for each account; only the hash of the token is stored.
CREATE TABLE password_resets (
  account_id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  -- 1 for a link that was mailed to the address of the account; its use verifies the address.
  by_mail INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX password_resets_expiry ON password_resets (expires_at);

-- Public keys of authenticators (Web Authentication Level 3).
CREATE TABLE passkeys (
  id TEXT PRIMARY KEY, account_id TEXT NOT NULL,
  -- base64url
  credential_id TEXT NOT NULL UNIQUE,
  -- COSE (RFC 9052)
  public_key BLOB NOT NULL,
  -- Signatures that the authenticator has made; 0 for one that does not count.
  counter INTEGER NOT NULL,
  transports_json TEXT NOT NULL, name TEXT NOT NULL,
  created_at INTEGER NOT NULL, last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_account ON passkeys (account_id, id);

-- Secrets of one-time codes (RFC 6238); the id is that of the account.
CREATE TABLE one_time_codes (
  id TEXT PRIMARY KEY, secret_sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  -- Null until a code proved that the secret arrived; no code is required until then.
  confirmed_at INTEGER,
  -- Step of the last accepted code: no code is accepted twice.
  last_step INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Single-use codes for a lost device; only hashes are stored.
CREATE TABLE recovery_codes (
  account_id TEXT NOT NULL, code_hash TEXT NOT NULL,
  PRIMARY KEY (account_id, code_hash)
) STRICT, WITHOUT ROWID;

-- Accounts at OpenID providers, identified by issuer and subject, never by address.
CREATE TABLE linked_accounts (
  id TEXT PRIMARY KEY, account_id TEXT NOT NULL, issuer TEXT NOT NULL, subject TEXT NOT NULL,
  -- Display name at the provider.
  display_name TEXT NOT NULL,
  created_at INTEGER NOT NULL, last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX linked_accounts_subject ON linked_accounts (issuer, subject);
CREATE INDEX linked_accounts_account ON linked_accounts (account_id, id);

-- Challenges that a browser started and has to finish soon. The token is in its cookie, and the secrets of
-- the exchange are derived from it; this row alone finishes nothing.
CREATE TABLE challenges (
  token_hash TEXT PRIMARY KEY, type TEXT NOT NULL, account_id TEXT, details_json TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX challenges_expiry ON challenges (expires_at);

-- # API keys and OAuth

CREATE TABLE api_keys (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, prefix TEXT NOT NULL, secret_hash TEXT NOT NULL, scopes_json TEXT NOT NULL,
  member_id TEXT NOT NULL, expires_at INTEGER, revoked_at INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  -- Written at most once a minute.
  last_used_at INTEGER,
  -- Key that replaced this one when it was rolled.
  replaced_by TEXT,
  -- Creator and its key: the key ends with their right to create it. Null for the operator.
  created_by TEXT,
  created_with TEXT,
  -- First key of a chain of rolled keys; null for a key that replaced no other. A chain shares idempotency
  -- keys and rate limits.
  lineage_id TEXT,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- system: the workspace of a key is known only after a lookup by its public prefix.
CREATE UNIQUE INDEX api_keys_prefix ON api_keys (prefix);
-- The end of a credential is final for every statement, as in the triggers with the same suffix.
CREATE TRIGGER api_keys_end_once BEFORE UPDATE OF revoked_at ON api_keys
  WHEN old.revoked_at IS NOT NULL AND new.revoked_at IS NOT old.revoked_at
  BEGIN SELECT raise(ABORT, 'a revoked API key stays revoked'); END;

-- Registered by an admin of a workspace; only hashes of secrets are stored.
CREATE TABLE oauth_apps (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, description TEXT NOT NULL, homepage TEXT, redirect_uris_json TEXT NOT NULL,
  confidential INTEGER NOT NULL, secrets_json TEXT NOT NULL, secret_since INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_apps_created ON oauth_apps (workspace_id, created_at, id);
-- system: the workspace of an app is known only after a lookup by its client_id.
CREATE UNIQUE INDEX oauth_apps_client ON oauth_apps (id) WHERE deleted_at IS NULL;
CREATE TRIGGER oauth_apps_end_once BEFORE UPDATE OF deleted_at ON oauth_apps
  WHEN old.deleted_at IS NOT NULL AND new.deleted_at IS NOT old.deleted_at
  BEGIN SELECT raise(ABORT, 'a deleted OAuth app stays deleted'); END;

-- Clients that registered themselves (RFC 7591). They belong to the installation; the workspace is chosen at
-- consent.
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY, metadata_json TEXT NOT NULL,
  -- SHA-256 of the secret, null for a public client, and of the token that manages the registration (RFC
  -- 7592).
  secret_hash TEXT,
  token_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  -- Set by the first grant; an unused registration expires.
  used INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_clients_unused ON oauth_clients (created_at, id) WHERE used = 0;

-- Access that members granted to apps.
CREATE TABLE grants (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  member_id TEXT NOT NULL, client_id TEXT NOT NULL, client_name TEXT NOT NULL, client_kind TEXT NOT NULL,
  client_verified INTEGER NOT NULL, redirect_host TEXT, resource TEXT NOT NULL, scopes_json TEXT NOT NULL,
  guarded_json TEXT NOT NULL, last_used_at INTEGER, revoked_at INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_created ON grants (workspace_id, created_at, id);
CREATE INDEX grants_member ON grants (workspace_id, member_id, created_at, id);
-- system: a token names only its grant.
CREATE UNIQUE INDEX grants_live ON grants (id) WHERE revoked_at IS NULL;
-- system: a deleted client ends its grants in all workspaces.
CREATE INDEX grants_client ON grants (client_id);
CREATE TRIGGER grants_end_once BEFORE UPDATE OF revoked_at ON grants
  WHEN old.revoked_at IS NOT NULL AND new.revoked_at IS NOT old.revoked_at
  BEGIN SELECT raise(ABORT, 'a revoked grant stays revoked'); END;

-- Codes, tokens and pending requests of the authorization server.
CREATE TABLE oauth_tokens (
  -- SHA-256 of the value that the client or the browser holds.
  id TEXT PRIMARY KEY,
  -- Model of the protocol library: AccessToken, RefreshToken, AuthorizationCode, DeviceCode, Interaction …
  kind TEXT NOT NULL,
  -- Workspace and grant; empty and null until a member has consented.
  workspace_id TEXT NOT NULL,
  grant_id TEXT,
  -- Stored for access tokens, so that a request unseals nothing.
  scope TEXT,
  -- Authentication code of the user code of a device code.
  user_code_tag TEXT UNIQUE,
  payload_sealed BLOB NOT NULL, consumed_at INTEGER,
  -- Time of the decision about a request or device code.
  decided_at INTEGER,
  -- Null if it does not expire.
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_tokens_expiry ON oauth_tokens (expires_at) WHERE expires_at IS NOT NULL;
CREATE TRIGGER oauth_tokens_consumed_once BEFORE UPDATE OF consumed_at ON oauth_tokens
  WHEN old.consumed_at IS NOT NULL AND new.consumed_at IS NOT old.consumed_at
  BEGIN SELECT raise(ABORT, 'a used token stays used'); END;

-- Issues that a client created for a member; its changes to other issues are guarded.
CREATE TABLE agent_issues (
  workspace_id TEXT NOT NULL, issue_id TEXT NOT NULL, client_id TEXT NOT NULL, member_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, issue_id)
) STRICT, WITHOUT ROWID;
