-- Leads from the code of a plugin to its author's lines; absent where the package held none.
ALTER TABLE plugin_code ADD COLUMN source_map TEXT;
