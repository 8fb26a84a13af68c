// SQL invariants over all relations: one per type and pair of issues, one original per duplicate, no cycles.
import { tenantStatement } from '../../store/statement.ts';

/**
 * Covers both directions: `relates_to` stores the smaller id first, and the inverse of any other type would
 * close a cycle.
 */
export const related = tenantStatement<{ id: string }>(
  'relations.of_pair',
  `SELECT id FROM relations WHERE workspace_id = :ws AND from_id = :fromId AND type = :type AND issue_id = :issueId
     AND deleted_at IS NULL`,
);

export const originalOf = tenantStatement<{ id: string }>(
  'relations.original_of',
  `SELECT id FROM relations WHERE workspace_id = :ws AND from_id = :fromId AND type = 'duplicate_of' AND deleted_at IS NULL`,
);

/** Returns SQL that is true if one issue reaches another by relations of a type. */
const reaches = (from: string, type: string, to: string): string => `EXISTS (
  WITH RECURSIVE reached (id) AS (
    SELECT ${from} UNION SELECT r.issue_id FROM reached JOIN relations AS r
      ON r.workspace_id = :ws AND r.from_id = reached.id AND r.type = ${type} AND r.deleted_at IS NULL
  ) SELECT 1 FROM reached WHERE reached.id = ${to})`;

export const closesCircle = tenantStatement<{ found: number }>(
  'relations.closes_circle',
  `SELECT 1 AS found FROM issues WHERE workspace_id = :ws AND id = :fromId AND ${reaches(':issueId', ':type', ':fromId')}`,
);

/** Fails a batch that would close a cycle, even with concurrent commits. */
export const noCircle = tenantStatement(
  'relations.no_circle',
  `UPDATE relations SET version = version WHERE workspace_id = :ws AND id = :id AND NOT
     ${reaches('relations.issue_id', 'relations.type', 'relations.from_id')}`,
);
