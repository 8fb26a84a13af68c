// Removes what has outlived its use, a little at a time: expired idempotency keys, ended runs, old deliveries, gaps that were
// caught up, and what plugins that were removed have kept. The event log is never trimmed: history, undo and catching up read it.
import type { Clock } from './lib/clock.ts';
import { errorForLog } from './lib/failures.ts';
import type { Log } from './lib/log.ts';
import { systemStatement } from './store/statement.ts';
import { systemOp, type Store } from './store/store.ts';

const everyMs = 600_000;
/** Rows removed in one step. Between steps other writers get their turn. */
const stepRows = 500;
/** Rows removed in one step where each may have megabytes. */
const longRows = 20;
const dayMs = 86_400_000;
/** docs/spec/durability.md › What is removed. */
const runsKeptMs = 14 * dayMs;
/** docs/spec/webhooks.md › What is kept. */
const deliveriesKeptMs = 30 * dayMs;

const why = 'what is too old is removed in all workspaces alike';

const sweeps = [
  {
    keptMs: 0,
    statement: systemStatement<{ id: string }>(
      'idempotency.sweep',
      why,
      `DELETE FROM idempotency WHERE (workspace_id, id) IN
         (SELECT workspace_id, id FROM idempotency WHERE expires_at <= :before LIMIT :limit) RETURNING id`,
    ),
  },
  {
    keptMs: runsKeptMs,
    statement: systemStatement<{ id: string }>(
      'runs.sweep',
      why,
      `DELETE FROM runs WHERE (workspace_id, id) IN
         (SELECT workspace_id, id FROM runs WHERE finished_at <= :before LIMIT :limit) RETURNING id`,
    ),
  },
  {
    keptMs: deliveriesKeptMs,
    statement: systemStatement<{ id: string }>(
      'attempts.sweep',
      why,
      `DELETE FROM attempts WHERE (workspace_id, delivery_id) IN
         (SELECT workspace_id, id FROM deliveries WHERE finished_at <= :before LIMIT :limit) RETURNING delivery_id AS id`,
    ),
  },
  {
    keptMs: deliveriesKeptMs,
    statement: systemStatement<{ id: string }>(
      'deliveries.sweep',
      why,
      `DELETE FROM deliveries WHERE (workspace_id, id) IN
         (SELECT d.workspace_id, d.id FROM deliveries AS d WHERE d.finished_at <= :before AND NOT EXISTS
           (SELECT 1 FROM attempts AS a WHERE a.workspace_id = d.workspace_id AND a.delivery_id = d.id) LIMIT :limit)
       RETURNING id`,
    ),
  },
  {
    keptMs: deliveriesKeptMs,
    statement: systemStatement<{ id: string }>(
      'replays.sweep',
      why,
      `DELETE FROM replays WHERE (workspace_id, id) IN
         (SELECT workspace_id, id FROM replays WHERE finished_at <= :before LIMIT :limit) RETURNING id`,
    ),
  },
  {
    keptMs: 0,
    rows: longRows,
    statement: systemStatement<{ id: string }>(
      'plugin_kv.sweep',
      why,
      `DELETE FROM plugin_kv WHERE (workspace_id, id) IN
         (SELECT k.workspace_id, k.id FROM plugins AS p JOIN plugin_kv AS k ON k.workspace_id = p.workspace_id AND k.install_id = p.id
          WHERE p.deleted_at <= :before LIMIT :limit) RETURNING id`,
    ),
  },
  {
    keptMs: 0,
    statement: systemStatement<{ id: string }>(
      'plugin_kv_usage.sweep',
      why,
      `DELETE FROM plugin_kv_usage WHERE (workspace_id, id) IN
         (SELECT u.workspace_id, u.id FROM plugins AS p JOIN plugin_kv_usage AS u ON u.workspace_id = p.workspace_id AND u.id = p.id
          WHERE p.deleted_at <= :before LIMIT :limit) RETURNING id`,
    ),
  },
  {
    keptMs: 0,
    rows: longRows,
    statement: systemStatement<{ id: string }>(
      'plugin_code.sweep',
      why,
      `DELETE FROM plugin_code WHERE (workspace_id, id) IN
         (SELECT c.workspace_id, c.id FROM plugin_code AS c WHERE NOT EXISTS
           (SELECT 1 FROM plugins AS p WHERE p.workspace_id = c.workspace_id AND p.sha256 = c.id
              AND (p.deleted_at IS NULL OR p.deleted_at > :before)) LIMIT :limit) RETURNING id`,
    ),
  },
  {
    keptMs: deliveriesKeptMs,
    statement: systemStatement<{ id: string }>(
      'plugin_gaps.sweep',
      why,
      `DELETE FROM plugin_gaps WHERE (workspace_id, id) IN
         (SELECT workspace_id, id FROM plugin_gaps WHERE finished_at <= :before LIMIT :limit) RETURNING id`,
    ),
  },
] as const;

export interface Housekeeping {
  start(): void;
  /** One pass over everything. */
  sweep(): Promise<void>;
  stop(): Promise<void>;
}

export function createHousekeeping(options: { store: Store; clock: Clock; log: Log }): Housekeeping {
  const { store, clock, log } = options;
  let cancel: (() => void) | null = null;
  let stopped = false;
  let sweeping: Promise<void> = Promise.resolve();

  const sweep = async (): Promise<void> => {
    for (const { statement, keptMs, ...sweep } of sweeps) {
      const limit = 'rows' in sweep ? sweep.rows : stepRows;
      for (let removed = limit; removed === limit && !stopped;) {
        const params = { before: clock.nowMs() - keptMs, limit };
        const outcome = await store.commit([systemOp(statement, params)]);
        removed = outcome.ok ? (outcome.rows[0]?.length ?? 0) : 0;
      }
    }
  };

  const failed = (error: unknown): void => {
    log('warn', 'housekeeping failed', { error: errorForLog(error) });
  };

  const schedule = (): void => {
    cancel = clock.after(everyMs, () => {
      sweeping = sweep()
        .catch(failed)
        .finally(() => {
          if (!stopped) schedule();
        });
    });
  };

  return {
    start: schedule,
    sweep,
    async stop() {
      stopped = true;
      cancel?.();
      await sweeping;
    },
  };
}
