// Runs schedules: one work row per install and schedule, due at the next time of the schedule. One batch
// queues the run and reschedules the row; no run is queued while another is open. Times that were computed
// while the clock was ahead are computed again.
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import {
  createWorkQueue,
  neverMs,
  type WorkItem,
  type WorkQueue,
} from '../../../kernel/events/work/queue.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { scopeOf, tenantOp, type Op } from '../../../platform/store/store.ts';
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import { nextRunMs } from '../../../platform/lib/time/cron.ts';
import type { PluginDeps } from '../deps.ts';
import { zoneOf } from '../installs/manifest.ts';
import type { StateOps } from '../installs/disable.ts';
import { scheduledRun, type NewRun } from '../runs/rows.ts';
import { cutRunOp, findOpenRun, queueRunOps } from '../runs/state.ts';
import { findCut } from '../planning/loops.ts';
import type { RunInput } from '../runs/job.ts';
import {
  actionPrefix,
  findOneTimeJob,
  handlesOneTimeJob,
  removeOneTimeJobOp,
  scheduleOf,
} from './one-time-jobs.ts';
import { declared } from '../installs/manifest.ts';
import { effectiveMode } from '../installs/mode.ts';

const concurrentSchedules = 8;

const replanAtOnce = 200;

const planned = systemStatement<{ workspace_id: string; id: string; due_at: number }>(
  'due_work.planned_schedules',
  'the clock is one for all workspaces',
  `SELECT workspace_id, id, due_at FROM due_work WHERE kind = 'schedule' AND lease_owner IS NULL AND due_at < ${neverMs}
     AND (due_at, workspace_id, id) > (:after, :workspaceId, :id) ORDER BY due_at, workspace_id, id LIMIT :limit`,
);
const bringForward = tenantStatement(
  'due_work.bring_forward',
  `UPDATE due_work SET due_at = :next WHERE workspace_id = :ws AND id = :id AND due_at = :was AND lease_owner IS NULL`,
);

export interface Schedules {
  readonly queue: WorkQueue;
  /** Starts to reschedule rows that are due later than their next time by the present clock. */
  replan(): void;
  /** Resolves when rescheduling is done. */
  replanned(): Promise<void>;
  /** Returns ops that replace the rows of an install; an install that is not active has none. */
  readonly opsFor: StateOps;
}

export function createSchedules(deps: PluginDeps, runs: WorkQueue): Schedules {
  const { clock, registry } = deps;
  const { store, log, ids, mayWork } = deps.services;

  const perform = async (item: WorkItem): Promise<void> => {
    const [installId = '', name = ''] = item.id.split('/');
    const install = await registry.active(item.scope, installId);
    const schedule = install?.manifest.schedules?.[name];
    const now = clock.nowMs();
    const next = nextOf(schedule, now);
    if (!install || !schedule || next === null) return void (await store.commit([queue.finish(item)]));
    const move = queue.defer(item, next);
    if ((await findOpenRun(store, item.scope, installId, name)) !== undefined) {
      await store.commit([move]);
    } else {
      const run = scheduledRun(ids.next(idPrefixes.run), install, name, now);
      await store.commit([move, ...queueRunOps(runs, item.scope, run, now)]);
    }
    queue.wake();
  };

  const queue = createWorkQueue({
    store,
    clock,
    log,
    kind: 'schedule',
    owner: deps.owner,
    mayWork,
    seen: deps.seen,
    capacity: concurrentSchedules,
    perform,
    onSetBack: () => replanning.replan(),
  });

  const replanning = createReplanning(deps, queue.wake);

  return {
    queue,
    ...replanning,
    opsFor(install, { scope }) {
      const schedules = Object.entries(install.manifest.schedules ?? {});
      const drop = schedules.map(([name]) => queue.remove(scope, `${install.id}/${name}`));
      if (install.state !== 'active' || install.deletedAt !== null) return drop;
      const add = schedules.flatMap(([name, schedule]) => {
        const next = nextOf(schedule, clock.nowMs());
        return next === null ? [] : [queue.add(scope, install.id, `${install.id}/${name}`, next)];
      });
      return [...drop, ...add];
    },
  };
}

