-- Who made what acts for others, and with which key: it ends with the right to make it. Null: the operator, or an earlier version.
ALTER TABLE api_keys ADD COLUMN minted_with TEXT;
ALTER TABLE invitations ADD COLUMN invited_by_id TEXT;
ALTER TABLE invitations ADD COLUMN invited_with TEXT;
ALTER TABLE endpoints ADD COLUMN maker_id TEXT;
ALTER TABLE endpoints ADD COLUMN made_with TEXT;
