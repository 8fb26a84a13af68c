import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { checkZone, utcToWall, wallToUtc } from './time.ts';

/** Converts a local time such as `2027-03-28T02:30`. */
const at = (zone: string, wall: string): string => {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = wall.split(/\D/).map(Number);
  return new Date(wallToUtc(zone, { year, month, day, hour, minute })).toISOString().slice(0, 19);
};

test.each([
  // Spring: clocks go forward from 2 to 3.
  ['Europe/Zagreb', '2027-03-28T00:00', '2027-03-27T23:00:00'],
  ['Europe/Zagreb', '2027-03-28T01:59', '2027-03-28T00:59:00'],
  ['Europe/Zagreb', '2027-03-28T02:00', '2027-03-28T01:00:00'],
  ['Europe/Zagreb', '2027-03-28T02:30', '2027-03-28T01:00:00'],
  ['Europe/Zagreb', '2027-03-28T03:00', '2027-03-28T01:00:00'],
  ['Europe/Zagreb', '2027-03-29T00:00', '2027-03-28T22:00:00'],
  // Autumn: clocks go back from 3 to 2.
  ['Europe/Zagreb', '2027-10-31T01:59', '2027-10-30T23:59:00'],
  ['Europe/Zagreb', '2027-10-31T02:30', '2027-10-31T00:30:00'],
  ['Europe/Zagreb', '2027-10-31T03:00', '2027-10-31T02:00:00'],
  ['America/New_York', '2027-03-14T02:15', '2027-03-14T07:00:00'],
  ['America/New_York', '2027-03-14T03:00', '2027-03-14T07:00:00'],
  ['America/New_York', '2027-11-07T01:30', '2027-11-07T05:30:00'],
  ['America/New_York', '2027-11-07T02:00', '2027-11-07T07:00:00'],
  // Shifts of half an hour, at midnight, of a whole day, and none.
  ['Australia/Lord_Howe', '2027-10-03T02:15', '2027-10-02T15:30:00'],
  ['America/Havana', '2027-03-14T00:00', '2027-03-14T05:00:00'],
  ['Pacific/Apia', '2011-12-30T12:00', '2011-12-30T10:00:00'],
  ['Asia/Kolkata', '2027-03-28T02:30', '2027-03-27T21:00:00'],
  ['Asia/Kathmandu', '2027-03-28T00:00', '2027-03-27T18:15:00'],
  ['UTC', '2027-03-28T02:30', '2027-03-28T02:30:00'],
  // The thirtieth of February is two days after the twenty-eighth.
  ['Europe/Zagreb', '2027-02-30T00:00', '2027-03-01T23:00:00'],
])('in %s it is %s at %s', (zone, wall, utc) => {
  expect(at(zone, wall)).toBe(utc);
});

test('the local time is that of its zone, with the weekday', () => {
  const local = utcToWall('America/New_York', Date.parse('2027-11-07T05:30:09.999Z'));
  expect(local).toEqual({ year: 2027, month: 11, day: 7, hour: 1, minute: 30, second: 9, weekday: 7 });
  expect(utcToWall('Asia/Tokyo', Date.parse('2026-12-31T15:00:00Z'))).toMatchObject({
    year: 2027,
    weekday: 5,
  });
  expect(utcToWall('UTC', -1)).toMatchObject({ year: 1969, month: 12, day: 31, second: 59, weekday: 3 });
});

test('a round trip yields the same minute, or the end of a skipped hour', () => {
  const zones = [
    'Europe/Zagreb',
    'America/New_York',
    'Australia/Lord_Howe',
    'America/Havana',
    'Asia/Kolkata',
    'UTC',
  ];
  const minutes = fc.integer({ min: Date.UTC(2000, 0) / 60_000, max: Date.UTC(2045, 0) / 60_000 });
  fc.assert(
    fc.property(fc.constantFrom(...zones), minutes, (zone, minute) => {
      const ms = minute * 60_000;
      const back = wallToUtc(zone, utcToWall(zone, ms));
      // A repeated hour is read as its first occurrence.
      expect([0, 1_800_000, 3_600_000]).toContain(ms - back);
      expect(utcToWall(zone, back)).toEqual(utcToWall(zone, ms));
    }),
    { seed: 20261122, numRuns: 2_000 },
  );
});

test('an invalid zone is rejected', () => {
  for (const zone of ['Europe/Zagreb', 'America/New_York', 'UTC', 'Europe/Kyiv', 'Asia/Kolkata'])
    expect(checkZone(zone)).toBeNull();
  expect(checkZone('Europe/Zagrb')).toBe(
    'Unknown time zone Europe/Zagrb; use one such as Europe/Berlin. Did you mean Europe/Zagreb?',
  );
  for (const zone of ['', '+01:00', 'Mars/Olympus', 'x'.repeat(1_000)])
    expect(checkZone(zone)).toContain('Unknown time zone');
});