/** Returns the next time of a schedule; null without `cron`, because such a schedule only has one-time jobs. */
function nextOf(
  schedule: NonNullable<PluginManifest['schedules']>[string] | undefined,
  nowMs: number,
): number | null {
  return schedule?.cron === undefined ? null : nextRunMs(schedule.cron, zoneOf(schedule), nowMs);
}

/** Reschedules all planned rows, one round at a time. */
function createReplanning(deps: PluginDeps, onMoved: () => void) {
  const { clock, registry } = deps;
  const { store, log } = deps.services;
  let round = Promise.resolve();

  const opFor = async (row: { workspace_id: string; id: string; due_at: number }): Promise<Op[]> => {
    const scope = scopeOf(row.workspace_id);
    const [installId = '', name = ''] = row.id.split('/');
    const schedule = (await registry.active(scope, installId))?.manifest.schedules?.[name];
    const next = nextOf(schedule, clock.nowMs());
    if (next === null || row.due_at <= next) return [];
    return [tenantOp(scope, bringForward, { id: row.id, was: row.due_at, next })];
  };

  const lookThrough = async (): Promise<void> => {
    let position = { after: clock.nowMs(), workspaceId: '', id: '' };
    for (let more = true; more && !deps.isStopping();) {
      const rows = await store.readSystem(planned, { ...position, limit: replanAtOnce });
      const ops: Op[] = [];
      for (const row of rows) ops.push(...(await opFor(row)));
      if (ops.length > 0) {
        log('warn', 'rescheduling schedules that were planned while the clock was ahead', {
          count: ops.length,
        });
        await store.commit(ops);
      }
      const last = rows.at(-1);
      if (last) position = { after: last.due_at, workspaceId: last.workspace_id, id: last.id };
      more = rows.length === replanAtOnce;
    }
    onMoved();
  };

  return {
    replan(): void {
      round = round.then(lookThrough).catch((error: unknown) => {
        log('warn', 'rescheduling failed', { error: errorForLog(error) });
      });
    },
    replanned: (): Promise<void> => round,
  };
}

/**
 * Queues the run of a due one-time job in the batch that removes the job, so that it runs exactly
 * once, even across restarts.
 */
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
    const handler = handlerOfJob(job.name, input);
    const cause = input.cause ?? { rootEventId: null, parentRunId: null, depth: 0, path: [] };
    const now = clock.nowMs();
    const id = ids.next(idPrefixes.run);
    const run: NewRun = {
      id,
      installId: install.id,
      handler,
      // The key is unique, so a retried job never blocks another run.
      orderKey: id,
      sequence: now,
      eventId: null,
      rootEventId: cause.rootEventId,
      depth: cause.depth,
      mode: effectiveMode(install),
      inputJson: job.inputJson,
    };
    const step = { cause, subjectId: null, entityId: stepName(handler.name) };
    const isHandled =
      handler.kind === 'action'
        ? declared(install.manifest.actions, handler.name) !== undefined
        : handlesOneTimeJob(install.manifest, job.name);
    const error = isHandled
      ? await findCut(store, scope, step, install.id, () => 0)
      : wrongSchedule(handler.name);
    const ops: readonly Op[] = error
      ? [cutRunOp(scope, run, error, now)]
      : queueRunOps(runs, scope, run, now);
    // A job that was rescheduled in the meantime has another version, so this batch fails and the job stays pending.
    await store.commit([queue.finish(item), removeOneTimeJobOp(scope, job), ...ops]);
  };
}

/** Returns the handler of a job: a schedule of its plugin, or the action that an automation calls. */
function handlerOfJob(name: string, { event }: RunInput): NewRun['handler'] {
  if (name.startsWith(actionPrefix)) return { kind: 'action', name: String(event?.action) };
  return { kind: 'schedule', name: scheduleOf(name) };
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
