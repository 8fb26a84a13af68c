import { expect, test } from 'bun:test';
import type { ApiError } from '../errors/errors.ts';
import { isNever, parseFilter, type FilterFields, type ReadingOptions } from './filter.ts';
import { createSearched, passesOf } from './filter-match.ts';
import type { Mention } from './filter-value.ts';
import { foldCase, foldName } from '../text/words.ts';
import { isDay, isTime } from '../time/time.ts';

const fields: FilterFields = {
  id: { type: 'text', path: 'id', pattern: '^x_[0-9]+$' },
  title: { type: 'text', path: 'title' },
  priority: { type: 'text', path: 'priority', values: ['low', 'high'], rank: ['low', 'high'] },
  state: {
    type: 'reference',
    path: 'state.type',
    to: { name: 'state', id: 's' },
    ways: [
      {
        by: 'word',
        path: 'state.type',
        property: 'type',
        words: { open: 'open', shut: 'shut', closed: 'shut' },
      },
      { by: 'name', path: 'state.name', property: 'name' },
    ],
  },
  label: {
    type: 'reference',
    path: 'labels[].id',
    to: { name: 'label', id: 'l' },
    ways: [
      { by: 'id', path: 'labels[].id', pattern: '^l[0-9]$', property: 'id' },
      { by: 'name', path: 'labels[].name', property: 'name' },
    ],
    nullable: true,
  },
  team: {
    type: 'reference',
    path: 'team.key',
    to: { name: 'team', id: null },
    ways: [{ by: 'key', path: 'team.key', property: 'key' }],
  },
  person: {
    type: 'reference',
    path: 'person.id',
    to: { name: 'member', id: 'usr' },
    ways: [
      { by: 'id', path: 'person.id', pattern: '^usr_[0-9]$', property: 'id' },
      { by: 'name', path: 'person.name', property: 'name' },
    ],
    nullable: true,
    isPerson: true,
  },
  parent: {
    type: 'reference',
    path: 'parent.id',
    to: { name: 'issue', id: 'iss' },
    ways: [{ by: 'identifier', path: 'parent.identifier', property: 'identifier' }],
    nullable: true,
  },
  estimate: { type: 'number', path: 'estimate', minimum: 0, maximum: 10 },
  number: { type: 'number', path: 'number', integer: true },
  due: { type: 'day', path: 'due' },
  done: { type: 'boolean', path: 'done' },
  at: { type: 'time', path: 'at' },
};
const now = Date.parse('2027-03-01T00:00:00Z');
const issue = {
  title: 'Crash on Save',
  priority: 'high',
  state: { type: 'shut', name: 'In Review' },
  labels: [
    { id: 'l1', name: 'bug' },
    { id: 'l2', name: 'Ärger' },
  ],
  team: { key: 'ENG' },
  person: { id: 'usr_1', name: 'Ana' },
  parent: { id: 'iss_1', identifier: 'ENG-7' },
  estimate: 3,
  number: 4,
  due: '2027-03-01',
  done: false,
  at: '2026-11-20T12:00:00.000Z',
};
const passes = (filter: unknown, object: object = issue, options: ReadingOptions = {}): boolean =>
  passesOf(parseFilter(filter, fields, 'filter', options), fields)(object, createSearched(), now);

test('every operator of the language is evaluated', () => {
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
    [{ state: 'CLOSED' }, true],
    [{ state: 'in review' }, true],
    [{ state: ['open', 'In Review'] }, true],
    [{ state: 'shutter' }, false],
    [{ label: 'BUG' }, true],
    [{ label: 'äRGER' }, true],
    [{ label: 'A\u0308rger' }, true],
    [{ label: 'l2' }, true],
    [{ label: { nin: ['l2'] } }, false],
    [{ label: { contains: 'l2' } }, false],
    [{ label: { contains: 'Är' } }, true],
    [{ label: { startsWith: 'U' } }, false],
    [{ label: { null: false } }, true],
    [{ label: 'none' }, false],
    [{ label: { neq: 'none' } }, true],
    [{ label: ['none', 'bug'] }, true],
    [{ team: 'eng' }, true],
    [{ person: 'ana' }, true],
    [{ person: null }, false],
    [{ person: ['usr_2', null] }, false],
    [{ person: { nin: ['usr_2', null] } }, true],
    [{ parent: 'eng-7' }, true],
    [{ parent: { in: ['ENG-8', 'none'] } }, false],
    [{ estimate: { gte: 3, lte: 3 } }, true],
    [{ estimate: { gte: 4 } }, false],
    [{ priority: { gte: 'high' } }, true],
    [{ priority: { lte: 'low' } }, false],
    [{ due: { gte: '2027-03-01' } }, true],
    [{ due: 'P0D' }, true],
    [{ due: { lt: 'P1D' } }, true],
    [{ due: { gt: '-P1M' } }, true],
    [{ due: { gt: 'P0D' } }, false],
    [{ due: ['-P1D', '2027-03-01'] }, true],
    [{ at: { gt: '-P1Y' } }, true],
    [{ at: { lt: '-PT24H' } }, true],
    [{ not: { priority: 'high' } }, false],
    [{ not: { priority: 'high', label: 'x' } }, true],
    [{ not: { or: [{ priority: 'low' }, { done: true }] } }, true],
    [{ not: { not: { done: false } } }, true],
    [{ estimate: { gt: 2, lt: 4 } }, true],
    [{ estimate: { gt: 2, lt: 3 } }, false],
    [{ due: { gt: '2027-02-28' } }, true],
    [{ due: { lt: '2027-03-01' } }, false],
    [{ done: false }, true],
    [{ done: { null: false } }, true],
    [{ at: { gt: '2026-11-20T13:59:59+02:00' } }, true],
    [{ at: { eq: '2026-11-20T12:00:00Z' } }, true],
    [{ and: [{ priority: 'high' }, { label: 'bug' }] }, true],
    [{ or: [{ priority: 'low' }, { label: 'bug' }] }, true],
    [{ or: [{ priority: 'low' }, { label: 'x' }] }, false],
    [{ priority: 'high', label: 'x' }, false],
  ];
  for (const [filter, expected] of rows) expect([filter, passes(filter)]).toEqual([filter, expected]);
});

