// Cron expressions of schedules and backups, by croner: five fields, at most every five minutes.
import { Cron } from 'croner';
import { checkZone } from './zone.ts';

const everyMinutesMin = 5;
/** Any time from which all months and days of the week come round. */
const lookedAtFrom = new Date('2028-01-01T00:00:00Z');

/** What is wrong with an expression, or null. */
export function checkCron(expression: string, tz: string | undefined): string | null {
  const [minutes = '', hours = '', ...days] = expression.trim().split(/\s+/);
  if (days.length !== 3) return 'A schedule has five cron fields, such as "0 3 * * *".';
  const noZone = tz === undefined ? null : checkZone(tz);
  if (noZone !== null) return noZone;
  try {
    if (!new Cron(expression, { timezone: tz ?? 'UTC' }).nextRun(lookedAtFrom))
      return 'This schedule never runs.';
    return shortestMinutes(minutes, hours) < everyMinutesMin
      ? 'A schedule runs at most every five minutes.'
      : null;
  } catch (error) {
    return `This is not a cron expression: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/**
 * Between two runs that follow each other: whichever its days are, a schedule runs at the same minutes of the same hours of
 * each, and all days next to each other are the narrowest case.
 */
function shortestMinutes(minutesField: string, hoursField: string): number {
  const minutes = timesOf(`${minutesField} 0 1 1 *`, (time) => time.getUTCMinutes());
  const hours = timesOf(`0 ${hoursField} 1 1 *`, (time) => time.getUTCHours());
  const gaps = minutes.slice(1).map((minute, index) => minute - minutes[index]!);
  const followEachOther = hours.some((hour) => hours.includes((hour + 1) % 24));
  if (followEachOther) gaps.push(60 - minutes.at(-1)! + minutes[0]!);
  return Math.min(...gaps, 60);
}

/** What a field of an expression stands for, in order; the expression runs on one day of the year. */
function timesOf(expression: string, read: (time: Date) => number): number[] {
  const stopAt = new Date(Date.UTC(lookedAtFrom.getUTCFullYear() + 1, 0));
  return new Cron(expression, { timezone: 'UTC', stopAt })
    .nextRuns(60, new Date(lookedAtFrom.getTime() - 1))
    .map(read);
}

/** The next time after `afterMs`; null when there is none. */
export function nextRunMs(expression: string, tz: string | undefined, afterMs: number): number | null {
  return new Cron(expression, { timezone: tz ?? 'UTC' }).nextRun(new Date(afterMs))?.getTime() ?? null;
}
