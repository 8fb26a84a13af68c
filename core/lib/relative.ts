// Times relative to a moment, as ISO 8601 durations: `-P7D` is seven days before it, `P1M` a month after. Days and months are those of UTC.

/** A moment or day that is known once the moment is, to which it is relative. */
export interface Relative {
  /** @returns ISO 8601, a day or a time in UTC */
  at(nowMs: number): string;
}

const yearsMax = 100;

export function looksRelative(text: string): boolean {
  return /^[+-]?P/i.test(text);
}

/** @returns undefined for what is no duration, and for more than a hundred years */
export function relativeTime(text: string): Relative | undefined {
  const duration = durationOf(text);
  return duration && { at: (nowMs) => new Date(added(nowMs, duration).epochMilliseconds).toISOString() };
}

/** The same of days: hours are no part of it. */
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
    // The only word it has for a text that it does not read.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
