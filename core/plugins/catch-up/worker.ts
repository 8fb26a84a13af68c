// Works on the gaps of active installs: counts a gap once it is closed, and creates its runs when a backfill is requested.
import { neverMs, type WorkItem, type WorkQueue } from '../../events/work.ts';
import type { Scope } from '../../store/store.ts';
import type { Registry } from '../registry.ts';
import { createGapCount, type CountOptions } from './count.ts';
import { createGapPages } from './pages.ts';
import { createGapReplay, type ReplayOptions } from './replay.ts';
import { findGap } from './rows.ts';

export interface CatchUpWorkerOptions extends Omit<CountOptions & ReplayOptions, 'pages'> {
  readonly registry: Registry;
  /** Stores the runs of an install that are in progress, so that they are not taken for missed. */
  storeWork(scope: Scope, installId: string): Promise<void>;
}

export function createCatchUpWorker(options: CatchUpWorkerOptions) {
  const { store, registry } = options;
  const pages = createGapPages(options);
  const count = createGapCount({ ...options, pages });
  const replay = createGapReplay({ ...options, pages });

  return async (item: WorkItem, queue: WorkQueue): Promise<void> => {
    while (!options.stopped()) {
      const gap = await store.readOne(item.scope, findGap, { id: item.id });
      if (!gap || gap.status === 'done') return void (await store.commit([queue.finish(item)]));
      await options.storeWork(item.scope, gap.install_id);
      const install = await registry.active(item.scope, gap.install_id);
      // While the install is disabled, the gap waits; enabling the install wakes it.
      if (!install || gap.status === 'off' || gap.status === 'offered')
        return void (await store.commit([queue.defer(item, neverMs)]));
      const step = gap.status === 'counting' ? count : replay;
      if (!(await step({ item, queue, gap, install }))) return;
    }
  };
}
