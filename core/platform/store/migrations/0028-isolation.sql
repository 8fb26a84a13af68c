-- How often a value of an install was written, so that a run which listed keys can ask whether any was since.
ALTER TABLE plugin_kv_usage ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
