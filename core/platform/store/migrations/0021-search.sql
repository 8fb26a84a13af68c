-- Search. The words of issues and comments, each with the mark of its workspace before it (core/tracker/search/words.ts), so that no
-- query meets the words of another workspace. No text is kept here: what is shown is read from the rows.
CREATE VIRTUAL TABLE search_index USING fts5(
  title, description, comment, content='', contentless_delete=1, tokenize='ascii'
);

-- Whose words a row of the index holds: an issue's, or a comment's.
CREATE TABLE search_documents (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL,
  doc INTEGER NOT NULL, issue_id TEXT NOT NULL, team_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX search_documents_doc ON search_documents (workspace_id, doc, issue_id, team_id);

-- What changed since its words were indexed. Written with the change; a search has it indexed first.
CREATE TABLE search_pending (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, revision INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- All that is there already is indexed in the background, and by the first searches.
INSERT INTO search_pending (workspace_id, id, revision)
SELECT workspace_id, id, 1 FROM issues WHERE deleted_at IS NULL;
INSERT INTO search_pending (workspace_id, id, revision)
SELECT workspace_id, id, 1 FROM comments WHERE deleted_at IS NULL;
