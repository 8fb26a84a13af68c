// Cancels the open deliveries of an endpoint that is disabled or deleted. The first ones are canceled in the
// batch of the change, the others in steps; until then their status derives from the endpoint. An endpoint
// can only be enabled again once no open deliveries are left. Spec: docs/spec/webhooks.md › States.
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope } from '../../../platform/store/store.ts';

/** Limit per batch, so that no commit takes long. */
export const canceledAtOnce = 500;

const isOpen = `workspace_id = :ws AND endpoint_id = :endpointId AND status IN ('pending', 'retrying')`;
/** Open deliveries of an endpoint; none once the endpoint is enabled again. */
const openOnes = `SELECT id FROM deliveries INDEXED BY deliveries_open WHERE ${isOpen} AND NOT EXISTS
    (SELECT 1 FROM endpoints AS e WHERE e.workspace_id = :ws AND e.id = :endpointId AND e.enabled = 1 AND e.deleted_at IS NULL)
  ORDER BY sequence, id LIMIT :limit`;

const dropWork = tenantStatement(
  'due_work.drop_of_endpoint',
  `DELETE FROM due_work WHERE workspace_id = :ws AND id IN (${openOnes})`,
);
const cancelOpen = tenantStatement<{ id: string }>(
  'deliveries.cancel_open',
  `UPDATE deliveries SET status = 'canceled', next_attempt_at = NULL, finished_at = :now
   WHERE workspace_id = :ws AND id IN (${openOnes}) RETURNING id`,
);
/** Fails the batch that would enable an endpoint while it has open deliveries. */
const noneOpen = tenantStatement(
  'endpoints.none_open',
  `UPDATE endpoints SET version = version WHERE workspace_id = :ws AND id = :endpointId
     AND NOT EXISTS (SELECT 1 FROM deliveries INDEXED BY deliveries_open WHERE ${isOpen})`,
);

/** Cancels some of the open deliveries of a disabled endpoint. @param taken receives their ids */
export function cancelOpenOps(
  scope: Scope,
  endpointId: string,
  nowMs: number,
  taken: (ids: readonly string[]) => void = () => undefined,
): Op[] {
  const some = { endpointId, limit: canceledAtOnce };
  return [
    tenantOp(scope, dropWork, some),
    tenantOp(
      scope,
      cancelOpen,
      { ...some, now: nowMs },
      { taken: (rows) => taken(rows.map(({ id }) => String(id))) },
    ),
  ];
}

type Switched = { readonly id: string; readonly enabled: boolean; readonly deletedAt: number | null };

const isOn = ({ enabled, deletedAt }: Switched): boolean => enabled && deletedAt === null;

export function goesOff(before: Switched, after: Switched): boolean {
  return isOn(before) && !isOn(after);
}

/** Returns the ops for the deliveries of an endpoint whose state changes, for the batch of that change. */
export function switchOps(
  scope: Scope,
  before: Switched,
  after: Switched & { readonly updatedAt: number },
): Op[] {
  if (goesOff(before, after)) return cancelOpenOps(scope, after.id, after.updatedAt);
  if (isOn(after) && !isOn(before))
    return [tenantOp(scope, noneOpen, { endpointId: after.id }, { expectRows: 1 })];
  return [];
}
