-- One-off runs that a run asked for, actions that people call, and inbound routes.

-- What a run that no event caused was given: what its handler gets, why it runs, and on whose behalf.
ALTER TABLE runs ADD COLUMN input_json TEXT;
-- What an action or a route answered.
ALTER TABLE runs ADD COLUMN result_json TEXT;

CREATE TABLE one_offs (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, name TEXT NOT NULL, due_at INTEGER NOT NULL, input_json TEXT NOT NULL,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX one_offs_install ON one_offs (workspace_id, install_id, due_at, id);

CREATE TABLE plugin_routes (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  install_id TEXT NOT NULL, name TEXT NOT NULL,
  -- The address is known by its digest; sealed it can be shown again.
  token_hash TEXT NOT NULL, token_sealed BLOB NOT NULL, secret_sealed BLOB, opened_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
-- system: whoever sends to a route names no workspace.
CREATE UNIQUE INDEX plugin_routes_token ON plugin_routes (token_hash);

-- Signatures that were taken once, while their time is still good.
CREATE TABLE route_signatures (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX route_signatures_expiry ON route_signatures (workspace_id, expires_at);
