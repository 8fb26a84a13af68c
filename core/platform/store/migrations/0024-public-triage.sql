-- Which teams' issues strangers are told of as duplicates; null: none.
ALTER TABLE workspaces ADD COLUMN public_triage_json TEXT;
