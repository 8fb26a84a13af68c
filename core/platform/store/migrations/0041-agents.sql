-- What waits for a person when an agent asks for it, beside what the consent to the agent says: JSON, words of core/lib/guarded.ts.
ALTER TABLE workspaces ADD COLUMN guarded_json TEXT NOT NULL DEFAULT '["delete","bulk","finish","others"]';

-- The issues that a client made for a member: what it does to others is guarded.
CREATE TABLE agent_issues (
  workspace_id TEXT NOT NULL, issue_id TEXT NOT NULL, client_id TEXT NOT NULL, member_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, issue_id)
) STRICT, WITHOUT ROWID;
