// Cancels the open deliveries of disabled endpoints in steps, including running ones without a row. After a
// crash the next start continues. The shown status does not depend on this work.
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { systemStatement } from '../../../platform/store/statement.ts';
import { backgroundCommitDelayMs, scopeOf, type Scope, type Store } from '../../../platform/store/store.ts';
import { cancelOpenOps, canceledAtOnce } from '../deliveries/off.ts';

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
