// The time zone of a schedule in a manifest. `tz` is the earlier name of `timeZone`, which installed packages still have.
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { checkZone } from '../../lib/zone.ts';
import { invalidField } from '../../lib/errors.ts';

type Schedule = NonNullable<PluginManifest['schedules']>[string];

/** IANA name. */
export function zoneOf({ timeZone, tz }: Pick<Schedule, 'timeZone' | 'tz'>): string {
  return timeZone ?? tz ?? 'UTC';
}

/** @param path of the schedule @throws ApiError validation_failed */
export function requireZone(schedule: Schedule, path: string): void {
  const { timeZone, tz } = schedule;
  if (timeZone !== undefined && tz !== undefined)
    throw invalidField(`${path}.tz`, 'conflict', {
      why: 'The schedule has a `timeZone` and a `tz`, which is the earlier name of the same.',
      fix: 'Leave `tz` out.',
    });
  const wrong = checkZone(zoneOf(schedule));
  if (wrong !== null)
    throw invalidField(`${path}.${timeZone === undefined ? 'tz' : 'timeZone'}`, 'not_found', { why: wrong });
}
