import { expect, test } from 'bun:test';
import { csvOf } from './export.ts';

type Entry = Parameters<typeof csvOf>[0][number];

const entry = (name: string): Entry =>
  ({
    at: '2026-11-20T12:00:00.000Z',
    sequence: 7,
    actor: { kind: 'user', id: 'usr_1', name },
    action: 'issue.created',
    target: { kind: 'issue', id: 'iss_1' },
    details: null,
    requestId: null,
  }) as unknown as Entry;

const nameIn = (name: string): string =>
  csvOf([entry(name)])
    .split('\r\n')[1]!
    .split('usr_1,')[1]!
    .split(',issue')[0]!;

test('quotes, commas and line breaks stay in one cell', () => {
  expect(nameIn('Ana "A" Lee, Ops\nteam')).toBe('"Ana ""A"" Lee, Ops\nteam"');
});

test('a name is never a formula of a spreadsheet', () => {
  expect(nameIn('=HYPERLINK(1)')).toBe("'=HYPERLINK(1)");
  expect(nameIn('Ana')).toBe('Ana');
});

test.each(['＝', '＋', '－', '＠'])(
  'a name that begins with the full-width sign %s is no formula either',
  (sign) => {
    expect(nameIn(`${sign}HYPERLINK(1)`)).toBe(`'${sign}HYPERLINK(1)`);
  },
);
