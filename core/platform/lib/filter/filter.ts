// Filter language of lists, webhooks and plugin subscriptions: a JSON tree of `and`, `or`, `not` and conditions `{field:
// {eq|neq|in|nin|contains|startsWith|gt|gte|lt|lte|null: …}}`; `{field: [a, b]}` abbreviates `in`, `{field: a}` `eq`. Patterns are
// not supported, so nothing backtracks; size and depth are bounded. Specified in docs/spec/api.md › Filters.
import { ApiError, invalidField } from '../errors/errors.ts';
import { readReference, readScalar, readText, type Me, type Mention } from './filter-value.ts';
import { didYouMean } from '../text/words.ts';
import type { Relative } from '../time/time.ts';

export type FilterValue = string | number | boolean;
export type Operand = FilterValue | Relative;

/** A field compared by its own value, at a path of the API object: `estimate`. */
export interface PlainField {
  readonly type: 'text' | 'number' | 'boolean' | 'time' | 'day';
  readonly path: string;
  readonly values?: readonly string[];
  /** Other accepted spellings: spelling → value. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Values in the order of `gt` and `lt`, lowest first. */
  readonly rank?: readonly string[];
  /** Pattern of an id. */
  readonly pattern?: string;
  /** Constraints of a number. */
  readonly integer?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** One way to identify a referenced object, with its path in the API object: `team.key`, or `labels[].name` for any of several. */
export interface FilterWay {
  /**
   * Ids, keys and identifiers match exactly; `name` ignores case, and `word` is one of a few values shared by many objects. A
   * `turn`, such as `current`, depends on the time, so lists support it and event filters do not.
   */
  readonly by: 'id' | 'key' | 'identifier' | 'word' | 'turn' | 'name';
  readonly path: string;
  /** Pattern of an id. */
  readonly pattern?: string;
  /** Words by accepted spelling. */
  readonly words?: Readonly<Record<string, string>>;
  /** Property of the directory entry that a name is compared with. */
  readonly property: string;
  /** Separator: the value is the text before it, such as the team key in an identifier. */
  readonly upTo?: string;
}

export interface ReferenceField {
  readonly type: 'reference';
  /** Path of the ids. */
  readonly path: string;
  /** Referenced entity, such as `label`. */
  readonly to: Referred;
  /** Ways to identify the object; the first one that accepts a value applies. */
  readonly ways: readonly FilterWay[];
  /** Present if the field can be empty, which `none` matches. */
  readonly nullable?: true;
  /** Present for persons; `me` is the caller. */
  readonly isPerson?: true;
  /** Present if the field identifies the filtered object. Unknown values are then accepted. */
  readonly isSelf?: true;
}

/** Properties of the contract of the referenced entity that a filter needs. */
interface Referred {
  readonly name: string;
  /** Prefix of the ids; null for UUIDs. */
  readonly id: string | null;
  readonly path?: string;
  readonly scope?: string;
  readonly directory?: { readonly as: string };
}

export type FilterField = PlainField | ReferenceField;
export type FilterFields = Readonly<Record<string, FilterField>>;

/** Every test is true or false. For a missing value only `null` is true. `neq`, `nin` and `not` are true if what they negate is false. */
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
      /** Folded like the field's texts. */
      readonly value: string;
    }
  | { readonly field: string; readonly test: Order; readonly value: Operand }
  | { readonly field: string; readonly test: 'null'; readonly value: boolean };

export type Order = 'gt' | 'gte' | 'lt' | 'lte';

/** Tests whether a value is in a list. `way` is null if the field is compared by its own value. */
export interface Listing {
  readonly field: string;
  readonly test: 'in';
  readonly groups: readonly { readonly way: FilterWay | null; readonly values: readonly Operand[] }[];
}

const depthMax = 8;
const conditionsMax = 100;
/** Maximum number of objects and operators, because some have no values for `conditionsMax` to count. */
const termsMax = 200;
/** A text search in descriptions costs more than all other conditions together. */
const textsMax = 10;

export interface ReadingOptions {
  /** Caller of the list; absent for subscriptions. */
  readonly me?: Me;
  /** Receives each object that the filter names. */
  readonly mentions?: Mention[];
  /**
   * True for a stored filter, accepted under earlier rules: a value that would be refused now matches nothing, and a removed custom
   * field has no values.
   */
  readonly wasTaken?: boolean;
  /** Field with custom parts, if the workspace that names them is unknown: any part is then accepted. */
  readonly under?: string | null;
  /** Event type, for error messages. */
  readonly of?: string;
}

