import { describe, expect, spyOn, test } from 'bun:test';
import fc from 'fast-check';
import { addBusinessMs, businessMsBetween, weekdays, type BusinessWeek } from './business-time.ts';
import { hourMs, utcToWall } from './time.ts';

const minuteMs = 60_000;

function countConversions(run: () => void): number {
  const conversions = [
    spyOn(Temporal.PlainDate.prototype, 'toZonedDateTime'),
    spyOn(Temporal.PlainDateTime.prototype, 'toZonedDateTime'),
  ];
  try {
    run();
    return conversions.reduce((count, { mock }) => count + mock.calls.length, 0);
  } finally {
    for (const conversion of conversions) conversion.mockRestore();
  }
}

const nineToFive: BusinessWeek = {
  timeZone: 'Europe/Berlin',
  hours: Object.fromEntries(weekdays.slice(0, 5).map((day) => [day, [[9 * 60, 17 * 60]]])),
  holidays: new Set(['2026-12-25']),
};
const allDay: BusinessWeek = {
  ...nineToFive,
  hours: Object.fromEntries(weekdays.map((day) => [day, [[0, 24 * 60]]])),
};
const at = (text: string): number => Date.parse(text);
const after = (week: BusinessWeek, from: string, hours: number): string | null => {
  const due = addBusinessMs(week, at(from), hours * hourMs);
  return due === null ? null : new Date(due).toISOString();
};

describe('business time', () => {
  test('the clock skips to the next working day, over weekends and holidays', () => {
    expect(after(nineToFive, '2026-11-20T14:00:00Z', 4)).toBe('2026-11-23T10:00:00.000Z');
    expect(after(nineToFive, '2026-12-24T15:00:00Z', 2)).toBe('2026-12-28T09:00:00.000Z');
    expect(after(nineToFive, '2026-11-21T10:00:00Z', 8)).toBe('2026-11-23T16:00:00.000Z');
  });

  test('a deadline at the end of a working day does not move to the start of the next one', () => {
    expect(after(nineToFive, '2026-11-20T15:00:00Z', 1)).toBe('2026-11-20T16:00:00.000Z');
    expect(after(nineToFive, '2026-11-21T15:00:00Z', 0)).toBe('2026-11-21T15:00:00.000Z');
  });

  test('a day with a clock change has 23 or 25 hours', () => {
    expect(after(allDay, '2027-03-27T23:00:00Z', 23)).toBe('2027-03-28T22:00:00.000Z');
    expect(after(allDay, '2026-10-24T22:00:00Z', 25)).toBe('2026-10-25T23:00:00.000Z');
    const night: BusinessWeek = { ...allDay, hours: { sunday: [[60, 240]] } };
    expect(businessMsBetween(night, at('2027-03-27T00:00Z'), at('2027-03-29T00:00Z'))).toBe(2 * hourMs);
    expect(businessMsBetween(night, at('2026-10-24T00:00Z'), at('2026-10-26T00:00Z'))).toBe(4 * hourMs);
  });

  test('hours that begin inside a skipped hour begin after it', () => {
    const leapt: BusinessWeek = { ...allDay, hours: { sunday: [[150, 240]] } };
    expect(businessMsBetween(leapt, at('2027-03-28T00:00Z'), at('2027-03-29T00:00Z'))).toBe(hourMs);
  });

  test('a deadline more than five years away is never reached', () => {
    expect(after({ ...nineToFive, hours: { monday: [[0, 1]] } }, '2026-11-20T12:00Z', 24)).toBe(null);
    expect(after({ ...nineToFive, hours: {} }, '2026-11-20T12:00Z', 1)).toBe(null);
  });

  test('a range of years with many short periods converts about one local time a day, regardless of the periods per day', () => {
    const scattered: BusinessWeek = {
      ...nineToFive,
      hours: Object.fromEntries(
        weekdays.map((day) => [
          day,
          Array.from({ length: 8 }, (_, hour) => [hour * 60, hour * 60 + 1] as const),
        ]),
      ),
    };
    const days = 5 * 366;
    const conversions = countConversions(() =>
      expect(addBusinessMs(scattered, at('2026-11-20T12:00Z'), 1e12)).toBe(null),
    );
    expect(conversions).toBeGreaterThanOrEqual(days);
    expect(conversions).toBeLessThan(2 * days);
  });

  test('the result equals that of a minute-by-minute model', () => {
    fc.assert(
      fc.property(weekOf, start, fc.integer({ min: 1, max: 3_000 }), (week, from, minutes) => {
        const due = addBusinessMs(week, from, minutes * minuteMs);
        const end = from + 9 * 24 * hourMs;
        const model = modelOf(week, from, end, minutes);
        if (model === null) expect(due === null || due > end).toBe(true);
        else {
          expect(due).toBe(model);
          expect(businessMsBetween(week, from, model)).toBe(minutes * minuteMs);
        }
      }),
      { seed: 20261122, numRuns: 60 },
    );
  });
});

/** Slow model of `addBusinessMs`: counts minute by minute. Returns null if the result is later than `end`. */
function modelOf(week: BusinessWeek, from: number, end: number, minutes: number): number | null {
  let left = minutes;
  for (let now = from; now < end; now += minuteMs) {
    const wall = utcToWall(week.timeZone, now);
    const day = new Date(Date.UTC(wall.year, wall.month - 1, wall.day)).toISOString().slice(0, 10);
    const minuteOfDay = wall.hour * 60 + wall.minute;
    const hours = week.hours[weekdays[wall.weekday - 1]!] ?? [];
    const isAtWork =
      !week.holidays.has(day) && hours.some(([from, to]) => from <= minuteOfDay && minuteOfDay < to);
    if (isAtWork && --left === 0) return now + minuteMs;
  }
  return null;
}

/** Ends of working hours, without times that a clock change repeats, which the model cannot tell apart. */
const edge = fc.constantFrom(0, 4, 5, 8, 9.5, 12, 13, 17, 18.25, 24).map((hour) => hour * 60);
const hoursOf = fc.uniqueArray(edge, { minLength: 0, maxLength: 4 }).map((edges) => {
  const ascending = edges.toSorted((a, b) => a - b);
  const pairs: [number, number][] = [];
  for (let i = 0; i + 1 < ascending.length; i += 2) pairs.push([ascending[i]!, ascending[i + 1]!]);
  return pairs;
});
const start = fc
  .constantFrom(
    '2027-03-25T00:00Z',
    '2026-10-22T00:00Z',
    '2026-12-23T00:00Z',
    '2026-10-29T00:00Z',
    '2027-04-01T00:00Z',
  )
  .chain((day) => fc.integer({ min: 0, max: 4 * 1440 }).map((minute) => at(day) + minute * minuteMs));
const weekOf: fc.Arbitrary<BusinessWeek> = fc.record({
  timeZone: fc.constantFrom('Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
  hours: fc.record(Object.fromEntries(weekdays.map((day) => [day, hoursOf]))),
  holidays: fc
    .subarray(['2026-12-25', '2026-10-25', '2027-03-28', '2026-11-02'])
    .map((days) => new Set<string>(days)),
});
