-- Search takes ß for ss and ς for σ: texts with such letters are indexed again in the background.
INSERT INTO search_pending (workspace_id, id, revision)
SELECT workspace_id, id, 1 FROM issues WHERE deleted_at IS NULL AND title || ' ' || description GLOB '*[ßẞς]*'
ON CONFLICT DO UPDATE SET revision = revision + 1;
INSERT INTO search_pending (workspace_id, id, revision)
SELECT workspace_id, id, 1 FROM comments WHERE deleted_at IS NULL AND body GLOB '*[ßẞς]*'
ON CONFLICT DO UPDATE SET revision = revision + 1;