test('a missing value is null: every test of it is false except `null`, and every negation is true', () => {
  const empty = { labels: [], estimate: null, person: null };
  for (const [filter, expected] of [
    [{ estimate: { null: true } }, true],
    [{ estimate: { gt: -1 } }, false],
    [{ estimate: { neq: 3 } }, true],
    [{ label: { null: true } }, true],
    [{ label: { nin: ['bug'] } }, true],
    [{ title: { contains: '' } }, false],
    [{ estimate: { lte: 3 } }, false],
    [{ not: { estimate: { lte: 3 } } }, true],
    [{ not: { estimate: { gt: 3 } } }, true],
    [{ due: { lt: 'P9D' } }, false],
    [{ person: 'none' }, true],
    [{ person: null }, true],
    [{ person: { neq: null } }, false],
    [{ person: { in: ['Ana', null] } }, true],
    [{ label: 'none' }, true],
    [{ not: { label: null } }, false],
  ] as const)
    expect([filter, passes(filter, empty)]).toEqual([filter, expected]);
});

test('an empty text counts as missing for `null`; other falsy values do not', () => {
  const empty = { title: '', estimate: 0, done: false };
  for (const [filter, expected] of [
    [{ title: null }, true],
    [{ title: { null: true } }, true],
    [{ title: { null: false } }, false],
    [{ title: ['Crash', null] }, true],
    [{ title: { neq: null } }, false],
    [{ title: { eq: '' } }, true],
    [{ estimate: { null: true } }, false],
    [{ done: { null: true } }, false],
  ] as const)
    expect([filter, passes(filter, empty)]).toEqual([filter, expected]);
});

test('an invalid filter is rejected with its position', () => {
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
    [{ id: 'bogus' }, 'filter.id invalid_format'],
    [{ label: '' }, 'filter.label invalid_format'],
    [{ label: { in: ['x', 1] } }, 'filter.label.in.1 invalid_type'],
    [{ label: { in: [1] } }, 'filter.label.in.0 invalid_type'],
    [{ team: 'En g' }, 'filter.team invalid_format'],
    [{ team: 'none' }, ''],
    [{ parent: 'bogus' }, 'filter.parent invalid_format'],
    [{ state: { contains: 'x' } }, 'filter.state.contains unknown_field'],
    [{ person: 'me' }, 'filter.person invalid_format'],
    [{ person: { gt: 'a' } }, 'filter.person.gt unknown_field'],
    [{ estimate: 11 }, 'filter.estimate too_big'],
    [{ estimate: { nin: [-1] } }, 'filter.estimate.nin.0 too_small'],
    [{ estimate: { gt: -1 } }, ''],
    [{ number: 1.5 }, 'filter.number invalid_type'],
    [{ due: 'tomorrow' }, 'filter.due invalid_format'],
    [{ due: { gt: '2026-13-45' } }, 'filter.due.gt invalid_format'],
    [{ due: { lte: '2026-02-30' } }, 'filter.due.lte invalid_format'],
    [{ due: '2026-11-20T12:00:00Z' }, 'filter.due invalid_format'],
    [{ due: 'PT1H' }, 'filter.due invalid_format'],
    [{ due: { startsWith: 'tom' } }, 'filter.due.startsWith invalid_format'],
    [{ at: { gt: '2026-13-45' } }, 'filter.at.gt invalid_format'],
    [{ at: { gt: '-P101Y' } }, 'filter.at.gt invalid_format'],
    [{ at: { gt: 'P' } }, 'filter.at.gt invalid_format'],
    [{ not: [] }, 'filter.not invalid_type'],
    [{ not: { x: 1 } }, 'filter.not.x unknown_field'],
  ];
  for (const [filter, fault] of rows) {
    let refused: unknown;
    try {
      parseFilter(filter, fields);
    } catch (error) {
      refused = error;
    }
    const [detail] = (refused as ApiError | undefined)?.details ?? [];
    expect([filter, detail ? `${detail.path} ${detail.issue}` : '']).toEqual([filter, fault]);
  }
  let deep: object = { priority: 'high' };
  for (let level = 0; level < 8; level++) deep = { and: [deep] };
  expect(() => parseFilter(deep, fields)).toThrow('Nest at most 8');
});

