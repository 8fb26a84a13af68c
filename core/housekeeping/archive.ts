// Moves payloads of old events to archive files, workspace by workspace, with pauses between the files.
import { archiveEvents } from '../events/archiving.ts';
import { systemStatement } from '../store/statement.ts';
import { scopeOf, type Store } from '../store/store.ts';
import { rest } from './sweeper.ts';

const workspaces = systemStatement<{ workspace_id: string }>(
  'housekeeping.workspaces',
  'old events of all workspaces are archived alike',
  'SELECT workspace_id FROM workspaces',
);

/** @returns the number of moved events */
export async function archiveOld(
  { store, nowMs, isStopped }: { store: Store; nowMs: () => number; isStopped: () => boolean },
  before: number,
): Promise<number> {
  let moved = 0;
  for (const { workspace_id: id } of await store.readSystem(workspaces))
    for (let step = 1; step > 0 && !isStopped(); moved += step) {
      const startedMs = performance.now();
      step = await archiveEvents(store, scopeOf(id), { before, nowMs: nowMs() });
      if (step > 0) await rest(performance.now() - startedMs);
    }
  return moved;
}
