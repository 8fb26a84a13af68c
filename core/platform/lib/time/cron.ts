// Cron expressions of schedules and backups: five fields, at most every five minutes.
import { Cron } from 'croner';
import { checkZone } from './time.ts';

const everyMinutesMin = 5;
/** Start of a leap year, in which every date occurs. */
const lookedAtFrom = new Date('2028-01-01T00:00:00Z');

/** Returns the problem of an expression as a sentence; null if the expression is valid. */
export function checkCron(expression: string, tz: string | undefined): string | null {
  const [minutes = '', hours = '', ...days] = expression.trim().split(/\s+/);
  if (days.length !== 3) return 'A schedule needs five cron fields, such as "0 3 * * *".';
  const noZone = tz === undefined ? null : checkZone(tz);
  if (noZone !== null) return noZone;
  try {
    if (!new Cron(expression, { timezone: tz ?? 'UTC' }).nextRun(lookedAtFrom))
      return 'This schedule never runs, because its date does not exist. Choose another day or month.';
    return shortestMinutes(minutes, hours) < everyMinutesMin
      ? 'A schedule may run at most every five minutes. Use a longer interval.'
      : null;
  } catch (error) {
    return `The cron expression is invalid (${error instanceof Error ? error.message : String(error)}). Use five fields, such as "0 3 * * *".`;
  }
}

/**
 * Returns the shortest interval between two consecutive runs. A schedule runs at the same minutes of the same hours on each of its
 * days, so consecutive days are the worst case.
 */
function shortestMinutes(minutesField: string, hoursField: string): number {
  const minutes = timesOf(`${minutesField} 0 1 1 *`, (time) => time.getUTCMinutes());
  const hours = timesOf(`0 ${hoursField} 1 1 *`, (time) => time.getUTCHours());
  const intervals = minutes.slice(1).map((minute, index) => minute - minutes[index]!);
  const followEachOther = hours.some((hour) => hours.includes((hour + 1) % 24));
  if (followEachOther) intervals.push(60 - minutes.at(-1)! + minutes[0]!);
  return Math.min(...intervals, 60);
}

/** Returns the values of a field, ascending. The expression must be limited to one day of the year. */
function timesOf(expression: string, read: (time: Date) => number): number[] {
  const stopAt = new Date(Date.UTC(lookedAtFrom.getUTCFullYear() + 1, 0));
  return new Cron(expression, { timezone: 'UTC', stopAt })
    .nextRuns(60, new Date(lookedAtFrom.getTime() - 1))
    .map(read);
}

/** Returns the next time after `afterMs`; null if there is none. */
export function nextRunMs(expression: string, tz: string | undefined, afterMs: number): number | null {
  return new Cron(expression, { timezone: tz ?? 'UTC' }).nextRun(new Date(afterMs))?.getTime() ?? null;
}
