-- What the values of each install take, so that the quota costs one look: bytes as stored and as charged for each key, how many
-- keys there are, and the highest version of a value that was deleted, above which a new one begins.
CREATE TABLE plugin_kv_usage (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, bytes INTEGER NOT NULL, keys INTEGER NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO plugin_kv_usage
  SELECT workspace_id, install_id, coalesce(sum(bytes + 100 + length(key)) FILTER (WHERE value_json IS NOT NULL), 0),
    count(*) FILTER (WHERE value_json IS NOT NULL), max(version)
  FROM plugin_kv GROUP BY workspace_id, install_id;
DELETE FROM plugin_kv WHERE value_json IS NULL;
