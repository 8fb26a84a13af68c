// Stores the requests of plugins to other servers with their answers, so that a retried run sends none twice. Keys are computed by the
// host, never by the guest.
import { createHash } from 'node:crypto';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Scope, type Store } from '../../../platform/store/store.ts';
import type { RunRow } from '../runs/rows.ts';

const find = tenantStatement<{ answer_json: string | null }>(
  'journal.find',
  'SELECT answer_json FROM journal WHERE workspace_id = :ws AND id = :id',
);
const reserve = tenantStatement(
  'journal.reserve',
  `INSERT INTO journal (workspace_id, id, run_id, install_id, request, created_at)
   VALUES (:ws, :id, :runId, :installId, :request, :now)`,
);
const release = tenantStatement(
  'journal.release',
  'DELETE FROM journal WHERE workspace_id = :ws AND id = :id AND answer_json IS NULL',
);
const storeAnswer = tenantStatement(
  'journal.keep',
  `INSERT INTO journal (workspace_id, id, run_id, install_id, request, answer_json, created_at, finished_at)
   VALUES (:ws, :id, :runId, :installId, :request, :answer, :now, :now)
   ON CONFLICT (workspace_id, id) DO UPDATE SET answer_json = excluded.answer_json, finished_at = excluded.finished_at
   WHERE answer_json IS NULL`,
);

export type JournalRun = RunRow;

/**
 * Returns the journal key in hex.
 * @param args canonical text of the arguments
 * @param occurrence index of this call among the run's calls with the same `op` and `args`, from 0
 */
export function journalKey(run: JournalRun, op: string, args: string, occurrence: number): string {
  const of = [
    run.install_id,
    run.event_id ?? run.id,
    `${run.handler_kind}:${run.handler}`,
    op,
    args,
    occurrence,
  ];
  return createHash('sha256').update(JSON.stringify(of)).digest('hex');
}

/** Returns undefined if the request was not sent; `answer` is null if it may have been sent and the answer is unknown. */
export async function findJournaled(
  store: Store,
  scope: Scope,
  key: string,
): Promise<{ readonly answer: string | null } | undefined> {
  const row = await store.readOne(scope, find, { id: key });
  return row && { answer: row.answer_json };
}

export interface Journal {
  /** Records that a request is about to be sent. @returns false if that was recorded before */
  reserve(key: string, request: string): Promise<boolean>;
  /** Removes the record of a request that was not sent. */
  release(key: string): Promise<void>;
  storeAnswer(key: string, request: string, answer: string): Promise<void>;
}

interface JournalOptions {
  readonly store: Store;
  readonly nowMs: () => number;
  readonly scope: Scope;
  readonly run: JournalRun;
}

/**
 * Returns the journal of one run. Each entry is committed immediately instead of with the run, because a sent
 * request cannot be undone.
 */
export function journalOf({ store, nowMs, scope, run }: JournalOptions): Journal {
  const row = (key: string, request: string) => ({
    id: key,
    request,
    now: nowMs(),
    runId: run.id,
    installId: run.install_id,
  });
  return {
    async reserve(key, request) {
      const outcome = await store.commit([tenantOp(scope, reserve, row(key, request))]);
      if (outcome.ok) return true;
      if (await findJournaled(store, scope, key)) return false;
      throw new Error(`The journal could not be written: ${outcome.message}`);
    },
    async release(key) {
      await store.commit([tenantOp(scope, release, { id: key })]);
    },
    async storeAnswer(key, request, answer) {
      const outcome = await store.commit([tenantOp(scope, storeAnswer, { ...row(key, request), answer })]);
      if (!outcome.ok) throw new Error(`The journal could not be written: ${outcome.message}`);
    },
  };
}
