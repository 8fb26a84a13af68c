-- First key of a chain of rolled keys; null for a key that replaced no other. Idempotency keys and rate limits of a chain are shared.
ALTER TABLE api_keys ADD COLUMN lineage_id TEXT;
