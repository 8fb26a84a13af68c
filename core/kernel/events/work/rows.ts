// Rows of the work queue. A row is due at a time, leased to a process, over the quota of its subscriber, or
// waiting for other work.
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import type { RowOf } from '../../table/define.ts';
import type { dueWorkTable } from '../../tables.ts';

/** Due time of work that waits for other work. */
export const neverMs = 8_640_000_000_000_000;
/**
 * Due time that marks work over the quota of its subscriber, which is claimed once the quota has capacity.
 */
export const overQuotaMs = neverMs + 1;

/** Columns that every statement that makes work due returns. */
const returned = ['id', 'subject', 'epoch', 'due_at', 'lease_until'] as const;
export type WorkRow = Pick<RowOf<typeof dueWorkTable>, (typeof returned)[number]>;

export const returningWork = `RETURNING ${returned.join(', ')}`;

/** Row of the work that a statement has just added; costs less than RETURNING. */
export const addedWork = tenantStatement<WorkRow>(
  'due_work.added',
  `SELECT ${returned.join(', ')} FROM due_work WHERE workspace_id = :ws AND id = :id`,
);

export const add = tenantStatement<WorkRow>(
  'due_work.add',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   VALUES (:ws, :id, :kind, :subject, :dueAt, :leaseUntil, :owner, 1)`,
  { returning: addedWork },
);
export const addAll = tenantStatement(
  'due_work.add_all',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   SELECT :ws, value->>0, :kind, value->>1, value->>2, value->>3, CASE WHEN value->>3 > 0 THEN :owner END, 1 FROM json_each(:rows)`,
);
export const finish = tenantStatement(
  'due_work.finish',
  'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id AND epoch = :epoch',
);
export const remove = tenantStatement(
  'due_work.remove',
  'DELETE FROM due_work WHERE workspace_id = :ws AND id = :id',
);
export const defer = tenantStatement(
  'due_work.defer',
  `UPDATE due_work SET due_at = :dueAt, lease_until = 0, lease_owner = NULL
   WHERE workspace_id = :ws AND id = :id AND epoch = :epoch`,
);

const serveAll = 'workers serve all workspaces, earliest first';
export const dueRows = systemStatement<{ workspace_id: string; id: string; subject: string }>(
  'due_work.due',
  serveAll,
  `SELECT workspace_id, id, subject FROM due_work WHERE kind = :kind AND lease_owner IS NULL AND due_at < ${neverMs} AND due_at <= :now
   ORDER BY due_at LIMIT :limit`,
);
export const nextDue = systemStatement<{ due_at: number }>(
  'due_work.next',
  serveAll,
  `SELECT due_at FROM due_work WHERE kind = :kind AND lease_owner IS NULL AND due_at < ${neverMs} ORDER BY due_at LIMIT 1`,
);
const stillDue = `(workspace_id, id) IN (SELECT value->>0, value->>1 FROM json_each(:rows))
  AND lease_owner IS NULL AND due_at <= :now`;
/** Leases those of the given rows that are still due. */
export const lease = systemStatement<WorkRow & { workspace_id: string }>(
  'due_work.lease',
  serveAll,
  `UPDATE due_work SET lease_until = :until, lease_owner = :owner, epoch = epoch + 1 WHERE ${stillDue}
   ${returningWork}, workspace_id`,
);
export const markOverQuota = systemStatement<WorkRow & { workspace_id: string }>(
  'due_work.mark_over_quota',
  serveAll,
  `UPDATE due_work SET due_at = ${overQuotaMs} WHERE ${stillDue}
   ${returningWork}, workspace_id`,
);
/** Leases the oldest work first: ids are ordered by creation time. */
export const leaseOverQuota = tenantStatement<WorkRow>(
  'due_work.lease_over_quota',
  `UPDATE due_work SET due_at = :now, lease_until = :until, lease_owner = :owner, epoch = epoch + 1
   WHERE workspace_id = :ws AND id IN (
     SELECT id FROM due_work INDEXED BY due_work_over_quota
     WHERE workspace_id = :ws AND kind = :kind AND subject = :subject
       AND due_at = ${overQuotaMs} AND lease_owner IS NULL ORDER BY id LIMIT :limit)
   ${returningWork}`,
);
export const subjectsOverQuota = systemStatement<{ workspace_id: string; subject: string }>(
  'due_work.subjects_over_quota',
  'work over its quota is searched in all workspaces',
  `SELECT DISTINCT workspace_id, subject FROM due_work
   WHERE kind = :kind AND due_at = ${overQuotaMs} AND lease_owner IS NULL
     AND (workspace_id, subject) > (:workspaceId, :subject)
   ORDER BY workspace_id, subject LIMIT :limit`,
);
export const moveBack = systemStatement(
  'due_work.move_back',
  'the clock was set back for all workspaces',
  `UPDATE due_work SET due_at = due_at - :by
   WHERE kind = :kind AND lease_owner IS NULL AND due_at > :now AND due_at < ${neverMs}`,
);
export const dropLeases = systemStatement(
  'due_work.drop_leases',
  'expired leases belong to dead workers of any workspace',
  `UPDATE due_work SET lease_until = 0, lease_owner = NULL
   WHERE kind = :kind AND lease_owner IS NOT NULL AND lease_until <= :expired AND lease_owner <> :owner`,
);
