-- When a key was last used, written at most once a minute; which key took its place when it was rolled.
ALTER TABLE api_keys ADD COLUMN last_used_at INTEGER;
ALTER TABLE api_keys ADD COLUMN replaced_by TEXT;
