// The values of filters, read by what their fields can hold: what no object can have is refused, instead of matching nothing.
import { invalidField } from './errors.ts';
import type { FilterField, FilterValue, FilterWay, Operand, PlainField, ReferenceField } from './filter.ts';
import { foldCase, foldName } from './fold.ts';
import { identifierGivenPattern, teamKeyGivenPattern } from './issue-names.ts';
import { requireMe } from './me.ts';
import { didYouMean } from './nearest.ts';
import { looksRelative, relativeDay, relativeTime } from './relative.ts';
import { isDay, isTime } from './time.ts';

/** Whoever asks: their own id, and that of the member behind it. */
export interface Me {
  readonly id: string;
  readonly memberId: string | null;
}

/** An object that a filter names, to be looked up by whoever knows what there is. */
export interface Mention {
  readonly path: string;
  readonly field: ReferenceField;
  readonly way: FilterWay;
  readonly value: string;
  readonly given: string;
}

const textCharactersMax = 200;

/** @param orders whether it is compared by its order, so that it need not be what the field can hold @throws ApiError validation_failed */
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
    throw invalidField(path, 'invalid_format', { why: 'This is no id.' });
  return value;
}

function readNumber(field: PlainField, given: unknown, path: string, orders: boolean): number {
  if (typeof given !== 'number' || !Number.isFinite(given))
    throw invalidField(path, 'invalid_type', 'Give a number.');
  if (orders) return given;
  const { integer = false, minimum = -Infinity, maximum = Infinity } = field;
  if (integer && !Number.isInteger(given))
    throw invalidField(path, 'invalid_type', 'Give a whole number; nothing has another.');
  if (given < minimum) throw invalidField(path, 'too_small', `Give ${minimum} or more; nothing is below.`);
  if (given > maximum) throw invalidField(path, 'too_big', `Give ${maximum} or less; nothing is above.`);
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
      `Give a duration of ${units}, such as -P7D, of at most a hundred years.`,
    );
  }
  if (type === 'day') {
    if (isDay(given) && /^\d{4}-/.test(given)) return given;
    throw invalidField(
      path,
      'invalid_format',
      'Give a day of the calendar such as 2027-03-01, or one relative to today: P0D, -P7D.',
    );
  }
  if (isTime(given)) return new Date(given).toISOString();
  throw invalidField(
    path,
    'invalid_format',
    'Give an ISO 8601 time such as 2026-11-20T12:00:00Z, or one relative to now: -P7D, -PT1H.',
  );
}

/** A text that values are looked through for. */
interface Looked {
  readonly name: string;
  readonly field: FilterField;
  readonly test: 'contains' | 'startsWith';
  readonly given: unknown;
  readonly path: string;
}

/** @returns the text as the field's own are folded. @throws ApiError validation_failed */
export function readText({ name, field, test, given, path }: Looked): string {
  const fold = foldOf(field);
  if (!fold) throw invalidField(path, 'unknown_field', `${name} is not free text.`);
  if (typeof given !== 'string') throw invalidField(path, 'invalid_type', 'Give a string.');
  if (given.length > textCharactersMax)
    throw invalidField(path, 'too_long', `Look for at most ${textCharactersMax} characters.`);
  if (field.type === 'day' && !/^[\d-]{0,10}$/.test(given))
    throw invalidField(path, 'invalid_format', {
      why: `No day ${test} this.`,
      fix: 'Give some of 2027-03-01.',
    });
  return fold(given);
}

/** How the letters of texts that are looked through are folded; undefined for what is not looked through. */
function foldOf(field: FilterField): ((text: string) => string) | undefined {
  if (field.type === 'reference') return searchedWay(field) && foldName;
  return (field.type === 'text' && !field.values) || field.type === 'day' ? foldCase : undefined;
}

/** The names that `contains` and `startsWith` look through. */
export function searchedWay({ ways }: ReferenceField): FilterWay | undefined {
  return ways.some(({ by }) => by === 'word')
    ? undefined
    : ways.find(({ by }) => by === 'name' || by === 'key');
}

interface NamedReading {
  readonly me?: Me;
  readonly mentions?: Mention[];
}

/** @returns null for what means that nothing is there. @throws ApiError validation_failed */
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
        why: `What \`${given}\` means moves with time, and an event is judged by what stands in it.`,
        fix: 'Give an id or a name.',
      });
    mentions?.push({ path, field, way, value, given });
    return { way, value };
  }
  throw invalidField(path, 'invalid_format', `Give ${waysText(field)}.`);
}

/** A plugin makes things, and nothing is given to it. */
function meOf(field: ReferenceField, me: Me | undefined, path: string): string {
  if (me) return requireMe(me.memberId ?? (field.nullable ? null : me.id), path);
  throw invalidField(path, 'invalid_format', {
    why: 'Nobody asks where an event is judged, so that `me` is nobody.',
    fix: 'Give the id of a member.',
  });
}

function idWay({ ways }: ReferenceField): FilterWay {
  const way = ways.find(({ by }) => by === 'id');
  if (!way) throw new Error('What refers to a person has a way by id.');
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

/** Made once for each pattern, of which there are few. */
const matchers = new Map<string, RegExp>();

function matcherOf(pattern: string): RegExp {
  const known = matchers.get(pattern) ?? new RegExp(pattern);
  matchers.set(pattern, known);
  return known;
}
