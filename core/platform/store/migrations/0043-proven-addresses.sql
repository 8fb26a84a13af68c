-- An account holds an address as proven, or claims it: of those who claim one there may be several, of those who proved it there is one.
CREATE TABLE accounts_proven (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- As it was typed, and its normal form.
  email TEXT NOT NULL, email_key TEXT NOT NULL,
  -- Time at which its mailbox was shown to be the holder's; null until then.
  email_verified_at INTEGER,
  -- argon2id in the PHC form; null for accounts that sign in by other means alone.
  password_hash TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO accounts_proven SELECT id, name, email, email_key, NULL, password_hash, created_at, updated_at FROM accounts;
DROP TABLE accounts;
ALTER TABLE accounts_proven RENAME TO accounts;
CREATE INDEX accounts_address ON accounts (email_key, id);
CREATE UNIQUE INDEX accounts_proven_address ON accounts (email_key) WHERE email_verified_at IS NOT NULL;

-- Normal form of the address. Of addresses in ASCII, which is nearly all, lower case is the normal form; the others get theirs with the
-- next change of the member.
ALTER TABLE members ADD COLUMN email_key TEXT;
UPDATE members SET email_key = lower(trim(email)) WHERE email IS NOT NULL;
DROP INDEX members_email;
CREATE UNIQUE INDEX members_email ON members (workspace_id, email_key) WHERE email_key IS NOT NULL AND deleted_at IS NULL;

-- Address and role that an invitation is made for, and the hash of the link that was mailed to that address and told nobody else.
ALTER TABLE invitations ADD COLUMN email_key TEXT;
ALTER TABLE invitations ADD COLUMN role TEXT NOT NULL DEFAULT '';
ALTER TABLE invitations ADD COLUMN mailed_hash TEXT;
UPDATE invitations SET
  email_key = (SELECT m.email_key FROM members AS m WHERE m.workspace_id = invitations.workspace_id AND m.id = member_id),
  role = (SELECT m.role FROM members AS m WHERE m.workspace_id = invitations.workspace_id AND m.id = member_id);
CREATE INDEX invitations_address ON invitations (email_key) WHERE email_key IS NOT NULL;
CREATE UNIQUE INDEX invitations_mailed ON invitations (mailed_hash) WHERE mailed_hash IS NOT NULL;

-- 1 for a link to reset that was mailed to the address of the account: its use proves the address.
ALTER TABLE password_resets ADD COLUMN by_mail INTEGER NOT NULL DEFAULT 0;
