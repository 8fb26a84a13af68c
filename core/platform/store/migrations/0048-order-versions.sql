-- The version of each order whose objects are placed by their neighbors: the cards of a board, the sub-issues of an issue, the positions
-- of a list. A plan that places something commits only at the version that it read.
CREATE TABLE order_versions (
  workspace_id TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;
