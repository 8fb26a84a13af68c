-- The version of the plugin that made the last attempt of a run: what is installed later says nothing of it.
ALTER TABLE runs ADD COLUMN plugin_version TEXT;
