// Notes when keys were last used, beside the requests and never in their commits: of each key at most once a minute, those of a second in
// one batch. What a killed process had not written yet is lost, which is a minute at most.
import type { Services } from '../../context.ts';
import type { Clock } from '../../lib/clock.ts';
import { errorForLog } from '../../lib/failures.ts';
import { tenantStatement } from '../../store/statement.ts';
import { backgroundCommitDelayMs, tenantOp, type Scope } from '../../store/store.ts';

/** A use is written where the last one that was is so old. */
export const usedEveryMs = 60_000;
const gatherMs = 1_000;

const setLastUsed = tenantStatement(
  'api_keys.set_last_used',
  'UPDATE api_keys SET last_used_at = :at WHERE workspace_id = :ws AND id = :id AND coalesce(last_used_at, 0) < :at',
);

export interface KeyUses {
  note(scope: Scope, id: string): void;
  /** Resolves once nothing is being written. */
  settled(): Promise<void>;
  /** Writes what is not written yet. */
  stop(): Promise<void>;
}

export function createKeyUses({ store, log }: Pick<Services, 'store' | 'log'>, clock: Clock): KeyUses {
  let noted = new Map<string, { readonly scope: Scope; readonly atMs: number }>();
  let cancel: (() => void) | null = null;
  let writing: Promise<void> = Promise.resolve();

  const write = async (): Promise<void> => {
    const ops = [...noted].map(([id, { scope, atMs }]) => tenantOp(scope, setLastUsed, { id, at: atMs }));
    noted = new Map();
    if (ops.length === 0 || !store.status().writable) return;
    try {
      await store.commit(ops, { commitDelayMs: backgroundCommitDelayMs });
    } catch (error) {
      // The next use of each key is noted again.
      log('debug', 'the last use of keys was not written', { error: errorForLog(error) });
    }
  };
  const flush = (): void => {
    cancel = null;
    writing = writing.then(write);
  };

  return {
    note(scope, id) {
      noted.set(id, { scope, atMs: clock.nowMs() });
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
