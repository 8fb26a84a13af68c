// The filter language, the same everywhere (lists, webhooks, plugin subscriptions): a JSON tree of `and`, `or`, `not` and
// conditions `{field: {eq|neq|in|nin|contains|startsWith|gt|gte|lt|lte|null: …}}`; `{field: [a, b]}` abbreviates `in`, `{field: a}`
// `eq`. There are no patterns to backtrack in, and size and depth are bounded. docs/spec/api.md › Filters is its law.
import { ApiError, invalidField } from './errors.ts';
import { readNamed, readScalar, readText, type Me, type Mention } from './filter-value.ts';
import { didYouMean } from './nearest.ts';
import type { Relative } from './relative.ts';

export type FilterValue = string | number | boolean;
export type Operand = FilterValue | Relative;

/** A field that is compared by its own value, at its place in the public shape: `estimate`. */
export interface PlainField {
  readonly type: 'text' | 'number' | 'boolean' | 'time' | 'day';
  readonly path: string;
  readonly values?: readonly string[];
  /** Other spellings that input may use: spelling → value. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The values in the order that `gt` and `lt` go by, lowest first. */
  readonly rank?: readonly string[];
  /** What its text looks like: an id. */
  readonly pattern?: string;
  /** What a number can be. */
  readonly integer?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** One way to say which object is meant, and where it lies in the public shape: `team.key`, or `labels[].name` for any of several. */
export interface FilterWay {
  /**
   * Ids, keys and identifiers are whole; `name` is in any case, and `word` one of a few that many objects share. What a `turn` means,
   * such as `current`, moves with time: lists know it, and an event that is judged does not.
   */
  readonly by: 'id' | 'key' | 'identifier' | 'word' | 'turn' | 'name';
  readonly path: string;
  /** What an id looks like. */
  readonly pattern?: string;
  /** The words, other spellings among them: spelling → word. */
  readonly words?: Readonly<Record<string, string>>;
  /** Under which name the directory keeps it. */
  readonly property: string;
  /** The value is what of the text at the path stands before this: the key of a team, in an identifier. */
  readonly upTo?: string;
}

/** A field that refers to objects. */
export interface ReferenceField {
  readonly type: 'reference';
  /** Where its ids lie. */
  readonly path: string;
  /** What is referred to: `label`. */
  readonly to: Referred;
  /** The first that takes a value says what that means. */
  readonly ways: readonly FilterWay[];
  /** It can be missing, which `none` says. */
  readonly nullable?: true;
  /** It is a person: `me` is whoever asks. */
  readonly isPerson?: true;
  /** It is the object itself, which need not be there. */
  readonly isSelf?: true;
}

/** What is referred to, as contracts say it. */
interface Referred {
  readonly name: string;
  /** Prefix of its ids; null for UUIDs. */
  readonly id: string | null;
  readonly path?: string;
  readonly scope?: string;
  readonly directory?: { readonly as: string };
}

export type FilterField = PlainField | ReferenceField;
export type FilterFields = Readonly<Record<string, FilterField>>;

/**
 * Every test is true or false: of a missing value only `null` is true. `neq`, `nin` and `not` are true where what they
 * negate is false.
 */
export type Filter =
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] }
  | { readonly not: Filter }
  | FilterTest;
export type FilterTest =
  | Listing
  | {
      readonly field: string;
      readonly test: 'contains' | 'startsWith';
      /** Folded as the field's texts are. */
      readonly value: string;
    }
  | { readonly field: string; readonly test: Order; readonly value: Operand }
  | { readonly field: string; readonly test: 'null'; readonly value: boolean };

export type Order = 'gt' | 'gte' | 'lt' | 'lte';

/** That a value is one of some. `way` is null where a field is compared by its own value. */
export interface Listing {
  readonly field: string;
  readonly test: 'in';
  readonly groups: readonly { readonly way: FilterWay | null; readonly values: readonly Operand[] }[];
}

const depthMax = 8;
const conditionsMax = 100;
/** Bounds objects and tests, which may be without values. */
const termsMax = 200;
/** Searching a whole description for a text costs more than all other conditions together. */
const textsMax = 10;

/** How a filter is read. */
export interface ReadingOptions {
  /** Whoever asks, of a list; a subscription has nobody. */
  readonly me?: Me;
  /** Told of each object that it names. */
  readonly mentions?: Mention[];
  /** It was taken once, by the rules of that day: a value that would be refused now matches nothing, and a part that is gone has none. */
  readonly wasTaken?: boolean;
  /** The field whose parts a workspace names, where nobody knows of which workspace: they are taken unseen. */
  readonly under?: string | null;
  /** What is filtered, for errors: a type of event. */
  readonly of?: string;
}

