-- A version that asks for more than was granted waits for consent, while the one before goes on under its own grant.
ALTER TABLE plugins ADD COLUMN pending_json TEXT;
-- Who signed the package, by the name that the operator trusts their key under; null: nobody whom they trust.
ALTER TABLE plugins ADD COLUMN publisher TEXT;
-- Runs that it still has to propose. Counted down beside the version, as nobody edits it.
ALTER TABLE plugins ADD COLUMN probation_left INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plugins ADD COLUMN budget_json TEXT NOT NULL DEFAULT '{"whenSpent":"stop"}';

-- The versions that an install has run, the running one among them, so that it can go back to each.
CREATE TABLE plugin_versions (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, install_id TEXT NOT NULL,
  plugin_version TEXT NOT NULL, sha256 TEXT NOT NULL, publisher TEXT, manifest_json TEXT NOT NULL,
  grant_json TEXT NOT NULL, settings_json TEXT NOT NULL,
  installed_at INTEGER NOT NULL, installed_by_json TEXT NOT NULL, replaced_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX plugin_versions_install ON plugin_versions (workspace_id, install_id, id);
CREATE INDEX plugin_versions_code ON plugin_versions (workspace_id, sha256);
INSERT INTO plugin_versions (workspace_id, id, install_id, plugin_version, sha256, manifest_json, grant_json, settings_json,
    installed_at, installed_by_json)
  SELECT workspace_id, 'plv_' || substr(id, 5), id, plugin_version, sha256, manifest_json, grant_json, settings_json,
    created_at, '{"kind":"system","id":"plugins","name":"Before versions were kept"}'
  FROM plugins WHERE deleted_at IS NULL;

-- What an install used of its budget, by UTC day (days since 1970).
CREATE TABLE plugin_usage (
  workspace_id TEXT NOT NULL, install_id TEXT NOT NULL, day INTEGER NOT NULL,
  runs INTEGER NOT NULL, cpu_ms REAL NOT NULL, calls INTEGER NOT NULL, egress_bytes INTEGER NOT NULL, told INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, install_id, day)
) STRICT, WITHOUT ROWID;
-- What it used each of its scopes for.
CREATE TABLE plugin_scope_use (
  workspace_id TEXT NOT NULL, install_id TEXT NOT NULL, scope TEXT NOT NULL,
  used_at INTEGER NOT NULL, calls INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, install_id, scope)
) STRICT, WITHOUT ROWID;
