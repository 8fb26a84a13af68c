// Indexes changes in the background: shortly after a change, so that many changes share a commit, and at
// start for texts left by an earlier process or an upgrade.
import { errorForLog } from '../../platform/lib/errors/failures.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf } from '../../platform/store/store.ts';
import { comment } from '../comments/contract.ts';
import { issue } from '../issues/contract.ts';
import { indexSome } from './indexing.ts';
import type { WorkerDeps, BackgroundWorker } from '../../kernel/feature.ts';

/** Delay after a change. */
const soonMs = 300;
/** Delay after a failure. */
const againMs = 5_000;

const waiting = systemStatement<{ workspace_id: string }>(
  'search_pending.workspaces',
  'at start, texts of all workspaces may wait to be indexed',
  `SELECT w.workspace_id FROM workspaces AS w
   WHERE EXISTS (SELECT 1 FROM search_pending AS p WHERE p.workspace_id = w.workspace_id)`,
);

export function createIndexing({ services, committer, clock }: WorkerDeps): BackgroundWorker {
  const { store, log } = services;
  const workspaces = new Set<string>();
  let cancel: (() => void) | null = null;
  let working: Promise<void> | null = null;
  let isStopped = false;

  /**
   * Indexes one batch of each workspace in turn. Changes that arrive in the meantime are scheduled
   * separately.
   */
  const work = async (ids: Set<string>): Promise<void> => {
    while (ids.size > 0)
      for (const id of ids) {
        if (isStopped) return;
        if (!(await indexSome(store, scopeOf(id), false))) ids.delete(id);
        await new Promise((resolve) => setImmediate(resolve));
      }
  };

  const begin = (): void => {
    cancel = null;
    const ids = new Set(workspaces);
    workspaces.clear();
    let nextMs = soonMs;
    working = work(ids)
      .catch((error: unknown) => {
        if (isStopped) return;
        log('warn', 'texts could not be indexed for search', { error: errorForLog(error) });
        for (const id of ids) workspaces.add(id);
        nextMs = againMs;
      })
      .finally(() => {
        working = null;
        if (workspaces.size > 0) schedule(nextMs);
      });
  };

  const schedule = (afterMs: number): void => {
    if (!isStopped && !cancel && !working) cancel = clock.after(afterMs, begin);
  };

  committer.onCommit((workspaceId, changes) => {
    if (!changes.some(({ kind }) => kind === issue.name || kind === comment.name)) return;
    workspaces.add(workspaceId);
    schedule(soonMs);
  });

  return {
    async start() {
      for (const { workspace_id: id } of await store.readSystem(waiting)) workspaces.add(id);
      if (workspaces.size > 0) schedule(soonMs);
    },
    async settled() {
      await working;
    },
    async stop() {
      isStopped = true;
      cancel?.();
      await working;
    },
  };
}
