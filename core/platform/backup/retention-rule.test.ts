// Selection of backups by a retention rule.
import { expect, test } from 'bun:test';
import { retainedOf, parseRetentionRule } from './retention-rule.ts';

const nothing = { last: 0, daily: 0, weekly: 0, monthly: 0 };
/** One backup every six hours up to Sunday, 22 November 2026, 18:00, the newest first. */
const backups = Array.from({ length: 4 * 400 }, (_, index) => ({
  createdAt: new Date(Date.parse('2026-11-22T18:00:00Z') - index * 6 * 3_600_000).toISOString(),
}));
const retained = (rule: Partial<typeof nothing>): string[] =>
  retainedOf(backups, { ...nothing, ...rule }).map(({ createdAt }) => createdAt.slice(0, 13));

test('the newest backup is retained for each of the last days, weeks (from Monday) and months that have one', () => {
  expect(retained({ last: 2 })).toEqual(['2026-11-22T18', '2026-11-22T12']);
  expect(retained({ daily: 3 })).toEqual(['2026-11-22T18', '2026-11-21T18', '2026-11-20T18']);
  expect(retained({ weekly: 3 })).toEqual(['2026-11-22T18', '2026-11-15T18', '2026-11-08T18']);
  expect(retained({ monthly: 3 })).toEqual(['2026-11-22T18', '2026-10-31T18', '2026-09-30T18']);
  expect(retained({ last: 3, daily: 7, weekly: 4, monthly: 6 }).length).toBe(2 + 7 + 3 + 5);
});

test('days without a backup do not count', () => {
  const rare = ['2026-11-22', '2026-11-01', '2026-08-09'].map((day) => ({
    createdAt: `${day}T03:00:00.000Z`,
  }));
  expect(retainedOf(rare, { ...nothing, daily: 3 })).toEqual(rare);
});

test('a rule is parsed, and a rule that retains nothing is rejected', () => {
  expect(parseRetentionRule('daily=7, weekly=4')).toEqual({ ...nothing, daily: 7, weekly: 4 });
  for (const text of ['', 'daily', 'hourly=3', 'daily=-1', 'last=0', 'daily=7;weekly=4'])
    expect(parseRetentionRule(text)).toBeNull();
});
