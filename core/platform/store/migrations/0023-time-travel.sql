-- The events of each object whose events are in no other one's history: boards, projects, and what gives things their names. Events of
-- issues are found by `events_issue`, so that creating one pays nothing for this.
CREATE INDEX events_object ON events (workspace_id, entity_kind, entity_id, sequence) WHERE issue_id IS NULL;
