-- The grant by which an app proposed, so that what it proposed ends with that grant.
ALTER TABLE proposals ADD COLUMN grant_id TEXT;
-- Credentials that ended before have nothing open.
INSERT INTO cursors (workspace_id, consumer, sequence)
  SELECT w.workspace_id, 'reaction proposals', coalesce((SELECT max(e.sequence) FROM events AS e WHERE e.workspace_id = w.workspace_id), 0)
  FROM workspaces AS w WHERE true;

-- What ends a credential is final, whichever statement would take it back.
CREATE TRIGGER api_keys_end_once BEFORE UPDATE OF revoked_at ON api_keys
  WHEN old.revoked_at IS NOT NULL AND new.revoked_at IS NOT old.revoked_at
  BEGIN SELECT raise(ABORT, 'a revoked API key stays revoked'); END;
CREATE TRIGGER grants_end_once BEFORE UPDATE OF revoked_at ON grants
  WHEN old.revoked_at IS NOT NULL AND new.revoked_at IS NOT old.revoked_at
  BEGIN SELECT raise(ABORT, 'a revoked grant stays revoked'); END;
CREATE TRIGGER members_end_once BEFORE UPDATE OF deleted_at ON members
  WHEN old.deleted_at IS NOT NULL AND new.deleted_at IS NOT old.deleted_at
  BEGIN SELECT raise(ABORT, 'a removed member stays removed'); END;
CREATE TRIGGER oauth_apps_end_once BEFORE UPDATE OF deleted_at ON oauth_apps
  WHEN old.deleted_at IS NOT NULL AND new.deleted_at IS NOT old.deleted_at
  BEGIN SELECT raise(ABORT, 'a deleted OAuth app stays deleted'); END;
CREATE TRIGGER oauth_tokens_consumed_once BEFORE UPDATE OF consumed_at ON oauth_tokens
  WHEN old.consumed_at IS NOT NULL AND new.consumed_at IS NOT old.consumed_at
  BEGIN SELECT raise(ABORT, 'a used token stays used'); END;
