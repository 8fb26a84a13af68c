// Works on the gaps of active installs: counts a gap once it is closed, and creates its runs when a backfill is requested.
import { neverMs, type WorkItem, type WorkQueue } from '../../events/work.ts';
import type { Scope } from '../../store/store.ts';
import type { Registry } from '../registry.ts';
import { createBackfillCount, type CountOptions } from './count.ts';
import { createBackfillPages } from './pages.ts';
import { createBackfillReplay, type BackfillOptions } from './replay.ts';
import { findBackfill } from './rows.ts';

export interface BackfillWorkerOptions extends Omit<CountOptions & BackfillOptions, 'pages'> {
  readonly registry: Registry;
  /** Stores the runs of an install that have no row yet, so that their events do not count as missed. */
  storeWork(scope: Scope, installId: string): Promise<void>;
}

export function createBackfillWorker(options: BackfillWorkerOptions) {
  const { store, registry } = options;
  const pages = createBackfillPages(options);
  const count = createBackfillCount({ ...options, pages });
  const replay = createBackfillReplay({ ...options, pages });

  return async (item: WorkItem, queue: WorkQueue): Promise<void> => {
    while (!options.stopped()) {
      const backfill = await store.readOne(item.scope, findBackfill, { id: item.id });
      if (!backfill || backfill.status === 'done') return void (await store.commit([queue.finish(item)]));
      await options.storeWork(item.scope, backfill.install_id);
      const install = await registry.active(item.scope, backfill.install_id);
      // Enabling the install, or a request for a backfill, wakes the gap.
      if (!install || backfill.status === 'off' || backfill.status === 'offered')
        return void (await store.commit([queue.defer(item, neverMs)]));
      const step = backfill.status === 'counting' ? count : replay;
      if (!(await step({ item, queue, backfill, install }))) return;
    }
  };
}