/**
 * @param at where the filter stands in the request, for error paths; empty at its top
 * @throws ApiError validation_failed
 */
export function parseFilter(
  input: unknown,
  fields: FilterFields,
  at = 'filter',
  options: ReadingOptions = {},
): Filter {
  return parseNode({ ...options, fields, terms: 0, values: 0, texts: 0 }, input, at, 1);
}

/** Whether nothing can pass, whatever it looks like. */
export function isNever(filter: Filter): boolean {
  if ('all' in filter) return filter.all.some(isNever);
  if ('any' in filter) return filter.any.every(isNever);
  if ('not' in filter) return false;
  return filter.test === 'in' && filter.groups.every(({ values }) => values.length === 0);
}

/** Whether everything can pass that has the fields it asks about. */
export function isAlways(filter: Filter): boolean {
  if ('all' in filter) return filter.all.every(isAlways);
  if ('any' in filter) return filter.any.some(isAlways);
  if ('not' in filter) return isNever(filter.not);
  return (filter.test === 'contains' || filter.test === 'startsWith') && filter.value === '';
}

/** A filter being read: what it may ask about, and how much it has asked so far. */
interface Reading extends ReadingOptions {
  readonly fields: FilterFields;
  terms: number;
  values: number;
  texts: number;
}

/** The field that a condition is about, under the name that the filter calls it by. */
interface Asked {
  readonly name: string;
  readonly field: FilterField;
}

function parseNode(reading: Reading, node: unknown, path: string, depth: number): Filter {
  countTerm(reading, path);
  if (depth > depthMax) throw invalidField(path, 'too_big', `Nest at most ${depthMax} levels.`);
  if (!isObject(node))
    throw invalidField(path, 'invalid_type', 'Give an object such as {"priority":{"in":["high","urgent"]}}.');
  return allOf(
    Object.entries(node).map(([key, value]) => {
      const here = path === '' ? key : `${path}.${key}`;
      if (key === 'and' || key === 'or') return parseTerms(reading, key, value, here, depth);
      if (key === 'not') return { not: parseNode(reading, value, here, depth + 1) };
      return parseCondition(reading, key, value, here);
    }),
  );
}

function parseTerms(
  reading: Reading,
  word: 'and' | 'or',
  value: unknown,
  path: string,
  depth: number,
): Filter {
  if (!Array.isArray(value) || value.length === 0)
    throw invalidField(path, 'invalid_type', 'Give a list of filters.');
  const terms = value.map((term, index) => parseNode(reading, term, `${path}.${index}`, depth + 1));
  return word === 'and' ? { all: terms } : { any: terms };
}

function parseCondition(reading: Reading, name: string, value: unknown, path: string): Filter {
  const { fields } = reading;
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (!field && isUnseen(reading, name)) return withoutValue(value);
  if (!field) {
    const { of } = reading;
    const why = of === undefined ? `There is no field ${name}.` : `${of} events have no field ${name}.`;
    const names = Object.keys(fields);
    // A list of filters is nothing that a field is compared with, so that a word was meant.
    const isOfWord = Array.isArray(value) && value.some(isObject);
    throw unknownName(path, name, why, {
      known: [...names, 'and', 'or', 'not'],
      alike: isOfWord ? ['and', 'or'] : names,
    });
  }
  const asked = { name, field };
  if (!isObject(value)) return anyOf(reading, asked, Array.isArray(value) ? value : [value], path);
  const parsed = Object.entries(value).map(([test, operand]) => {
    const here = `${path}.${test}`;
    countTerm(reading, here);
    const parse = Object.hasOwn(tests, test) ? tests[test] : undefined;
    if (!parse) {
      const known = Object.keys(tests);
      throw unknownName(here, test, `There is no test ${test}.`, { known, alike: known });
    }
    return parse(reading, asked, operand, here);
  });
  if (parsed.length === 0) throw invalidField(path, 'required', 'Give a test such as {"eq": …}.');
  return allOf(parsed);
}

/** Whether a workspace may name it, or may have named it once. */
function isUnseen({ wasTaken, under }: Reading, name: string): boolean {
  return under ? name.startsWith(`${under}.`) : wasTaken === true && name.includes('.');
}

const always: Filter = { all: [] };
const never: Filter = { any: [] };

