// Relative times as ISO 8601 durations: `-P7D` is seven days before a time, `P1M` a month after it. Days and months are in UTC.

/** A time or date that depends on the current time. */
export interface Relative {
  /** @returns ISO 8601, a date or a time in UTC */
  at(nowMs: number): string;
}

const yearsMax = 100;

export function looksRelative(text: string): boolean {
  return /^[+-]?P/i.test(text);
}

/** @returns undefined if the text is not a duration or exceeds a hundred years */
export function relativeTime(text: string): Relative | undefined {
  const duration = durationOf(text);
  return duration && { at: (nowMs) => new Date(added(nowMs, duration).epochMilliseconds).toISOString() };
}

/** Like `relativeTime` for dates; hours are not allowed. */
export function relativeDay(text: string): Relative | undefined {
  const duration = durationOf(text);
  if (!duration || /T/i.test(text)) return undefined;
  return { at: (nowMs) => added(nowMs, duration).toPlainDate().toString() };
}

function added(nowMs: number, duration: Temporal.Duration): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO('UTC').add(duration);
}

function durationOf(text: string): Temporal.Duration | undefined {
  try {
    const duration = Temporal.Duration.from(text);
    const years = duration.total({ unit: 'years', relativeTo: Temporal.PlainDate.from('2000-01-01') });
    return Math.abs(years) <= yearsMax ? duration : undefined;
  } catch (error) {
    // Temporal throws the same error for every text that it cannot parse.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
