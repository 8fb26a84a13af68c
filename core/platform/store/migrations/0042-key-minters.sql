-- The member by whose request a key was made; null: by the operator, or before this was kept.
ALTER TABLE api_keys ADD COLUMN minted_by TEXT;
