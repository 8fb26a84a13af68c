-- Apps that act for members by OAuth 2, and what members granted them.

-- Registered by an admin of a workspace. Of secrets only hashes are kept.
CREATE TABLE oauth_apps (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  name TEXT NOT NULL, description TEXT NOT NULL, homepage TEXT, redirect_uris_json TEXT NOT NULL,
  confidential INTEGER NOT NULL, secrets_json TEXT NOT NULL, secret_since INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, deleted_at INTEGER,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_apps_created ON oauth_apps (workspace_id, created_at, id);
-- system: an app is found by its client_id, before it is known in which workspace it asks.
CREATE UNIQUE INDEX oauth_apps_client ON oauth_apps (id) WHERE deleted_at IS NULL;

-- A client that registered itself (RFC 7591) belongs to the installation: which workspace it is let into is chosen at the consent.
CREATE TABLE oauth_clients (
  id TEXT PRIMARY KEY,
  metadata_json TEXT NOT NULL,
  -- SHA-256 of its secret, null for a public client, and of the token that manages its registration (RFC 7592).
  secret_hash TEXT, token_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  -- Set by its first grant: until then the registration may go again.
  used INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_clients_unused ON oauth_clients (created_at, id) WHERE used = 0;

CREATE TABLE grants (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  member_id TEXT NOT NULL,
  client_id TEXT NOT NULL, client_name TEXT NOT NULL, client_kind TEXT NOT NULL, client_verified INTEGER NOT NULL,
  redirect_host TEXT, resource TEXT NOT NULL,
  scopes_json TEXT NOT NULL, guarded_json TEXT NOT NULL,
  last_used_at INTEGER, revoked_at INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX grants_created ON grants (workspace_id, created_at, id);
CREATE INDEX grants_member ON grants (workspace_id, member_id, created_at, id);
-- system: a token names its grant, and a client that is gone ends its grants in all workspaces.
CREATE UNIQUE INDEX grants_live ON grants (id) WHERE revoked_at IS NULL;
CREATE INDEX grants_client ON grants (client_id);
