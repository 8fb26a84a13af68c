// Parses filter values by field type. A value that no object can have is refused instead of matching nothing.
import { invalidField } from '../errors/errors.ts';
import type { FilterField, FilterValue, FilterWay, Operand, PlainField, ReferenceField } from './filter.ts';
import { foldCase, foldName, didYouMean } from '../text/words.ts';
import { identifierInputPattern, teamKeyInputPattern } from '../ids.ts';
import { requireMe } from '../me.ts';
import { isDay, isTime, looksRelative, relativeDay, relativeTime } from '../time/time.ts';

/** Id of the caller, and the member that the caller acts for; null for a plugin. */
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
  readonly input: string;
}

const textCharactersMax = 200;

/** @param orders true if compared by order, so that the value may be outside the field's range. @throws ApiError validation_failed */
export function readScalar(field: PlainField, input: unknown, path: string, orders: boolean): Operand {
  switch (field.type) {
    case 'text':
      return readWord(field, input, path);
    case 'number':
      return readNumber(field, input, path, orders);
    case 'boolean':
      if (typeof input !== 'boolean') throw invalidField(path, 'invalid_type', 'Give true or false.');
      return input;
    case 'day':
    case 'time':
      return readMoment(field.type, input, path);
  }
}

function readWord({ values, aliases, pattern }: PlainField, input: unknown, path: string): string {
  if (typeof input !== 'string') throw invalidField(path, 'invalid_type', 'Give a string.');
  const value = aliases && Object.hasOwn(aliases, input) ? aliases[input]! : input;
  if (values && !values.includes(value))
    throw invalidField(path, 'invalid_enum', `Use one of ${values.join(', ')}.${didYouMean(input, values)}`);
  if (pattern !== undefined && !matcherOf(pattern).test(value))
    throw invalidField(path, 'invalid_format', {
      why: 'The value is not a valid id.',
      fix: 'Use an id as the API returns it.',
    });
  return value;
}

function readNumber(field: PlainField, input: unknown, path: string, orders: boolean): number {
  if (typeof input !== 'number' || !Number.isFinite(input))
    throw invalidField(path, 'invalid_type', 'Give a number.');
  if (orders) return input;
  const { integer = false, minimum = -Infinity, maximum = Infinity } = field;
  if (integer && !Number.isInteger(input)) throw invalidField(path, 'invalid_type', 'Give a whole number.');
  if (input < minimum) throw invalidField(path, 'too_small', `Give ${minimum} or more.`);
  if (input > maximum) throw invalidField(path, 'too_big', `Give ${maximum} or less.`);
  return input;
}

/** @throws ApiError validation_failed */
export function readMoment(type: 'day' | 'time', input: unknown, path: string): Operand {
  if (typeof input !== 'string') throw invalidField(path, 'invalid_type', 'Give a string.');
  if (looksRelative(input)) {
    const relative = type === 'day' ? relativeDay(input) : relativeTime(input);
    if (relative) return relative;
    const units = type === 'day' ? 'days, weeks, months or years' : 'ISO 8601';
    throw invalidField(
      path,
      'invalid_format',
      `Give a duration in ${units}, such as -P7D, of at most a hundred years.`,
    );
  }
  if (type === 'day') {
    if (isDay(input) && /^\d{4}-/.test(input)) return input;
    throw invalidField(
      path,
      'invalid_format',
      'Give a date such as 2027-03-01, or one relative to today: P0D, -P7D.',
    );
  }
  if (isTime(input)) return new Date(input).toISOString();
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
  readonly input: unknown;
  readonly path: string;
}

/** @returns the text, folded like the field's values. @throws ApiError validation_failed */
export function readText({ name, field, test, input, path }: Looked): string {
  const fold = foldOf(field);
  if (!fold)
    throw invalidField(path, 'unknown_field', `${name} does not support text search. Use another operator.`);
  if (typeof input !== 'string') throw invalidField(path, 'invalid_type', 'Give a string.');
  if (input.length > textCharactersMax)
    throw invalidField(path, 'too_long', `Use at most ${textCharactersMax} characters.`);
  if (field.type === 'day' && !/^[\d-]{0,10}$/.test(input))
    throw invalidField(path, 'invalid_format', {
      why: `No date ${test} this text.`,
      fix: 'Give part of a date such as 2027-03-01.',
    });
  return fold(input);
}

