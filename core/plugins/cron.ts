// Cron expressions of schedules, by croner: five fields, at most every five minutes.
import { Cron } from 'croner';

const everyMsMin = 300_000;

/** What is wrong with an expression, or null. */
export function checkCron(expression: string, tz: string | undefined): string | null {
  if (expression.trim().split(/\s+/).length !== 5)
    return 'A schedule has five cron fields, such as "0 3 * * *".';
  try {
    const [first, second] = new Cron(expression, { timezone: tz ?? 'UTC' }).nextRuns(
      2,
      new Date('2026-01-01T00:00:00Z'),
    );
    if (first && second && second.getTime() - first.getTime() < everyMsMin)
      return 'A schedule runs at most every five minutes.';
    return first ? null : 'This schedule never runs.';
  } catch (error) {
    return `This is not a cron expression: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The next time after `afterMs`; null when there is none. */
export function nextRunMs(expression: string, tz: string | undefined, afterMs: number): number | null {
  return new Cron(expression, { timezone: tz ?? 'UTC' }).nextRun(new Date(afterMs))?.getTime() ?? null;
}
