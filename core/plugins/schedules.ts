// Schedules: one work row per install and schedule, due at its next time; when it falls due a run is queued and the row
// moves on, in one batch. A run that is still open is not doubled.
import type { Context } from '../context.ts';
import { createWorkQueue, type WorkItem, type WorkQueue } from '../events/work.ts';
import type { Clock } from '../lib/clock.ts';
import type { Ids } from '../lib/ids.ts';
import { idPrefixes } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Op, Store } from '../store/store.ts';
import { nextRunMs } from '../lib/cron.ts';
import type { Install } from './installs/schema.ts';
import type { Registry } from './registry.ts';
import { hasOpenRun, queueRunOps, scheduledRun } from './runs/rows.ts';

const schedulesHeld = 8;

export interface Schedules {
  readonly queue: WorkQueue;
  /** The rows of an install as it is now: none unless it is active. */
  opsFor(install: Install, scope: Pick<Context, 'scope'>): readonly Op[];
}

export function createSchedules(options: {
  store: Store;
  clock: Clock;
  log: Log;
  ids: Ids;
  owner: string;
  mayWork(): boolean;
  registry: Registry;
  runs: WorkQueue;
}): Schedules {
  const { store, clock, registry, runs } = options;

  const perform = async (item: WorkItem): Promise<void> => {
    const [installId = '', name = ''] = item.id.split('/');
    const install = await registry.active(item.scope, installId);
    const schedule = install?.manifest.schedules?.[name];
    const now = clock.nowMs();
    const next = schedule ? nextRunMs(schedule.cron, schedule.tz, now) : null;
    if (!install || !schedule || next === null) return void (await store.commit([queue.finish(item)]));
    const move = queue.defer(item, next);
    if (await hasOpenRun(store, item.scope, installId, name)) {
      await store.commit([move]);
    } else {
      const run = scheduledRun(options.ids.next(idPrefixes.run), install, name, now);
      await store.commit([move, ...queueRunOps(runs, item.scope, run, now)]);
    }
    queue.wake();
  };

  const queue = createWorkQueue({
    store,
    clock,
    log: options.log,
    kind: 'schedule',
    owner: options.owner,
    mayWork: options.mayWork,
    room: schedulesHeld,
    perform,
  });

  return {
    queue,
    opsFor(install, { scope }) {
      const schedules = Object.entries(install.manifest.schedules ?? {});
      const drop = schedules.map(([name]) => queue.remove(scope, `${install.id}/${name}`));
      if (install.state !== 'active' || install.deletedAt !== null) return drop;
      const add = schedules.flatMap(([name, { cron, tz }]) => {
        const next = nextRunMs(cron, tz, clock.nowMs());
        return next === null ? [] : [queue.add(scope, install.id, `${install.id}/${name}`, next)];
      });
      return [...drop, ...add];
    },
  };
}