/** Returns the folding function of a searchable field; undefined if the field is not searchable. */
function foldOf(field: FilterField): ((text: string) => string) | undefined {
  if (field.type === 'reference') return searchedWay(field) && foldName;
  return (field.type === 'text' && !field.values) || field.type === 'day' ? foldCase : undefined;
}

/** Returns the way whose texts `contains` and `startsWith` search; undefined if there is none. */
export function searchedWay({ ways }: ReferenceField): FilterWay | undefined {
  return ways.some(({ by }) => by === 'word')
    ? undefined
    : ways.find(({ by }) => by === 'name' || by === 'key');
}

interface ReferenceOptions {
  readonly me?: Me;
  readonly mentions?: Mention[];
}

/** @returns null if the value means that the field is empty. @throws ApiError validation_failed */
export function readReference(
  field: ReferenceField,
  input: unknown,
  path: string,
  { me, mentions }: ReferenceOptions,
): { way: FilterWay; value: FilterValue } | null {
  if (typeof input !== 'string') throw invalidField(path, 'invalid_type', 'Give a string.');
  if (input === 'none' && field.nullable) return null;
  if (input === 'me' && field.isPerson) return { way: idWay(field), value: meOf(field, me, path) };
  for (const way of field.ways) {
    const value = readWay(way, input);
    if (value === undefined) continue;
    if (way.by === 'turn' && !me)
      throw invalidField(path, 'invalid_format', {
        why: `\`${input}\` depends on the current time, but an event is matched by its own data.`,
        fix: 'Give an id or a name.',
      });
    mentions?.push({ path, field, way, value, input });
    return { way, value };
  }
  throw invalidField(path, 'invalid_format', `Give ${waysText(field)}.`);
}

/** Nullable fields refuse `me` from a plugin, which can be an author but never an assignee. */
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

const readers: Readonly<Record<FilterWay['by'], (way: FilterWay, input: string) => string | undefined>> = {
  id: ({ pattern = '' }, input) => (matcherOf(pattern).test(input) ? input : undefined),
  key: (_, input) => (matcherOf(teamKeyInputPattern).test(input) ? input.toUpperCase() : undefined),
  identifier: (_, input) => (matcherOf(identifierInputPattern).test(input) ? input.toUpperCase() : undefined),
  word: readFoldedWord,
  turn: readFoldedWord,
  name: (_, input) => (input !== '' && input.length <= textCharactersMax ? foldName(input) : undefined),
};

function readFoldedWord({ words = {} }: FilterWay, input: string): string | undefined {
  const folded = foldName(input);
  return Object.hasOwn(words, folded) ? words[folded] : undefined;
}

function readWay(way: FilterWay, input: string): string | undefined {
  return readers[way.by](way, input);
}

const wayWords: Readonly<Record<FilterWay['by'], string>> = {
  id: 'id',
  key: 'key',
  identifier: 'identifier',
  word: 'type',
  turn: 'turn',
  name: 'name',
};

/** Returns a phrase such as "a label by its id or name". */
function waysText({ to, ways, nullable }: ReferenceField): string {
  const words = ways.map(({ by }) => wayWords[by]);
  return `${/^[aeiou]/.test(to.name) ? 'an' : 'a'} ${to.name} by its ${words.join(' or ')}${nullable ? ', or `none`' : ''}`;
}

/** Compiled patterns. The number of distinct patterns is small, so the map is not bounded. */
const matchers = new Map<string, RegExp>();

function matcherOf(pattern: string): RegExp {
  const known = matchers.get(pattern) ?? new RegExp(pattern);
  matchers.set(pattern, known);
  return known;
}
