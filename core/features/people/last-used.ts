// Records the last use of keys and grants outside the commits of their requests: at most once a minute for
// each key or grant, in one commit per second. A crash loses at most the last minute.
import type { IdentityDeps } from './deps.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { tenantStatement, type Statement } from '../../platform/store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Scope } from '../../platform/store/store.ts';

/** Minimum interval between two recorded uses of a key or grant. */
export const usedEveryMs = 60_000;
const gatherMs = 1_000;

/** Returns the statement that sets `last_used_at` in a table, never to an earlier time. */
export const lastUsedIn = (table: 'api_keys' | 'grants'): Statement<unknown> =>
  tenantStatement(
    `${table}.set_last_used`,
    `UPDATE ${table} SET last_used_at = :at WHERE workspace_id = :ws AND id = :id AND coalesce(last_used_at, 0) < :at`,
  );

export interface UseRecorder {
  /** @param statement result of `lastUsedIn` for the table of the key or grant */
  note(statement: Statement<unknown>, scope: Scope, id: string): void;
}

export interface Uses extends UseRecorder {
  /** Resolves when no write is in progress. */
  settled(): Promise<void>;
  /** Writes the pending uses. */
  stop(): Promise<void>;
}

interface Noted {
  readonly statement: Statement<unknown>;
  readonly scope: Scope;
  readonly atMs: number;
}

export function createUses({ store, log }: IdentityDeps, clock: Clock): Uses {
  let noted = new Map<string, Noted>();
  let cancel: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const ops = [...noted].map(([id, { statement, scope, atMs }]) =>
      tenantOp(scope, statement, { id, at: atMs }),
    );
    noted = new Map();
    if (ops.length === 0 || !store.status().writable) return;
    try {
      await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    } catch (error) {
      // A lost record is acceptable, because the next use is recorded again.
      log('debug', 'could not record the last use of keys and grants', { error: errorForLog(error) });
    }
  };
  const flush = (): void => {
    cancel = null;
    writing = writing.then(write);
  };

  return {
    note(statement, scope, id) {
      noted.set(id, { statement, scope, atMs: clock.nowMs() });
      cancel ??= clock.after(gatherMs, flush);
    },
    settled: () => writing,
    async stop() {
      cancel?.();
      flush();
      await writing;
    },
  };
}
