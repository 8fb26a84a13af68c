-- What the authorization server gave out: codes, tokens, and requests that a person has yet to decide.
CREATE TABLE oauth_tokens (
  -- SHA-256 of what the client or the browser holds.
  id TEXT PRIMARY KEY,
  -- As the protocol library names it: AccessToken, RefreshToken, AuthorizationCode, DeviceCode, Interaction …
  kind TEXT NOT NULL,
  -- Of the grant; empty and null until a member has consented.
  workspace_id TEXT NOT NULL, grant_id TEXT,
  -- Of an access token, so that a request needs to open nothing.
  scope TEXT,
  -- Of a device code: an authentication code over what the person types.
  user_code_tag TEXT UNIQUE,
  payload_sealed BLOB NOT NULL,
  consumed_at INTEGER,
  -- When a person decided what is asked; of requests and device codes.
  decided_at INTEGER,
  -- Null for what does not expire.
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_tokens_expiry ON oauth_tokens (expires_at) WHERE expires_at IS NOT NULL;
