// Parses filter values by field type. A value that no object can have is refused instead of matching nothing.
import { invalidField } from './errors.ts';
import type { FilterField, FilterValue, FilterWay, Operand, PlainField, ReferenceField } from './filter.ts';
import { foldCase, foldName } from './fold.ts';
import { identifierGivenPattern, teamKeyGivenPattern } from './issue-names.ts';
import { requireMe } from './me.ts';
import { didYouMean } from './nearest.ts';
import { looksRelative, relativeDay, relativeTime } from './relative.ts';
import { isDay, isTime } from './time.ts';

/** Id of the caller, and that of the member behind it. */
export interface Me {
  readonly id: string;
  readonly memberId: string | null;
}

/** An object named in a filter, to be resolved by the caller. */
export interface Mention {
  readonly path: string;
  readonly field: ReferenceField;
  readonly way: FilterWay;
  readonly value: string;
  readonly given: string;
}

const textCharactersMax = 200;

/** @param orders true if compared by order, so that the value may be outside the field's range. @throws ApiError validation_failed */
export function readScalar(field: PlainField, given: unknown, path: string, orders: boolean): Operand {
  switch (field.type) {
    case 'text':
      return readWord(field, given, path);
    case 'number':
      return readNumber(field, given, path, orders);
    case 'boolean':
      if (typeof given !== 'boolean') throw invalidField(path, 'invalid_type', 'Give true or false.');
      return given;
    case 'day':
    case 'time':
      return readMoment(field.type, given, path);
  }
}

function readWord({ values, aliases, pattern }: PlainField, given: unknown, path: string): string {
  if (typeof given !== 'string') throw invalidField(path, 'invalid_type', 'Give a string.');
  const value = aliases && Object.hasOwn(aliases, given) ? aliases[given]! : given;
  if (values && !values.includes(value))
    throw invalidField(path, 'invalid_enum', `Use one of ${values.join(', ')}.${didYouMean(given, values)}`);
  if (pattern !== undefined && !matcherOf(pattern).test(value))
    throw invalidField(path, 'invalid_format', { why: 'This is not a valid id.' });
  return value;
}

function readNumber(field: PlainField, given: unknown, path: string, orders: boolean): number {
  if (typeof given !== 'number' || !Number.isFinite(given))
    throw invalidField(path, 'invalid_type', 'Give a number.');
  if (orders) return given;
  const { integer = false, minimum = -Infinity, maximum = Infinity } = field;
  if (integer && !Number.isInteger(given)) throw invalidField(path, 'invalid_type', 'Give a whole number.');
  if (given < minimum) throw invalidField(path, 'too_small', `Give ${minimum} or more.`);
  if (given > maximum) throw invalidField(path, 'too_big', `Give ${maximum} or less.`);
  return given;
}

/** @throws ApiError validation_failed */
export function readMoment(type: 'day' | 'time', given: unknown, path: string): Operand {
  if (typeof given !== 'string') throw invalidField(path, 'invalid_type', 'Give a string.');
  if (looksRelative(given)) {
    const relative = type === 'day' ? relativeDay(given) : relativeTime(given);
    if (relative) return relative;
    const units = type === 'day' ? 'days, weeks, months or years' : 'ISO 8601';
    throw invalidField(
      path,
      'invalid_format',
      `Give a duration in ${units}, such as -P7D, of at most a hundred years.`,
    );
  }
  if (type === 'day') {
    if (isDay(given) && /^\d{4}-/.test(given)) return given;
    throw invalidField(
      path,
      'invalid_format',
      'Give a date such as 2027-03-01, or one relative to today: P0D, -P7D.',
    );
  }
  if (isTime(given)) return new Date(given).toISOString();
  throw invalidField(
    path,
    'invalid_format',
    'Give an ISO 8601 time such as 2026-11-20T12:00:00Z, or one relative to now: -P7D, -PT1H.',
  );
}

/** Operand of a text search. */
interface Looked {
  readonly name: string;
  readonly field: FilterField;
  readonly test: 'contains' | 'startsWith';
  readonly given: unknown;
  readonly path: string;
}

