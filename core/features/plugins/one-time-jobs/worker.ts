// Queues the run of a due one-time job in the batch that removes the job, so that it runs exactly once, even
// across restarts.
import type { WorkItem, WorkQueue } from '../../../kernel/events/work/queue.ts';
import { neverMs } from '../../../kernel/events/work/queue.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import type { Op } from '../../../platform/store/store.ts';
import { findCut } from '../planning/loops.ts';
import type { PluginDeps } from '../deps.ts';
import type { RunInput } from '../runs/attempt/input.ts';
import { deadRunOp, queueRunOps, type NewRun } from '../runs/rows.ts';
import { handlesOneTimeJob } from './handled.ts';
import { findOneTimeJob, removeOneTimeJobOp, scheduleOf } from './entries.ts';
import { effectiveMode } from '../installs/mode.ts';

export function createOneTimeWorker(deps: PluginDeps, runs: WorkQueue) {
  const { clock, registry } = deps;
  const { store, ids } = deps.services;
  return async (item: WorkItem, queue: WorkQueue): Promise<void> => {
    const { scope } = item;
    const job = await findOneTimeJob(store, scope, item.id);
    if (!job) return void (await store.commit([queue.finish(item)]));
    const install = await registry.active(scope, job.installId);
    // The job waits until the plugin is enabled again (`oneTimeJobsAfterOps`).
    if (!install) return void (await store.commit([queue.defer(item, neverMs)]));
    const input = JSON.parse(job.inputJson) as RunInput;
    const schedule = scheduleOf(job.name);
    const cause = input.cause ?? { rootEventId: null, parentRunId: null, depth: 0, path: [] };
    const now = clock.nowMs();
    const id = ids.next(idPrefixes.run);
    const run: NewRun = {
      id,
      installId: install.id,
      handler: { kind: 'schedule', name: schedule },
      // The key is unique, so a retried job never blocks another run.
      orderKey: id,
      sequence: now,
      eventId: null,
      rootEventId: cause.rootEventId,
      depth: cause.depth,
      mode: effectiveMode(install),
      inputJson: job.inputJson,
    };
    const step = { cause, subjectId: null, entityId: stepName(schedule) };
    const error = handlesOneTimeJob(install.manifest, job.name)
      ? await findCut(store, scope, step, install.id, () => 0)
      : wrongSchedule(schedule);
    const ops: readonly Op[] = error
      ? [deadRunOp(scope, run, error, now)]
      : queueRunOps(runs, scope, run, now);
    // A job that was rescheduled in the meantime has another version, so this batch fails and the job stays pending.
    await store.commit([queue.finish(item), removeOneTimeJobOp(scope, job), ...ops]);
  };
}

/** Returns the name that stands for a job in a causation chain, in place of an object id. */
export function stepName(schedule: string): string {
  return `once ${schedule}`;
}

function wrongSchedule(schedule: string) {
  return {
    code: 'no_handler',
    message: `The installed version of the plugin has no schedule ${schedule} without cron. Install a version that has one.`,
  };
}
