// Finds one-time jobs that a version of a plugin cannot run. They stay pending, and fail when due unless a later version handles them.
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import type { Context } from '../../../kernel/context.ts';
import { counted } from '../../../platform/lib/text/words.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { declared } from '../declared.ts';
import { scheduleOf } from './entries.ts';

type Schedules = PluginManifest;

/** Bounded by `pendingMax`. */
const waitingNames = tenantStatement<{ name: string }>(
  'one_offs.names',
  'SELECT name FROM one_offs WHERE workspace_id = :ws AND install_id = :installId ORDER BY name',
);

/** True if the version has the job's schedule, without `cron`. */
export function handlesOneTimeJob({ schedules }: Schedules, name: string): boolean {
  const schedule = declared(schedules, scheduleOf(name));
  return schedule !== undefined && schedule.cron === undefined;
}

/** Returns a sentence for each schedule that pending jobs of an install need and the version lacks. */
export async function unhandledOneTimeJobs(
  { store, scope }: Context,
  installId: string,
  manifest: Schedules,
): Promise<string[]> {
  const rows = await store.read(scope, waitingNames, { installId });
  const unhandled = rows.filter(({ name }) => !handlesOneTimeJob(manifest, name));
  const bySchedule = Map.groupBy(unhandled, ({ name }) => scheduleOf(name));
  return [...bySchedule].map(([schedule, { length }]) => {
    const waits = length === 1 ? 'is pending' : 'are pending';
    return `${counted(length, 'one-time job')} of ${schedule} ${waits}, but this version has no schedule ${schedule} without cron: each will fail with no_handler when due.`;
  });
}
