// Notes when keys and grants were last used, beside the requests and never in their commits: of each at most once a minute, those of a
// second in one batch. What a killed process had not written yet is lost, which is a minute at most.
import type { Services } from '../context.ts';
import type { Clock } from '../lib/clock.ts';
import { errorForLog } from '../lib/failures.ts';
import { tenantStatement, type Statement } from '../store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Scope } from '../store/store.ts';

/** A use is written where the last one that was is so old. */
export const usedEveryMs = 60_000;
const gatherMs = 1_000;

/** Of the rows of a table that have `last_used_at`. */
export const lastUsedIn = (table: 'api_keys' | 'grants'): Statement<unknown> =>
  tenantStatement(
    `${table}.set_last_used`,
    `UPDATE ${table} SET last_used_at = :at WHERE workspace_id = :ws AND id = :id AND coalesce(last_used_at, 0) < :at`,
  );

export interface Uses {
  /** @param statement of its table, from `lastUsedIn` */
  note(statement: Statement<unknown>, scope: Scope, id: string): void;
  /** Resolves once nothing is being written. */
  settled(): Promise<void>;
  /** Writes what is not written yet. */
  stop(): Promise<void>;
}

interface Noted {
  readonly statement: Statement<unknown>;
  readonly scope: Scope;
  readonly atMs: number;
}

export function createUses({ store, log }: Pick<Services, 'store' | 'log'>, clock: Clock): Uses {
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
      // The next use of each is noted again.
      log('debug', 'the last use of keys and grants was not written', { error: errorForLog(error) });
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
