// Stores pending one-time jobs: one row per install and job name, and one work row. Both are written with the
// effects of the run that schedules the job.
import type { Change, Entity } from '../../../kernel/changes/change.ts';
import type { RowOf } from '../../../kernel/table/define.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { tenantOp, type Op, type Scope, type Store } from '../../../platform/store/store.ts';
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import type { Context } from '../../../kernel/context.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { declared } from '../installs/manifest.ts';
import { oneTimeJobTable } from '../tables.ts';

/** Limit of pending jobs per install. */
export const pendingMax = 1_000;
export const oneTimeWork = 'once';
export const oneTimeJobModelName = 'scheduled_run';

export interface OneTimeJob extends Entity {
  readonly installId: string;
  readonly name: string;
  readonly createdAt: number;
  /** Null once canceled. */
  readonly dueAt: number | null;
  /** JSON of a `RunInput` (`runs/input.ts`). */
  readonly inputJson: string;
}

export type OneTimeJobRow = RowOf<typeof oneTimeJobTable>;

const find = oneTimeJobTable.selectAll('find', ['id']);
/** Bounded by `pendingMax`. */
const pendingNames = oneTimeJobTable.select('names', ['name'], ['install_id'], 'ORDER BY name');
const update = oneTimeJobTable.update(
  'update',
  ['due_at', 'input_json', 'version'],
  ['id'],
  'version = :version - 1',
);
const remove = oneTimeJobTable.remove('remove', ['id', 'version']);
const removeAll = oneTimeJobTable.remove('remove_all', ['install_id']);
const count = tenantStatement<{ count: number }>(
  'one_time_jobs.count',
  'SELECT count(*) AS count FROM one_time_jobs WHERE workspace_id = :ws AND install_id = :installId',
);
/** Inserts nothing if the limit is reached. */
const insert = tenantStatement(
  'one_time_jobs.insert',
  `INSERT INTO one_time_jobs (workspace_id, ${oneTimeJobTable.columns.join(', ')})
   SELECT :ws, ${oneTimeJobTable.columns.map((column) => `:${column}`).join(', ')}
   WHERE (SELECT count(*) FROM one_time_jobs WHERE workspace_id = :ws AND install_id = :install_id) < ${pendingMax}`,
);
/** Increments the epoch, so that a worker with a lease of the previous job cannot finish it. */
const queue = tenantStatement(
  'one_time_jobs.queue',
  `INSERT INTO due_work (workspace_id, id, kind, subject, due_at, lease_until, lease_owner, epoch)
   VALUES (:ws, :id, '${oneTimeWork}', :installId, :dueAt, 0, NULL, 1)
   ON CONFLICT (workspace_id, id) DO UPDATE SET due_at = :dueAt, lease_until = 0, lease_owner = NULL, epoch = epoch + 1`,
);
const unqueue = tenantStatement(
  'one_time_jobs.unqueue',
  `DELETE FROM due_work WHERE workspace_id = :ws AND id = :id AND kind = '${oneTimeWork}'`,
);
/** Jobs that became due while the plugin was disabled are due at once. */
const requeueAll = tenantStatement(
  'one_time_jobs.requeue_all',
  `UPDATE due_work SET lease_until = 0, lease_owner = NULL, epoch = epoch + 1,
     due_at = (SELECT due_at FROM one_time_jobs AS o WHERE o.workspace_id = :ws AND o.id = due_work.id)
   WHERE workspace_id = :ws AND id IN (SELECT id FROM one_time_jobs WHERE workspace_id = :ws AND install_id = :installId)`,
);
const unqueueAll = tenantStatement(
  'one_time_jobs.unqueue_all',
  `DELETE FROM due_work WHERE workspace_id = :ws AND id IN (SELECT id FROM one_time_jobs WHERE workspace_id = :ws AND install_id = :installId)`,
);
export function idOfOneTimeJob(installId: string, name: string): string {
  return `${installId}/${oneTimeWork}/${name}`;
}

/** Returns the schedule of a job name: `remind` for `remind:iss_…`. */
export function scheduleOf(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(0, colon);
}

export async function findOneTimeJob(store: Store, scope: Scope, id: string): Promise<OneTimeJob | null> {
  const row = await find.one(store, scope, { id });
  return row ? oneTimeJobOf(row) : null;
}

