// One-off runs that a version of a plugin cannot run: they wait until a version has their schedule again, or fail at their time.
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import type { Context } from '../../context.ts';
import { counted } from '../../lib/counted.ts';
import { tenantStatement } from '../../store/statement.ts';
import { declared } from '../declared.ts';
import { scheduleOf } from './entries.ts';

type Schedules = Pick<PluginManifest, 'schedules'>;

/** At most `pendingMax`. */
const waitingNames = tenantStatement<{ name: string }>(
  'one_offs.names',
  'SELECT name FROM one_offs WHERE workspace_id = :ws AND install_id = :installId ORDER BY name',
);

/** True where the version has the schedule of the name, without cron. */
export function handlesOneOff({ schedules }: Schedules, name: string): boolean {
  const schedule = declared(schedules, scheduleOf(name));
  return schedule !== undefined && schedule.cron === undefined;
}

/** A sentence for each schedule that waiting one-offs of an install need and a version of it lacks. */
export async function unhandledOneOffs(
  { store, scope }: Pick<Context, 'store' | 'scope'>,
  installId: string,
  manifest: Schedules,
): Promise<string[]> {
  const rows = await store.read(scope, waitingNames, { installId });
  const unhandled = rows.filter(({ name }) => !handlesOneOff(manifest, name));
  const bySchedule = Map.groupBy(unhandled, ({ name }) => scheduleOf(name));
  return [...bySchedule].map(([schedule, { length }]) => {
    const waits = length === 1 ? 'waits' : 'wait';
    return `${counted(length, 'one-off run')} of ${schedule} ${waits}, and this version has no schedule ${schedule} without cron: each fails with no_handler at its time.`;
  });
}
