-- Work is for a subject (an install, an endpoint), and what its subject has no room for is held back by subject.
ALTER TABLE due_work ADD COLUMN subject TEXT NOT NULL DEFAULT '';
UPDATE due_work SET subject = coalesce(CASE kind
    WHEN 'run' THEN (SELECT install_id FROM runs AS r WHERE r.workspace_id = due_work.workspace_id AND r.id = due_work.id)
    WHEN 'schedule' THEN substr(id, 1, instr(id, '/') - 1)
    WHEN 'delivery' THEN (SELECT endpoint_id FROM deliveries AS d WHERE d.workspace_id = due_work.workspace_id AND d.id = due_work.id)
    WHEN 'replay' THEN (SELECT endpoint_id FROM replays AS r WHERE r.workspace_id = due_work.workspace_id AND r.id = due_work.id)
  END, '');
-- Of deliveries, those held back and those that wait for another had these two times the other way round than runs do.
UPDATE due_work SET due_at = CASE due_at WHEN 8640000000000000 THEN 8640000000000001 ELSE 8640000000000000 END
  WHERE kind = 'delivery' AND due_at >= 8640000000000000;
-- system: workers serve all workspaces, earliest first.
DROP INDEX due_work_due;
CREATE INDEX due_work_due ON due_work (kind, due_at) WHERE lease_owner IS NULL AND due_at < 8640000000000000;
CREATE INDEX due_work_held_back ON due_work (workspace_id, kind, subject, id)
  WHERE due_at = 8640000000000001 AND lease_owner IS NULL;
