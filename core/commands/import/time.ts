// Times as exports of other trackers write them: ISO 8601, also with a space in place of the T, with a zone in words or with none.
import { isTime } from '../../lib/time.ts';

/** ISO 8601, in UTC where no zone is given; null for what is no time between 1970 and now. */
export function pastTimeOf(text: string, nowMs: number): string | null {
  const [, day, clock = '', zone = ''] =
    /^\s*(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?))?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2})?\s*$/i.exec(
      text,
    ) ?? [];
  if (day === undefined) return null;
  const offset = /^[+-]/.test(zone) ? zone.replace(/^(...):?/, '$1:') : 'Z';
  const given = clock === '' ? day : `${day}T${clock}${offset}`;
  if (!isTime(given)) return null;
  const time = Date.parse(given);
  return time >= 0 && time <= nowMs ? new Date(time).toISOString() : null;
}
