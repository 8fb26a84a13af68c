-- The ids of the teams that a guest sees; of other roles, none.
ALTER TABLE members ADD COLUMN teams_json TEXT NOT NULL DEFAULT '[]';
