-- Tenant tables: STRICT, WITHOUT ROWID, keyed by (workspace_id, id); every index but those marked "system" starts with
-- workspace_id. Times are milliseconds since the epoch, UTC. JSON columns are named *_json.

CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL) STRICT;

CREATE TABLE log_head (id INTEGER PRIMARY KEY CHECK (id = 1), position INTEGER NOT NULL, hash TEXT NOT NULL) STRICT;
INSERT INTO log_head VALUES (1, 0, '0000000000000000000000000000000000000000000000000000000000000000');

CREATE TABLE workspaces (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL CHECK (id = workspace_id),
  name TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, email TEXT, role TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, workspace_id) REFERENCES workspaces (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX members_email ON members (workspace_id, lower(email)) WHERE email IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE teams (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  key TEXT NOT NULL, name TEXT NOT NULL, transitions_json TEXT,
  -- Moved only by the creation of an issue, never by an update of the team.
  issue_count INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
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
CREATE UNIQUE INDEX labels_name ON labels (workspace_id, coalesce(team_id, ''), lower(name)) WHERE deleted_at IS NULL;

CREATE TABLE projects (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, description TEXT NOT NULL, status TEXT NOT NULL, health TEXT,
  lead_id TEXT, start_date TEXT, target_date TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, lead_id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX projects_created ON projects (workspace_id, created_at, id);

CREATE TABLE issues (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  team_id TEXT NOT NULL, number INTEGER NOT NULL,
  title TEXT NOT NULL, state_id TEXT NOT NULL,
  -- 0 urgent, 1 high, 2 medium, 3 low, 4 none: an ascending sort puts the most urgent first and none last.
  priority INTEGER NOT NULL,
  assignee_id TEXT, creator_kind TEXT NOT NULL, creator_id TEXT NOT NULL, creator_name TEXT NOT NULL,
  project_id TEXT, parent_id TEXT, estimate REAL, due_date TEXT,
  external_source TEXT, external_id TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  -- Last, because it is long: SQLite then reads the other columns without following overflow pages.
  description TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id),
  FOREIGN KEY (workspace_id, state_id) REFERENCES states (workspace_id, id),
  FOREIGN KEY (workspace_id, assignee_id) REFERENCES members (workspace_id, id),
  FOREIGN KEY (workspace_id, project_id) REFERENCES projects (workspace_id, id),
  FOREIGN KEY (workspace_id, parent_id) REFERENCES issues (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX issues_number ON issues (workspace_id, team_id, number);
CREATE UNIQUE INDEX issues_external ON issues (workspace_id, external_source, external_id) WHERE external_id IS NOT NULL;
CREATE INDEX issues_created ON issues (workspace_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_updated ON issues (workspace_id, updated_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_team ON issues (workspace_id, team_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_state ON issues (workspace_id, state_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX issues_assignee ON issues (workspace_id, assignee_id, created_at, id) WHERE deleted_at IS NULL AND assignee_id IS NOT NULL;
CREATE INDEX issues_parent ON issues (workspace_id, parent_id) WHERE parent_id IS NOT NULL;

CREATE TABLE issue_labels (
  workspace_id TEXT NOT NULL, issue_id TEXT NOT NULL, label_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, issue_id, label_id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, label_id) REFERENCES labels (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX issue_labels_label ON issue_labels (workspace_id, label_id, issue_id);

CREATE TABLE comments (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  issue_id TEXT NOT NULL, parent_id TEXT,
  author_kind TEXT NOT NULL, author_id TEXT NOT NULL, author_name TEXT NOT NULL,
  resolved_at INTEGER, resolved_by TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  body TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, issue_id) REFERENCES issues (workspace_id, id),
  FOREIGN KEY (workspace_id, parent_id) REFERENCES comments (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX comments_issue ON comments (workspace_id, issue_id, created_at, id);

CREATE TABLE api_keys (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, prefix TEXT NOT NULL, secret_hash TEXT NOT NULL, scopes_json TEXT NOT NULL,
  member_id TEXT NOT NULL, expires_at INTEGER, revoked_at INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id),
  FOREIGN KEY (workspace_id, member_id) REFERENCES members (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- system: a key names its workspace only once it has been found by its public prefix.
CREATE UNIQUE INDEX api_keys_prefix ON api_keys (prefix);

CREATE TABLE events (
  workspace_id TEXT NOT NULL, sequence INTEGER NOT NULL,
  id TEXT NOT NULL, type TEXT NOT NULL, created_at INTEGER NOT NULL,
  entity_kind TEXT NOT NULL, entity_id TEXT NOT NULL, issue_id TEXT,
  -- The issue's number where only the commit knew it; rendered into the payload by renderEvent.
  number INTEGER,
  actor_json TEXT NOT NULL, cause_json TEXT NOT NULL, request_id TEXT, traceparent TEXT,
  data_json TEXT NOT NULL,
  PRIMARY KEY (workspace_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX events_id ON events (workspace_id, id);
CREATE INDEX events_issue ON events (workspace_id, issue_id, sequence) WHERE issue_id IS NOT NULL;
CREATE INDEX events_inbox ON events (workspace_id, sequence) WHERE type = 'inbox.item_created';

CREATE TABLE cursors (
  workspace_id TEXT NOT NULL, consumer TEXT NOT NULL, sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, consumer)
) STRICT, WITHOUT ROWID;

-- One row per piece of work that waits for a worker (a run, a delivery, a schedule). A lease is held by one owner (a
-- process) until lease_until; epoch fences what an earlier holder still tries to write.
CREATE TABLE due_work (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  kind TEXT NOT NULL, due_at INTEGER NOT NULL, lease_until INTEGER NOT NULL DEFAULT 0,
  lease_owner TEXT, epoch INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- system: workers serve all workspaces, earliest first.
CREATE INDEX due_work_due ON due_work (kind, due_at) WHERE lease_owner IS NULL;
CREATE INDEX due_work_leased ON due_work (kind, lease_until) WHERE lease_owner IS NOT NULL;

CREATE TABLE idempotency (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  body_hash TEXT NOT NULL, status INTEGER NOT NULL, headers_json TEXT NOT NULL, body BLOB NOT NULL, sealed INTEGER NOT NULL,
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- system: housekeeping.
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE TABLE plugins (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  plugin_id TEXT NOT NULL, plugin_version TEXT NOT NULL, sha256 TEXT NOT NULL, manifest_json TEXT NOT NULL,
  grant_json TEXT NOT NULL, settings_json TEXT NOT NULL, mode TEXT NOT NULL,
  state TEXT NOT NULL, state_reason TEXT,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX plugins_plugin ON plugins (workspace_id, plugin_id) WHERE deleted_at IS NULL;

CREATE TABLE plugin_code (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_kv (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, key TEXT NOT NULL, bytes INTEGER NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  value_json TEXT,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX plugin_kv_key ON plugin_kv (workspace_id, install_id, key);

CREATE TABLE runs (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, handler_kind TEXT NOT NULL, handler TEXT NOT NULL,
  -- Runs with the same order_key go one after the other, by sequence.
  order_key TEXT NOT NULL, sequence INTEGER NOT NULL, event_id TEXT,
  root_event_id TEXT, depth INTEGER NOT NULL,
  status TEXT NOT NULL, mode TEXT NOT NULL, attempt INTEGER NOT NULL,
  created_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER,
  cpu_ms REAL, memory_bytes INTEGER, wall_ms REAL, queue_ms REAL,
  events_json TEXT NOT NULL DEFAULT '[]', calls_json TEXT NOT NULL DEFAULT '[]', effects_json TEXT NOT NULL DEFAULT '[]',
  logs_json TEXT NOT NULL DEFAULT '[]', error_json TEXT,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_install ON runs (workspace_id, install_id, created_at, id);
-- system: housekeeping.
CREATE INDEX runs_finished ON runs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX runs_open ON runs (workspace_id, install_id, handler, order_key, sequence) WHERE status IN ('queued', 'running', 'retrying');
CREATE INDEX runs_root ON runs (workspace_id, root_event_id) WHERE root_event_id IS NOT NULL;

CREATE TABLE endpoints (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  url TEXT NOT NULL, description TEXT NOT NULL, events_json TEXT NOT NULL, namespaces_json TEXT NOT NULL, filter_json TEXT,
  since_sequence INTEGER NOT NULL,
  enabled INTEGER NOT NULL, disabled_reason TEXT,
  ordering TEXT NOT NULL, payload_version TEXT NOT NULL,
  secret_sealed BLOB NOT NULL, secret_since INTEGER NOT NULL, previous_secrets_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX endpoints_created ON endpoints (workspace_id, created_at, id);

CREATE TABLE deliveries (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  endpoint_id TEXT NOT NULL, event_id TEXT NOT NULL, event_type TEXT NOT NULL, sequence INTEGER NOT NULL,
  -- event, replay, ping or sample; a sample is in no log, so it brings its payload.
  origin TEXT NOT NULL, sample_json TEXT,
  -- Of an ordered endpoint: deliveries of one key are made one after the other.
  order_key TEXT,
  status TEXT NOT NULL, attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL, first_attempt_at INTEGER, next_attempt_at INTEGER, finished_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_created ON deliveries (workspace_id, created_at, id);
CREATE INDEX deliveries_endpoint ON deliveries (workspace_id, endpoint_id, created_at, id);
CREATE INDEX deliveries_event ON deliveries (workspace_id, event_id);
CREATE INDEX deliveries_open ON deliveries (workspace_id, endpoint_id, sequence) WHERE status IN ('pending', 'retrying');
CREATE INDEX deliveries_ordered ON deliveries (workspace_id, endpoint_id, order_key, sequence, id)
  WHERE order_key IS NOT NULL AND status IN ('pending', 'retrying');
-- system: housekeeping.
CREATE INDEX deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;

-- How an endpoint has been doing; beside its row, because it moves with every failure and is no change of the endpoint.
CREATE TABLE endpoint_health (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, failures INTEGER NOT NULL, failing_since INTEGER, succeeded_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- Events of the past sent again to an endpoint, a page at a time.
CREATE TABLE replays (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, endpoint_id TEXT NOT NULL,
  since INTEGER, until INTEGER, only_undelivered INTEGER NOT NULL,
  status TEXT NOT NULL, after_sequence INTEGER NOT NULL, last_sequence INTEGER NOT NULL, deliveries INTEGER NOT NULL,
  created_at INTEGER NOT NULL, finished_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX replays_endpoint ON replays (workspace_id, endpoint_id, created_at, id);
-- system: housekeeping.
CREATE INDEX replays_finished ON replays (finished_at) WHERE finished_at IS NOT NULL;

CREATE TABLE attempts (
  workspace_id TEXT NOT NULL, delivery_id TEXT NOT NULL, number INTEGER NOT NULL,
  at INTEGER NOT NULL, latency_ms REAL NOT NULL, status_code INTEGER, error TEXT,
  request_headers_json TEXT NOT NULL, response_headers_json TEXT, response_body BLOB, truncated INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, delivery_id, number),
  FOREIGN KEY (workspace_id, delivery_id) REFERENCES deliveries (workspace_id, id)
) STRICT, WITHOUT ROWID;
