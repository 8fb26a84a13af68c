// Cancels the open deliveries of an endpoint that is disabled or deleted. The first ones are canceled in the
// batch of the change, the others in steps; until then their status derives from the endpoint. An endpoint
// can only be enabled again once no open deliveries are left. Spec: docs/spec/webhooks.md › States.
import { tenantStatement, systemStatement } from '../../../platform/store/statement.ts';
import {
  tenantOp,
  type Op,
  type Scope,
  backgroundCommitDelayMs,
  scopeOf,
  type Store,
} from '../../../platform/store/store.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';

/** Limit per batch, so that no commit takes long. */
const canceledAtOnce = 500;

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
function cancelOpenOps(
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

const offWithOpen = systemStatement<{ workspace_id: string; id: string }>(
  'endpoints.off_with_open',
  'at startup, endpoints of all workspaces may have deliveries that the last process did not cancel',
  `SELECT workspace_id, id FROM endpoints AS e WHERE (e.enabled = 0 OR e.deleted_at IS NOT NULL) AND EXISTS
     (SELECT 1 FROM deliveries AS d INDEXED BY deliveries_open WHERE d.workspace_id = e.workspace_id AND d.endpoint_id = e.id
        AND d.status IN ('pending', 'retrying'))`,
);

/** Retry delay after a failure. */
const againMs = 1_000;

export interface Canceler {
  /** Continues the cancellations of an earlier process. */
  start(): Promise<void>;
  /**
   * Handles a disabled endpoint: deliveries waiting in memory are not attempted, and open ones are canceled in the
   * background.
   */
  wentOff(scope: Scope, endpointId: string): void;
  /** Resolves once a disabled endpoint has no open deliveries. @throws StoreError */
  finish(scope: Scope, endpointId: string): Promise<void>;
  /** Resolves once no background work is running. */
  settled(): Promise<void>;
  stop(): void;
}

/**
 * Cancels the open deliveries of disabled endpoints in steps, including running ones without a row. After a
 * crash the next start continues.
 */
export function createCanceler(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  isOn(scope: Scope, endpointId: string): Promise<boolean>;
  /** Stores running deliveries of an endpoint. */
  storeWork(scope: Scope, endpointId: string): Promise<void>;
  /** Marks deliveries that must not be attempted. */
  noteCanceled(ids: readonly string[]): void;
  /** Marks all deliveries that wait for an attempt at an endpoint. */
  noteOff(endpointId: string): void;
}): Canceler {
  const { store, clock, log } = options;
  const goingOn = new Set<Promise<void>>();
  let isStopped = false;

  const finish = async (scope: Scope, endpointId: string): Promise<void> => {
    // The endpoint may have been enabled again.
    if (await options.isOn(scope, endpointId)) return;
    options.noteOff(endpointId);
    await options.storeWork(scope, endpointId);
    for (let canceled = canceledAtOnce; canceled === canceledAtOnce && !isStopped;) {
      const ops = cancelOpenOps(scope, endpointId, clock.nowMs(), options.noteCanceled);
      const outcome = await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
      canceled = outcome.ok ? outcome.rows.at(-1)!.length : 0;
    }
  };

  const inBackground = (scope: Scope, endpointId: string): void => {
    const work = finish(scope, endpointId)
      .catch((error: unknown) => {
        if (isStopped) return;
        log('warn', 'canceling deliveries of a disabled webhook failed; retrying', {
          webhookId: endpointId,
          error: errorForLog(error),
        });
        clock.after(againMs, () => isStopped || inBackground(scope, endpointId));
      })
      .finally(() => goingOn.delete(work));
    goingOn.add(work);
  };

  return {
    async start() {
      for (const row of await store.readSystem(offWithOpen)) inBackground(scopeOf(row.workspace_id), row.id);
    },
    wentOff(scope, endpointId) {
      options.noteOff(endpointId);
      inBackground(scope, endpointId);
    },
    finish,
    async settled() {
      while (goingOn.size > 0) await Promise.all(goingOn);
    },
    stop() {
      isStopped = true;
    },
  };
}
