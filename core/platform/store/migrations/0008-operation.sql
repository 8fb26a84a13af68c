-- The key of the first start, as `<workspace>/<key>`, until it has been shown: a start that is killed before is finished by the next one.
ALTER TABLE installation ADD COLUMN unseen_key TEXT;
-- Problems that all workspaces were told of and that are not over, as JSON: `[kind, since in milliseconds]`.
ALTER TABLE installation ADD COLUMN told_problems TEXT NOT NULL DEFAULT '[]';
