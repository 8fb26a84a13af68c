-- How people prove who they are beside a password.

-- Public keys of authenticators (Web Authentication Level 3).
CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  -- base64url, as browsers name it.
  credential_id TEXT NOT NULL UNIQUE,
  -- COSE (RFC 9052).
  public_key BLOB NOT NULL,
  -- Of the signatures that the authenticator has made; 0 for one that does not count.
  counter INTEGER NOT NULL,
  transports_json TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL, last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_account ON passkeys (account_id, id);

-- One-time codes (RFC 6238); the id is that of the account.
CREATE TABLE one_time_codes (
  id TEXT PRIMARY KEY,
  secret_sealed BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  -- Null until a code has shown that the secret arrived: until then no code is asked for.
  confirmed_at INTEGER,
  -- The last step whose code was taken: no code is taken twice.
  last_step INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- For whoever has lost the device that makes the codes. Each works once; only hashes are kept.
CREATE TABLE recovery_codes (
  account_id TEXT NOT NULL, code_hash TEXT NOT NULL,
  PRIMARY KEY (account_id, code_hash)
) STRICT, WITHOUT ROWID;

-- Accounts at outside OpenID providers by which people sign in here. What names one is its issuer and its subject, never an address.
CREATE TABLE outside_accounts (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  issuer TEXT NOT NULL, subject TEXT NOT NULL,
  -- What the provider calls it, to be shown to its owner.
  shown_as TEXT NOT NULL,
  created_at INTEGER NOT NULL, last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX outside_accounts_subject ON outside_accounts (issuer, subject);
CREATE INDEX outside_accounts_account ON outside_accounts (account_id, id);

-- What a browser has begun and is to finish soon: the answer of an authenticator, of a provider, or a code. The token is in its cookie,
-- and the secrets of the exchange follow from it: here is what finishes nothing.
CREATE TABLE ceremonies (
  token_hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  account_id TEXT,
  details_json TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ceremonies_expiry ON ceremonies (expires_at);
