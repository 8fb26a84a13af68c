// Cancels what is left open of endpoints that went off, a step at a time: what was under way without a row as well. A crash leaves
// the rest for the next start, and changes nothing of what is shown.
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Log } from '../../lib/log.ts';
import { systemStatement } from '../../store/statement.ts';
import { backgroundCommitDelayMs, scopeOf, type Scope, type Store } from '../../store/store.ts';
import { cancelOpenOps, canceledAtOnce } from '../deliveries/off.ts';

const offWithOpen = systemStatement<{ workspace_id: string; id: string }>(
  'endpoints.off_with_open',
  'at start, endpoints of all workspaces may have deliveries that the last process did not get to cancel',
  `SELECT workspace_id, id FROM endpoints AS e WHERE (e.enabled = 0 OR e.deleted_at IS NOT NULL) AND EXISTS
     (SELECT 1 FROM deliveries AS d INDEXED BY deliveries_open WHERE d.workspace_id = e.workspace_id AND d.endpoint_id = e.id
        AND d.status IN ('pending', 'retrying'))`,
);

/** After a failure. */
const againMs = 1_000;

export interface Canceler {
  /** Goes on with what an earlier process left. */
  start(): Promise<void>;
  /** An endpoint went off: what waits in memory is not attempted, and what is open is canceled in the background. */
  wentOff(scope: Scope, endpointId: string): void;
  /** Resolves once nothing of an endpoint that is off is open. @throws StoreError */
  finish(scope: Scope, endpointId: string): Promise<void>;
  /** Resolves once nothing goes on in the background. */
  settled(): Promise<void>;
  stop(): void;
}

export function createCanceler(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  isOn(scope: Scope, endpointId: string): Promise<boolean>;
  /** Has deliveries to an endpoint stored that are under way. */
  storeWork(scope: Scope, endpointId: string): Promise<void>;
  /** These are not to be attempted. */
  noteCanceled(ids: readonly string[]): void;
  /** All that wait for an attempt at an endpoint. */
  noteOff(endpointId: string): void;
}): Canceler {
  const { store, clock, log } = options;
  const goingOn = new Set<Promise<void>>();
  let isStopped = false;

  const finish = async (scope: Scope, endpointId: string): Promise<void> => {
    // It may have been switched on again since.
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
        log('warn', 'deliveries to a webhook that is off are not canceled yet', {
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
