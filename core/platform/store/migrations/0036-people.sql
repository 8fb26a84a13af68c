-- People who sign in. An account belongs to the installation; in a workspace it acts as the member whose seat it has taken.
CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- As it was typed, and as it is compared.
  email TEXT NOT NULL, email_key TEXT NOT NULL UNIQUE,
  -- argon2id in the PHC form; null: this account signs in by other means alone.
  password_hash TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE seats (
  workspace_id TEXT NOT NULL, member_id TEXT NOT NULL, account_id TEXT NOT NULL, taken_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, member_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX seats_account ON seats (account_id, workspace_id);
-- When an account took the seat; null: none has.
ALTER TABLE members ADD COLUMN joined_at INTEGER;

-- A browser that is signed in. Only the hash of its token is kept.
CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  -- When the person last proved who they are.
  proved_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  address TEXT NOT NULL, agent TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_account ON sessions (account_id, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Links by which an account takes the seat of a member, one for each member at most. Only the hash of its token is kept.
CREATE TABLE invitations (
  workspace_id TEXT NOT NULL, member_id TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE,
  -- The name of who made it.
  invited_by TEXT NOT NULL,
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, member_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX invitations_expiry ON invitations (expires_at);

-- Links by which an account gets another password, one for each at most. Only the hash of its token is kept.
CREATE TABLE password_resets (
  account_id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX password_resets_expiry ON password_resets (expires_at);