test('days and times follow the calendar', () => {
  for (const day of ['2026-02-28', '2028-02-29', '0001-01-01'])
    expect([day, isDay(day)]).toEqual([day, true]);
  for (const day of ['2026-02-29', '2026-02-30', '2026-13-01', '2026-00-10', '2026-1-1', '20261120', ''])
    expect([day, isDay(day)]).toEqual([day, false]);
  for (const time of ['2026-11-20', '2026-11-20T12:00Z', '2026-11-20T12:00:00.123456789+05:30', '0000-01-01'])
    expect([time, isTime(time)]).toEqual([time, true]);
  for (const beyond of ['9999-12-31T23:00:00-12:00', '0000-01-01T00:00:00+12:00'])
    expect([beyond, isTime(beyond)]).toEqual([beyond, false]);
  for (const time of ['2026-02-30T00:00:00Z', '2026-11-20T12:00:00', '2026-11-20T25:00:00Z', 'now', '1e3'])
    expect([time, isTime(time)]).toEqual([time, false]);
});

test('a misspelled name is answered with a suggestion', () => {
  for (const [filter, fix] of [
    [{ titel: 'x' }, 'Did you mean title?'],
    [{ title: { startWith: 'x' } }, 'Did you mean startsWith?'],
    [{ priority: 'hihg' }, 'Did you mean high?'],
  ] as const)
    expect(() => parseFilter(filter, fields)).toThrow(fix);
});

test('`me` is the caller: a member, and for filters that need no member, a plugin', () => {
  const me = { id: 'usr_1', memberId: 'usr_1' };
  expect(passes({ person: 'me' }, issue, { me })).toBe(true);
  expect(passes({ person: { nin: ['me'] } }, issue, { me })).toBe(false);
  expect(() => passes({ person: 'me' }, issue, { me: { id: 'plg_1', memberId: null } })).toThrow(
    'not a member',
  );
});

test('names referenced by a filter are reported with their position', () => {
  const mentions: Mention[] = [];
  const filter = { not: { label: ['Bug', 'l1', 'none'] }, team: 'eng', person: { neq: 'me' } };
  parseFilter(filter, fields, '', { mentions, me: { id: 'usr_1', memberId: 'usr_1' } });
  expect(mentions.map(({ path, value, way }) => `${path} ${way.by} ${value}`)).toEqual([
    'not.label.0 name bug',
    'not.label.1 id l1',
    'team key ENG',
  ]);
});

test('a stored filter stays readable: a value that would be rejected now matches nothing', () => {
  const taken = { wasTaken: true };
  for (const [filter, expected] of [
    [{ or: [{ due: 'tomorrow' }, { priority: 'high' }] }, true],
    [{ due: 'tomorrow' }, false],
    [{ due: { gt: 'tomorrow' } }, false],
    [{ due: { neq: 'tomorrow' } }, true],
    [{ person: ['me', 'usr_1'] }, true],
    [{ person: 'me' }, false],
    [{ parent: { contains: 'iss' } }, false],
  ] as const)
    expect([filter, passes(filter, issue, taken)]).toEqual([filter, expected]);
  expect(() => passes({ colour: 'red' }, issue, taken)).toThrow('colour');
});

test('a filter that can never match is recognized', () => {
  for (const [filter, never] of [
    [{ label: [] }, true],
    [{ and: [{ priority: 'high' }, { label: [] }] }, true],
    [{ or: [{ priority: 'high' }, { label: [] }] }, false],
    [{ label: { nin: [] } }, false],
    [{}, false],
  ] as const)
    expect([filter, isNever(parseFilter(filter, fields))]).toEqual([filter, never]);
});

test('names are case-folded in all scripts, regardless of their composition', () => {
  for (const [a, b] of [
    ['ÄRGER', 'ärger'],
    ['A\u0308rger', 'Ärger'],
    ['ПРИВЕТ', 'привет'],
    ['\u212a', 'k'],
  ] as const)
    expect([a, foldName(a)]).toEqual([a, foldName(b)]);
  expect(foldName('bug')).not.toBe(foldName('bugs'));
});

test('letters are folded as in SQLite: A to Z only', () => {
  // U+212A, the Kelvin sign, is not a K to SQLite.
  expect(foldCase('ÄbC ẞ İ \u212a')).toBe('Äbc ẞ İ \u212a');
});
