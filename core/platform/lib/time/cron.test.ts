import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { checkCron, nextRunMs } from './cron.ts';

const tooOften = 'A schedule may run at most every five minutes. Use a longer interval.';

test.each([
  ['* * * * *', undefined],
  ['1,6-59 * * * *', undefined],
  ['0,58 * * * *', undefined],
  ['0,30,34 9 * * *', undefined],
  ['59,1 0,23 * * *', undefined],
  ['0-59/4 5 * * 1', undefined],
  // The first interval is long enough; later ones are not.
  ['*/30,41,44 0,7 1 1 *', 'Europe/Berlin'],
])('%s in %p is rejected', (expression, tz) => {
  expect(checkCron(expression, tz)).toBe(tooOften);
});

test.each([
  ['*/5 * * * *', 'Europe/Berlin'],
  ['2-57/5 * * * *', 'America/New_York'],
  ['0,5,55 * * * *', undefined],
  ['0 3 * * *', 'Australia/Lord_Howe'],
  ['0,33 2 * * *', 'Europe/Berlin'],
  ['0 0 29 2 *', undefined],
])('%s in %p is accepted', (expression, tz) => {
  expect(checkCron(expression, tz)).toBeNull();
});

test('an invalid schedule, or one that never runs, is rejected with its reason', () => {
  expect(checkCron('0 0 30 2 *', undefined)).toBe(
    'This schedule never runs, because its date does not exist. Choose another day or month.',
  );
  expect(checkCron('* * * *', undefined)).toContain('five cron fields');
  expect(checkCron('61 * * * *', undefined)).toContain('The cron expression is invalid');
  expect(checkCron('0 3 * * *', 'Mars/Olympus')).toContain('Unknown time zone Mars/Olympus');
});

test('an accepted schedule runs at most every five minutes, also across clock changes', () => {
  const some = (max: number) =>
    fc.oneof(
      fc.constant('*'),
      fc.integer({ min: 2, max: 20 }).map((step) => `*/${step}`),
      fc
        .uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 3 })
        .map((times) => times.join()),
    );
  const zones = [
    ['Europe/Berlin', '2028-03-26', '2028-10-29'],
    ['America/New_York', '2028-03-12', '2028-11-05'],
    ['Australia/Lord_Howe', '2028-04-01', '2028-09-30'],
  ] as const;
  const day = fc.constantFrom(...zones.flatMap(([zone, ...days]) => days.map((from) => ({ zone, from }))));
  fc.assert(
    fc.property(some(59), some(23), day, (minutes, hours, { zone, from }) => {
      const expression = `${minutes} ${hours} * * *`;
      const isTaken = checkCron(expression, zone) === null;
      let shortest = Infinity;
      let at = Date.parse(from) - 1;
      for (let runs = 0; runs < 60; runs++) {
        const next = nextRunMs(expression, zone, at)!;
        if (runs > 0) shortest = Math.min(shortest, next - at);
        at = next;
      }
      expect(!isTaken || shortest >= 300_000).toBe(true);
    }),
    { seed: 20261121, numRuns: 60 },
  );
});
