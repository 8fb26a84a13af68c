-- Digest of manifest and code of each version that waited for consent, by the hash of its code; 'several' for code that came with more
-- than one manifest.
ALTER TABLE plugins ADD COLUMN offered_json TEXT NOT NULL DEFAULT '{}';