/** @returns the text, folded like the field's values. @throws ApiError validation_failed */
export function readText({ name, field, test, given, path }: Looked): string {
  const fold = foldOf(field);
  if (!fold) throw invalidField(path, 'unknown_field', `${name} does not support text search.`);
  if (typeof given !== 'string') throw invalidField(path, 'invalid_type', 'Give a string.');
  if (given.length > textCharactersMax)
    throw invalidField(path, 'too_long', `Use at most ${textCharactersMax} characters.`);
  if (field.type === 'day' && !/^[\d-]{0,10}$/.test(given))
    throw invalidField(path, 'invalid_format', {
      why: `No date ${test} this.`,
      fix: 'Give part of a date such as 2027-03-01.',
    });
  return fold(given);
}

/** Returns the folding function of a searchable field; undefined if the field is not searchable. */
function foldOf(field: FilterField): ((text: string) => string) | undefined {
  if (field.type === 'reference') return searchedWay(field) && foldName;
  return (field.type === 'text' && !field.values) || field.type === 'day' ? foldCase : undefined;
}

/** Returns the names that `contains` and `startsWith` search. */
export function searchedWay({ ways }: ReferenceField): FilterWay | undefined {
  return ways.some(({ by }) => by === 'word')
    ? undefined
    : ways.find(({ by }) => by === 'name' || by === 'key');
}

interface NamedReading {
  readonly me?: Me;
  readonly mentions?: Mention[];
}

/** @returns null if the value means that the field is empty. @throws ApiError validation_failed */
export function readNamed(
  field: ReferenceField,
  given: unknown,
  path: string,
  { me, mentions }: NamedReading,
): { way: FilterWay; value: FilterValue } | null {
  if (typeof given !== 'string') throw invalidField(path, 'invalid_type', 'Give a string.');
  if (given === 'none' && field.nullable) return null;
  if (given === 'me' && field.isPerson) return { way: idWay(field), value: meOf(field, me, path) };
  for (const way of field.ways) {
    const value = readWay(way, given);
    if (value === undefined) continue;
    if (way.by === 'turn' && !me)
      throw invalidField(path, 'invalid_format', {
        why: `\`${given}\` depends on the current time, but an event is matched by its own data.`,
        fix: 'Give an id or a name.',
      });
    mentions?.push({ path, field, way, value, given });
    return { way, value };
  }
  throw invalidField(path, 'invalid_format', `Give ${waysText(field)}.`);
}

/** Plugins create objects but are never assigned any. */
function meOf(field: ReferenceField, me: Me | undefined, path: string): string {
  if (me) return requireMe(me.memberId ?? (field.nullable ? null : me.id), path);
  throw invalidField(path, 'invalid_format', {
    why: 'Event filters have no caller, so `me` is undefined.',
    fix: 'Give the id of a member.',
  });
}

function idWay({ ways }: ReferenceField): FilterWay {
  const way = ways.find(({ by }) => by === 'id');
  if (!way) throw new Error('A reference to a person must support lookup by id.');
  return way;
}

const readers: Readonly<Record<FilterWay['by'], (way: FilterWay, given: string) => string | undefined>> = {
  id: ({ pattern = '' }, given) => (matcherOf(pattern).test(given) ? given : undefined),
  key: (_, given) => (matcherOf(teamKeyGivenPattern).test(given) ? given.toUpperCase() : undefined),
  identifier: (_, given) => (matcherOf(identifierGivenPattern).test(given) ? given.toUpperCase() : undefined),
  word: readFoldedWord,
  turn: readFoldedWord,
  name: (_, given) => (given !== '' && given.length <= textCharactersMax ? foldName(given) : undefined),
};

function readFoldedWord({ words = {} }: FilterWay, given: string): string | undefined {
  const folded = foldName(given);
  return Object.hasOwn(words, folded) ? words[folded] : undefined;
}

function readWay(way: FilterWay, given: string): string | undefined {
  return readers[way.by](way, given);
}

const wayWords: Readonly<Record<FilterWay['by'], string>> = {
  id: 'id',
  key: 'key',
  identifier: 'identifier',
  word: 'type',
  turn: 'turn',
  name: 'name',
};

/** "a label by its id or name". */
function waysText({ to, ways, nullable }: ReferenceField): string {
  const words = ways.map(({ by }) => wayWords[by]);
  return `${/^[aeiou]/.test(to.name) ? 'an' : 'a'} ${to.name} by its ${words.join(' or ')}${nullable ? ', or `none`' : ''}`;
}

/** Cached patterns; there are few. */
const matchers = new Map<string, RegExp>();

function matcherOf(pattern: string): RegExp {
  const known = matchers.get(pattern) ?? new RegExp(pattern);
  matchers.set(pattern, known);
  return known;
}
