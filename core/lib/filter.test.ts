import { expect, test } from 'bun:test';
import { ApiError } from './errors.ts';
import { foldCase, matches, parseFilter, type FilterFields } from './filter.ts';
import { isDay, isTime } from './time.ts';

const fields: FilterFields = {
  title: { type: 'text', path: 'title' },
  priority: { type: 'text', path: 'priority', values: ['low', 'high'], rank: ['low', 'high'] },
  state: { type: 'text', path: 'state.type', values: ['open', 'shut'], aliases: { closed: 'shut' } },
  label: { type: 'text', path: 'labels[].name', idPath: 'labels[].id' },
  estimate: { type: 'number', path: 'estimate' },
  due: { type: 'text', path: 'due', ordered: true },
  done: { type: 'boolean', path: 'done' },
  at: { type: 'time', path: 'at' },
};
const shown = {
  title: 'Crash on Save',
  priority: 'high',
  state: { type: 'shut' },
  labels: [
    { id: 'l1', name: 'bug' },
    { id: 'l2', name: 'ui' },
  ],
  estimate: 3,
  due: '2027-03-01',
  done: false,
  at: '2026-11-20T12:00:00.000Z',
};
const passes = (filter: unknown, object: object = shown): boolean =>
  matches(parseFilter(filter, fields), fields, object);

test('each test of the language', () => {
  const rows: [filter: object, passes: boolean][] = [
    [{}, true],
    [{ priority: 'high' }, true],
    [{ priority: ['low', 'high'] }, true],
    [{ priority: [] }, false],
    [{ priority: { nin: [] } }, true],
    [{ priority: { neq: 'high' } }, false],
    [{ priority: { gt: 'low' } }, true],
    [{ priority: { lt: 'low' } }, false],
    [{ state: 'closed' }, true],
    [{ title: { contains: 'CRASH' } }, true],
    [{ title: { startsWith: 'crash on s' } }, true],
    [{ title: { contains: 'ä' } }, false],
    [{ title: { eq: 'crash on save' } }, false],
    [{ label: 'ui' }, true],
    [{ label: 'l2' }, true],
    [{ label: { nin: ['l2'] } }, false],
    [{ label: { contains: 'l2' } }, false],
    [{ label: { contains: 'U' } }, true],
    [{ label: { null: false } }, true],
    [{ estimate: { gt: 2, lt: 4 } }, true],
    [{ estimate: { gt: 2, lt: 3 } }, false],
    [{ due: { gt: '2027-02-28' } }, true],
    [{ due: { lt: '2027-03-01' } }, false],
    [{ done: false }, true],
    [{ done: { null: false } }, true],
    [{ at: { gt: '2026-11-20T13:59:59+02:00' } }, true],
    [{ at: { eq: '2026-11-20T12:00:00Z' } }, true],
    [{ and: [{ priority: 'high' }, { label: 'ui' }] }, true],
    [{ or: [{ priority: 'low' }, { label: 'ui' }] }, true],
    [{ or: [{ priority: 'low' }, { label: 'x' }] }, false],
    [{ priority: 'high', label: 'x' }, false],
  ];
  for (const [filter, expected] of rows) expect([filter, passes(filter)]).toEqual([filter, expected]);
});

test('a missing value is null: only null and the negations pass', () => {
  const empty = { labels: [], estimate: null };
  for (const [filter, expected] of [
    [{ estimate: { null: true } }, true],
    [{ estimate: { gt: -1 } }, false],
    [{ estimate: { neq: 3 } }, true],
    [{ label: { null: true } }, true],
    [{ label: { nin: ['bug'] } }, true],
    [{ title: { contains: '' } }, false],
  ] as const)
    expect([filter, passes(filter, empty)]).toEqual([filter, expected]);
});

test('what is no filter is refused at its place', () => {
  const rows: [filter: unknown, place: string][] = [
    [null, 'filter invalid_type'],
    [[], 'filter invalid_type'],
    [{ colour: 'red' }, 'filter.colour unknown_field'],
    [JSON.parse('{"__proto__":1}'), 'filter.__proto__ unknown_field'],
    [{ constructor: 1 }, 'filter.constructor unknown_field'],
    [{ priority: 'asap' }, 'filter.priority invalid_enum'],
    [{ priority: ['high', 'asap'] }, 'filter.priority.1 invalid_enum'],
    [{ priority: { contains: 'h' } }, 'filter.priority.contains unknown_field'],
    [{ priority: {} }, 'filter.priority required'],
    [{ title: { gt: 'a' } }, 'filter.title.gt unknown_field'],
    [{ done: { gt: true } }, 'filter.done.gt unknown_field'],
    [{ title: { like: '%' } }, 'filter.title.like unknown_field'],
    [{ title: { in: 'x' } }, 'filter.title.in invalid_type'],
    [{ title: { null: 1 } }, 'filter.title.null invalid_type'],
    [{ estimate: '3' }, 'filter.estimate invalid_type'],
    [{ at: '2026-02-30' }, 'filter.at invalid_format'],
    [{ and: [] }, 'filter.and invalid_type'],
    [{ or: { priority: 'high' } }, 'filter.or invalid_type'],
    [{ and: [{ or: [{ x: 1 }] }] }, 'filter.and.0.or.0.x unknown_field'],
    [{ title: Array(101).fill('x') }, 'filter.title.100 too_long'],
  ];
  for (const [filter, place] of rows) {
    let refused: unknown;
    try {
      parseFilter(filter, fields);
    } catch (error) {
      refused = error;
    }
    const [detail] = (refused as ApiError).details;
    expect([filter, `${detail!.path} ${detail!.issue}`]).toEqual([filter, place]);
  }
  let deep: object = { priority: 'high' };
  for (let level = 0; level < 8; level++) deep = { and: [deep] };
  expect(() => parseFilter(deep, fields)).toThrow('Nest at most 8');
});

test('days and times are those of the calendar', () => {
  for (const day of ['2026-02-28', '2028-02-29', '0001-01-01'])
    expect([day, isDay(day)]).toEqual([day, true]);
  for (const day of ['2026-02-29', '2026-02-30', '2026-13-01', '2026-00-10', '2026-1-1', '20261120', ''])
    expect([day, isDay(day)]).toEqual([day, false]);
  for (const time of ['2026-11-20', '2026-11-20T12:00Z', '2026-11-20T12:00:00.123456789+05:30'])
    expect([time, isTime(time)]).toEqual([time, true]);
  for (const time of ['2026-02-30T00:00:00Z', '2026-11-20T12:00:00', '2026-11-20T25:00:00Z', 'now', '1e3'])
    expect([time, isTime(time)]).toEqual([time, false]);
});

test('letters fold as SQLite folds them: A to Z and no others', () => {
  // U+212A, the Kelvin sign, is no K to SQLite.
  expect(foldCase('ÄbC ẞ İ \u212a')).toBe('Äbc ẞ İ \u212a');
});