/** A condition on a field of which nothing has a value. */
function withoutValue(condition: unknown): Filter {
  const isNull = (value: unknown): boolean =>
    value === null || (Array.isArray(value) && value.includes(null));
  if (!isObject(condition)) return isNull(condition) ? always : never;
  return allOf(
    Object.entries(condition).map(([test, operand]) => {
      if (test === 'null') return operand === true ? always : never;
      if (test === 'neq' || test === 'nin') return isNull(operand) ? never : always;
      return isNull(operand) ? always : never;
    }),
  );
}

/** @param alike names of the same sort, of which one may have been meant */
function unknownName(
  path: string,
  given: string,
  why: string,
  { known, alike }: Readonly<Record<'known' | 'alike', readonly string[]>>,
): ApiError {
  const fix = `${why}${didYouMean(given, alike)} Use ${known.join(', ')}.`;
  return invalidField(path, 'unknown_field', fix);
}

type ParseTest = (reading: Reading, asked: Asked, operand: unknown, path: string) => Filter;

const tests: Readonly<Record<string, ParseTest>> = {
  eq: (reading, asked, operand, path) => anyOf(reading, asked, [operand], path),
  neq: (reading, asked, operand, path) => ({ not: anyOf(reading, asked, [operand], path) }),
  in: listed,
  nin: (...given) => ({ not: listed(...given) }),
  contains: looked('contains'),
  startsWith: looked('startsWith'),
  gt: compared('gt'),
  gte: compared('gte'),
  lt: compared('lt'),
  lte: compared('lte'),
  null(_, { name }, operand, path) {
    if (typeof operand !== 'boolean') throw invalidField(path, 'invalid_type', 'Give true or false.');
    return { field: name, test: 'null', value: operand };
  },
};

function listed(...[reading, asked, operand, path]: Parameters<ParseTest>): Filter {
  if (!Array.isArray(operand)) throw invalidField(path, 'invalid_type', 'Give a list of values.');
  return anyOf(reading, asked, operand, path, true);
}

function looked(test: 'contains' | 'startsWith'): ParseTest {
  return (reading, { name, field }, operand, path) =>
    orNever(reading, () => {
      countValue(reading, path);
      const value = readText({ name, field, test, given: operand, path });
      if (++reading.texts > textsMax)
        throw invalidField(path, 'too_long', `Look for at most ${textsMax} texts in one filter.`);
      return { field: name, test, value };
    });
}

function compared(test: Order): ParseTest {
  return (reading, { name, field }, operand, path) =>
    orNever(reading, () => {
      countValue(reading, path);
      const { type } = field;
      if (type === 'boolean' || type === 'reference' || (type === 'text' && !field.rank))
        throw invalidField(path, 'unknown_field', `Use eq or in: ${name} has no order.`);
      return { field: name, test, value: readScalar(field, operand, path, true) };
    });
}

function anyOf(
  reading: Reading,
  { name, field }: Asked,
  given: readonly unknown[],
  path: string,
  isList = given.length > 1,
): Filter {
  const groups = new Map<FilterWay | null, Operand[]>();
  let orMissing = false;
  const take = (value: unknown, at: string): void => {
    countValue(reading, at);
    if (value === null) {
      orMissing = true;
      return;
    }
    const named =
      field.type === 'reference'
        ? readNamed(field, value, at, reading)
        : { way: null, value: readScalar(field, value, at, false) };
    if (named === null) orMissing = true;
    else groups.set(named.way, [...(groups.get(named.way) ?? []), named.value]);
  };
  for (const [index, value] of given.entries()) {
    const at = isList ? `${path}.${index}` : path;
    orNever(reading, () => take(value, at));
  }
  const missing: Filter = { field: name, test: 'null', value: true };
  if (orMissing && groups.size === 0) return missing;
  const listing: Filter = {
    field: name,
    test: 'in',
    groups: [...groups].map(([way, values]) => ({ way, values })),
  };
  return orMissing ? { any: [listing, missing] } : listing;
}

/** What was taken once and would be refused now matches nothing, and leaves the rest of its filter alone. */
function orNever<T>(reading: Reading, read: () => T): T | Filter {
  try {
    return read();
  } catch (error) {
    if (reading.wasTaken && error instanceof ApiError) return { any: [] };
    throw error;
  }
}

function countValue(reading: Reading, path: string): void {
  if (++reading.values > conditionsMax)
    throw invalidField(path, 'too_long', `Use at most ${conditionsMax} values in one filter.`);
}

function countTerm(reading: Reading, path: string): void {
  if (++reading.terms > termsMax)
    throw invalidField(path, 'too_long', `Use at most ${termsMax} terms in one filter.`);
}

function allOf(filters: readonly Filter[]): Filter {
  const [only] = filters;
  return only && filters.length === 1 ? only : { all: filters };
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
