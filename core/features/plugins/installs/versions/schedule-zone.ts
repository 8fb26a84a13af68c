// Reads and checks the time zone of a schedule in a manifest. `tz` is the former name of `timeZone`, which
// installed packages still use.
import type { PluginManifest } from '../../../../../sdk/plugin/manifest.ts';
import { checkZone } from '../../../../platform/lib/time/time.ts';
import { invalidField } from '../../../../platform/lib/errors/errors.ts';

type Schedule = NonNullable<PluginManifest['schedules']>[string];

/** Returns an IANA name; default UTC. */
export function zoneOf({ timeZone, tz }: Schedule): string {
  return timeZone ?? tz ?? 'UTC';
}

/**
 * @param path path of the schedule in the package
 * @throws ApiError validation_failed
 */
export function requireZone(schedule: Schedule, path: string): void {
  const { timeZone, tz } = schedule;
  if (timeZone !== undefined && tz !== undefined)
    throw invalidField(`${path}.tz`, 'conflict', {
      why: 'The schedule has both `timeZone` and its former name `tz`.',
      fix: 'Remove `tz`.',
    });
  const wrong = checkZone(zoneOf(schedule));
  if (wrong !== null)
    throw invalidField(`${path}.${timeZone === undefined ? 'tz' : 'timeZone'}`, 'not_found', { why: wrong });
}
