// Storage and events of cycles. Invariants are enforced in the batch that writes, so they hold with
// concurrent writers: cycles of a team do not overlap, and a deleted cycle has no issues.
import { modelOf, type EntityOf } from '../../kernel/resource/model.ts';
import { tenantStatement } from '../../platform/store/statement.ts';
import { tenantOp } from '../../platform/store/store.ts';
import { cycle } from './contract.ts';
import { cyclesDueOp } from './due.ts';

export type Cycle = EntityOf<typeof cycle>;

/** Fails a batch that would leave overlapping cycles. */
const apart = tenantStatement(
  'cycles.apart',
  `UPDATE cycles SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (
     SELECT 1 FROM cycles AS o INDEXED BY cycles_team_start
     WHERE o.workspace_id = :ws AND o.team_id = :teamId AND o.deleted_at IS NULL AND o.id <> :id
       AND o.starts_at < :endsAt AND o.ends_at > :startsAt)`,
);
/** Fails a deletion if an issue was added to the cycle in the meantime. */
const empty = tenantStatement(
  'cycles.empty',
  `UPDATE cycles SET version = version WHERE workspace_id = :ws AND id = :id AND NOT EXISTS (
     SELECT 1 FROM issues AS i INDEXED BY issues_cycle WHERE i.workspace_id = :ws AND i.cycle_id = :id AND i.deleted_at IS NULL)`,
);

export const cycleModel = modelOf(cycle, {
  events(before, after) {
    if (!before) return ['cycle.created'];
    if (before.deletedAt !== after.deletedAt) return ['cycle.deleted'];
    if (before.status === after.status) return ['cycle.updated'];
    return [after.status === 'active' ? 'cycle.started' : 'cycle.completed'];
  },
  special: {
    subjectId: ({ id }) => id,
    related(scope, _before, { id, teamId, startsAt, endsAt, updatedAt, deletedAt }) {
      const sound =
        deletedAt === null
          ? tenantOp(scope, apart, { id, teamId, startsAt, endsAt }, { expectRows: 1 })
          : tenantOp(scope, empty, { id }, { expectRows: 1 });
      return { last: [sound, cyclesDueOp(scope, teamId, updatedAt)] };
    },
  },
});