export async function countOneTimeJobs(store: Store, scope: Scope, installId: string): Promise<number> {
  return (await store.readOne(scope, count, { installId }))?.count ?? 0;
}

function oneTimeJobOf(row: OneTimeJobRow): OneTimeJob {
  return {
    id: row.id,
    installId: row.install_id,
    name: row.name,
    dueAt: row.due_at,
    inputJson: row.input_json,
    version: row.version,
    createdAt: row.created_at,
  };
}

/** Beginning of the names of jobs that call an action of a plugin. */
export const actionPrefix = 'action:';
/** Call by which an automation calls an action of another plugin. */
export const actionCall = 'actions.call';

/**
 * Returns the change that stores a job. The versions of a new job start at the present time, so that they
 * exceed those of any earlier job of the same name.
 * @param before the stored job; null if there is none
 */
export function changeOneTimeJob(
  before: OneTimeJob | null,
  after: Omit<OneTimeJob, 'id' | 'version' | 'createdAt'>,
  nowMs: number,
): Change & { readonly after: OneTimeJob } {
  const id = idOfOneTimeJob(after.installId, after.name);
  const version = (before?.version ?? nowMs) + 1;
  return makeChange(before, { ...after, id, version, createdAt: before?.createdAt ?? nowMs });
}

function makeChange(before: OneTimeJob | null, after: OneTimeJob): Change & { readonly after: OneTimeJob } {
  return {
    kind: oneTimeJobModelName,
    id: after.id,
    before,
    after,
    baseVersion: before?.version ?? null,
    isSilent: true,
    ops: (scope) => opsOf(scope, before, after),
    events: () => [],
    followedBy: (later) => makeChange(before, { ...(later.after as OneTimeJob), version: after.version }),
  };
}

function opsOf(scope: Scope, before: OneTimeJob | null, after: OneTimeJob): Op[] {
  const { id, installId, name, dueAt, inputJson, version, createdAt } = after;
  if (dueAt === null) return before ? endOneTimeJobOps(scope, before) : [];
  const row = { id, due_at: dueAt, input_json: inputJson, version };
  const op = before
    ? update(scope, row, { expectRows: 1 })
    : tenantOp(
        scope,
        insert,
        { ...row, install_id: installId, name, created_at: createdAt },
        { expectRows: 1 },
      );
  return [op, tenantOp(scope, queue, { id, installId, dueAt })];
}

/** Returns the ops that end a pending job; they fail the batch if the job changed. */
export function endOneTimeJobOps(scope: Scope, job: OneTimeJob): Op[] {
  return [removeOneTimeJobOp(scope, job), tenantOp(scope, unqueue, { id: job.id })];
}

/** Removes only the row of a job; its work row is finished separately. */
export function removeOneTimeJobOp(scope: Scope, { id, version }: OneTimeJob): Op {
  return remove(scope, { id, version }, { expectRows: 1 });
}

/** Returns the ops that update the pending jobs of an install whose state changed. */
export function oneTimeJobsAfterOps(
  scope: Scope,
  install: { readonly id: string; readonly state: string; readonly deletedAt: number | null },
): Op[] {
  const { id: installId, state, deletedAt } = install;
  if (deletedAt !== null)
    return [tenantOp(scope, unqueueAll, { installId }), removeAll(scope, { install_id: installId })];
  return state === 'active' ? [tenantOp(scope, requeueAll, { installId })] : [];
}

/** True if the version has the job's schedule, without `cron`. */
export function handlesOneTimeJob({ schedules }: PluginManifest, name: string): boolean {
  const schedule = declared(schedules, scheduleOf(name));
  return schedule !== undefined && schedule.cron === undefined;
}

/** Returns a sentence for each schedule that pending jobs of an install need and the version lacks. */
export async function unhandledOneTimeJobs(
  { store, scope }: Context,
  installId: string,
  manifest: PluginManifest,
): Promise<string[]> {
  const rows = await pendingNames.all(store, scope, { install_id: installId });
  const unhandled = rows.filter(({ name }) => !handlesOneTimeJob(manifest, name));
  const bySchedule = Map.groupBy(unhandled, ({ name }) => scheduleOf(name));
  return [...bySchedule].map(([schedule, { length }]) => {
    const waits = length === 1 ? 'is pending' : 'are pending';
    return `${counted(length, 'one-time job')} of ${schedule} ${waits}, but this version has no schedule ${schedule} without cron: each will fail with no_handler when due.`;
  });
}
