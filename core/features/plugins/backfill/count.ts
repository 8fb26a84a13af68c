// Counts the missed events of a closed gap, and notifies the admins if the system had disabled the plugin.
import { systemAuthor } from '../../../kernel/changes/commit.ts';
import { neverMs, type WorkItem, type WorkQueue } from '../../../kernel/events/work/queue.ts';
import { itemsForAdmins } from '../../inbox/items.ts';
import { backgroundCommitDelayMs, type Scope } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import type { Install } from '../installs/schema.ts';
import { countAbandoned } from '../runs/ending/abandoned.ts';
import type { BackfillPages } from './pages.ts';
import { countedOp, type BackfillRow } from './rows.ts';

/**
 * Returns the counting step. The step requests another one by returning true if the install changed, or a
 * backfill was requested, during the count.
 */
export function createBackfillCount(deps: PluginDeps, pages: BackfillPages): BackfillStep {
  const { clock } = deps;
  const { store, ids } = deps.services;

  /** Returns the number of missed events, or why the count was interrupted. */
  const missedIn = async (
    scope: Scope,
    install: Install,
    backfill: BackfillRow,
  ): Promise<number | 'stopped' | 'changed'> => {
    let missed = 0;
    for (let after = backfill.after_sequence, ends = false; !ends;) {
      if (deps.isStopping()) return 'stopped';
      const page = await pages.read(scope, install, backfill, after);
      if (!page) return 'changed';
      missed += page.events.length;
      after = page.to;
      ends = page.ends;
    }
    return missed;
  };

  return async ({ item, queue, backfill, install }) => {
    const { scope } = item;
    const missed = await missedIn(scope, install, backfill);
    if (typeof missed === 'string') return missed === 'changed';
    const nowMs = clock.nowMs();
    const waiting = missed + (await countAbandoned(store, scope, install.id));
    const directory = await deps.directoryOf(scope);
    const author = systemAuthor(scope, 'sandbox', directory);
    const rest = waiting === 0 ? queue.finish(item) : queue.defer(item, neverMs);
    const isNotified = waiting > 0 && backfill.cause === 'system';
    const committed = await deps.committer.commit(
      author,
      isNotified ? itemsForAdmins(missedNote(install, waiting), { ids, nowMs, directory }) : [],
      [rest, countedOp(scope, backfill.id, missed, waiting === 0 ? nowMs : null)],
      [],
      { commitDelayMs: backgroundCommitDelayMs },
    );
    return !committed.ok && committed.op > 0;
  };
}

function missedNote(install: Install, waiting: number) {
  return {
    kind: 'plugin_missed_events' as const,
    reason: 'plugin' as const,
    title: `The plugin ${install.manifest.name ?? install.pluginId} missed ${waiting} events while disabled`,
    body: `The plugin is enabled again. Missed events are not run automatically. To backfill them, send POST /api/v1/plugins/${install.id}/catch-up.`,
    target: { kind: 'plugin', id: install.id },
  };
}

/** Gap of an active install, leased by its worker. */
interface LeasedBackfill {
  readonly item: WorkItem;
  readonly queue: WorkQueue;
  readonly backfill: BackfillRow;
  readonly install: Install;
}

/** @returns true if another step can follow at once */
export type BackfillStep = (leased: LeasedBackfill) => Promise<boolean>;
