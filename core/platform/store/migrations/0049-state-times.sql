-- Times at which issues were started, completed and canceled; null where unknown.
ALTER TABLE issues ADD COLUMN started_at INTEGER;
ALTER TABLE issues ADD COLUMN completed_at INTEGER;
ALTER TABLE issues ADD COLUMN canceled_at INTEGER;

-- Payloads of events are compressed, so only types and times of events can be read here. They are conclusive for an issue that never left
-- its team and stands in the team's only state of a type: its last change of state is its entry. An issue that was created in that state
-- entered it then, unless an import gave it an earlier time of creation. For `started` the last change is the first entry only where it is
-- the only one.
WITH sole AS (
  SELECT workspace_id, team_id, max(id) AS state_id, type FROM states
  WHERE type IN ('started', 'completed', 'canceled', 'duplicate') GROUP BY workspace_id, team_id, type HAVING count(*) = 1
), logged AS (
  SELECT workspace_id, entity_id AS id, sum(type = 'issue.state_changed') AS changes,
    max(CASE type WHEN 'issue.state_changed' THEN created_at END) AS changed_at,
    max(CASE type WHEN 'issue.created' THEN created_at END) AS made_at
  FROM events WHERE entity_kind = 'issue' AND type IN ('issue.created', 'issue.state_changed', 'issue.moved')
  GROUP BY workspace_id, entity_id HAVING sum(type = 'issue.moved') = 0
), entered AS (
  SELECT i.workspace_id, i.id, s.type, l.changes,
    CASE WHEN l.changes > 0 THEN l.changed_at WHEN l.made_at - i.created_at BETWEEN 0 AND 60000 THEN l.made_at END AS at
  FROM issues AS i
    JOIN sole AS s ON s.workspace_id = i.workspace_id AND s.team_id = i.team_id AND s.state_id = i.state_id
    JOIN logged AS l ON l.workspace_id = i.workspace_id AND l.id = i.id
)
UPDATE issues SET
  started_at = CASE WHEN e.type = 'started' AND e.changes < 2 THEN e.at END,
  completed_at = CASE e.type WHEN 'completed' THEN e.at END,
  canceled_at = CASE WHEN e.type IN ('canceled', 'duplicate') THEN e.at END
FROM entered AS e WHERE e.workspace_id = issues.workspace_id AND e.id = issues.id;

-- Identifiers of purged issues stay, so that the past can be read by them: these rows outlive their issue.
CREATE TABLE all_former_identifiers (
  workspace_id TEXT NOT NULL, team_id TEXT NOT NULL, number INTEGER NOT NULL, issue_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, team_id, number),
  FOREIGN KEY (workspace_id, team_id) REFERENCES teams (workspace_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO all_former_identifiers SELECT workspace_id, team_id, number, issue_id FROM former_identifiers;
DROP TABLE former_identifiers;
ALTER TABLE all_former_identifiers RENAME TO former_identifiers;
CREATE INDEX former_identifiers_issue ON former_identifiers (workspace_id, issue_id);