/**
 * @param at path of the filter in the request, for error paths; empty at the top
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

/** Returns true if no object can match. */
export function isNever(filter: Filter): boolean {
  if ('all' in filter) return filter.all.some(isNever);
  if ('any' in filter) return filter.any.every(isNever);
  if ('not' in filter) return false;
  return filter.test === 'in' && filter.groups.every(({ values }) => values.length === 0);
}

/** Returns true if every object that has the fields matches. */
export function isAlways(filter: Filter): boolean {
  if ('all' in filter) return filter.all.every(isAlways);
  if ('any' in filter) return filter.any.some(isAlways);
  if ('not' in filter) return isNever(filter.not);
  return (filter.test === 'contains' || filter.test === 'startsWith') && filter.value === '';
}

/** State of parsing: available fields, and counters for the limits. */
interface Reading extends ReadingOptions {
  readonly fields: FilterFields;
  terms: number;
  values: number;
  texts: number;
}

interface ConditionField {
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
    // A list of filters is never a value, so a misspelled `and` or `or` is more likely.
    const isOfWord = Array.isArray(value) && value.some(isObject);
    throw unknownName(path, name, why, {
      known: [...names, 'and', 'or', 'not'],
      alike: isOfWord ? ['and', 'or'] : names,
    });
  }
  const condition = { name, field };
  if (!isObject(value)) return anyOf(reading, condition, Array.isArray(value) ? value : [value], path);
  const parsed = Object.entries(value).map(([test, operand]) => {
    const here = `${path}.${test}`;
    countTerm(reading, here);
    const parse = Object.hasOwn(tests, test) ? tests[test] : undefined;
    if (!parse) {
      const known = Object.keys(tests);
      throw unknownName(here, test, `There is no operator ${test}.`, { known, alike: known });
    }
    return parse(reading, condition, operand, here);
  });
  if (parsed.length === 0) throw invalidField(path, 'required', 'Give an operator such as {"eq": …}.');
  return allOf(parsed);
}

/** Returns true if the name may be a custom field of a workspace, now or earlier. */
function isUnseen({ wasTaken, under }: Reading, name: string): boolean {
  return under ? name.startsWith(`${under}.`) : wasTaken === true && name.includes('.');
}

const always: Filter = { all: [] };
const never: Filter = { any: [] };

/** Returns the result of a condition on a field that has no values. */
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

/** @param alike candidates for a suggestion */
function unknownName(
  path: string,
  input: string,
  why: string,
  { known, alike }: Readonly<Record<'known' | 'alike', readonly string[]>>,
): ApiError {
  const fix = `${why}${didYouMean(input, alike)} Use ${known.join(', ')}.`;
  return invalidField(path, 'unknown_field', fix);
}

type ParseTest = (reading: Reading, condition: ConditionField, operand: unknown, path: string) => Filter;

const tests: Readonly<Record<string, ParseTest>> = {
  eq: (reading, condition, operand, path) => anyOf(reading, condition, [operand], path),
  neq: (reading, condition, operand, path) => ({ not: anyOf(reading, condition, [operand], path) }),
  in: listed,
  nin: (...input) => ({ not: listed(...input) }),
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

function listed(...[reading, condition, operand, path]: Parameters<ParseTest>): Filter {
  if (!Array.isArray(operand)) throw invalidField(path, 'invalid_type', 'Give a list of values.');
  return anyOf(reading, condition, operand, path, true);
}

function looked(test: 'contains' | 'startsWith'): ParseTest {
  return (reading, { name, field }, operand, path) =>
    orNever(reading, () => {
      countValue(reading, path);
      const value = readText({ name, field, test, input: operand, path });
      if (++reading.texts > textsMax)
        throw invalidField(path, 'too_long', `Use at most ${textsMax} text searches in one filter.`);
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
  { name, field }: ConditionField,
  input: readonly unknown[],
  path: string,
  isList = input.length > 1,
): Filter {
  const groups = new Map<FilterWay | null, Operand[]>();
  let orMissing = false;
  const take = (value: unknown, at: string): void => {
    countValue(reading, at);
    if (value === null) {
      orMissing = true;
      return;
    }
    const reference =
      field.type === 'reference'
        ? readReference(field, value, at, reading)
        : { way: null, value: readScalar(field, value, at, false) };
    if (reference === null) orMissing = true;
    else groups.set(reference.way, [...(groups.get(reference.way) ?? []), reference.value]);
  };
  for (const [index, value] of input.entries()) {
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

/** For a stored filter, a value that would be refused now matches nothing and does not affect the rest. */
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
