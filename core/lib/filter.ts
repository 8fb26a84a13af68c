// The filter language, the same everywhere (lists, webhooks, plugin subscriptions): a JSON tree of `and`, `or` and
// conditions `{field: {eq|neq|in|nin|contains|startsWith|gt|lt|null: …}}`; `{field: [a, b]}` abbreviates `in`, `{field: a}` `eq`.
// There are no patterns to backtrack in, and size and depth are bounded.
import { invalidField } from './errors.ts';
import { isTime } from './time.ts';

export type FilterValue = string | number | boolean;

/** How a field is compared, and where it lies in the public shape: `team.key`, or `labels[].name` for any of several. */
export interface FilterField {
  readonly type: 'text' | 'number' | 'time' | 'boolean';
  readonly path: string;
  /** The ids of what `path` names, among which `in` and `nin` look as well. */
  readonly idPath?: string;
  readonly values?: readonly string[];
  /** Other spellings that input may use: spelling → value. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The values in the order that `gt` and `lt` go by, lowest first. */
  readonly rank?: readonly string[];
  /** `gt` and `lt` compare the text as it stands, such as that of a day. */
  readonly ordered?: true;
}

export type FilterFields = Readonly<Record<string, FilterField>>;

export type Filter =
  | { readonly all: readonly Filter[] }
  | { readonly any: readonly Filter[] }
  | { readonly field: string; readonly test: 'in' | 'nin'; readonly values: readonly FilterValue[] }
  | {
      readonly field: string;
      readonly test: 'contains' | 'startsWith';
      /** In lower case, as `foldCase` makes it. */
      readonly value: string;
    }
  | { readonly field: string; readonly test: 'gt' | 'lt'; readonly value: FilterValue }
  | { readonly field: string; readonly test: 'null'; readonly value: boolean };

const depthMax = 8;
const conditionsMax = 100;
/** Bounds objects and tests, which may be without values. */
const termsMax = 200;
/** Searching a whole description for a text costs more than all other conditions together. */
const textsMax = 10;
const textCharactersMax = 200;

/**
 * @param at where the filter stands in the request, for error paths
 * @throws ApiError validation_failed
 */
export function parseFilter(input: unknown, fields: FilterFields, at = 'filter'): Filter {
  return parseNode({ fields, terms: 0, values: 0, texts: 0 }, input, at, 1);
}

/** A filter being read: what it may ask about, and how much it has asked so far. */
interface Reading {
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
      const here = `${path}.${key}`;
      return key === 'and' || key === 'or'
        ? parseTerms(reading, key, value, here, depth)
        : parseCondition(reading, key, value, here);
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
  if (!field)
    throw invalidField(path, 'unknown_field', `Filter by one of ${Object.keys(fields).join(', ')}, and, or.`);
  const asked = { name, field };
  if (!isObject(value)) return anyOf('in', reading, asked, Array.isArray(value) ? value : [value], path);
  const parsed = Object.entries(value).map(([test, operand]) => {
    const here = `${path}.${test}`;
    countTerm(reading, here);
    const parse = Object.hasOwn(tests, test) ? tests[test] : undefined;
    if (!parse)
      throw invalidField(
        here,
        'unknown_field',
        'Use eq, neq, in, nin, contains, startsWith, gt, lt or null.',
      );
    return parse(reading, asked, operand, here);
  });
  if (parsed.length === 0) throw invalidField(path, 'required', 'Give a test such as {"eq": …}.');
  return allOf(parsed);
}

type ParseTest = (reading: Reading, asked: Asked, operand: unknown, path: string) => Filter;

const tests: Readonly<Record<string, ParseTest>> = {
  eq: (reading, asked, operand, path) => anyOf('in', reading, asked, [operand], path),
  neq: (reading, asked, operand, path) => anyOf('nin', reading, asked, [operand], path),
  in: listed('in'),
  nin: listed('nin'),
  contains: looked('contains'),
  startsWith: looked('startsWith'),
  gt: compared('gt'),
  lt: compared('lt'),
  null(_, { name }, operand, path) {
    if (typeof operand !== 'boolean') throw invalidField(path, 'invalid_type', 'Give true or false.');
    return { field: name, test: 'null', value: operand };
  },
};

function listed(test: 'in' | 'nin'): ParseTest {
  return (reading, asked, operand, path) => {
    if (!Array.isArray(operand)) throw invalidField(path, 'invalid_type', 'Give a list of values.');
    return anyOf(test, reading, asked, operand, path);
  };
}

function looked(test: 'contains' | 'startsWith'): ParseTest {
  return (reading, { name, field }, operand, path) => {
    if (field.type !== 'text' || field.values)
      throw invalidField(path, 'unknown_field', `Use eq or in: ${name} is not free text.`);
    return { field: name, test, value: textOf(reading, field, operand, path) };
  };
}

function compared(test: 'gt' | 'lt'): ParseTest {
  return (reading, { name, field }, operand, path) => {
    if (field.type === 'boolean' || (field.type === 'text' && !field.rank && !field.ordered))
      throw invalidField(path, 'unknown_field', `Use eq or in: ${name} has no order.`);
    return { field: name, test, value: valueOf(reading, field, operand, path) };
  };
}

function anyOf(
  test: 'in' | 'nin',
  reading: Reading,
  { name, field }: Asked,
  given: readonly unknown[],
  path: string,
): Filter {
  const values = given.map((value, index) =>
    valueOf(reading, field, value, given.length > 1 ? `${path}.${index}` : path),
  );
  return { field: name, test, values };
}

function valueOf(reading: Reading, field: FilterField, given: unknown, path: string): FilterValue {
  const { aliases, type, values } = field;
  const value =
    typeof given === 'string' && aliases && Object.hasOwn(aliases, given) ? aliases[given] : given;
  if (++reading.values > conditionsMax)
    throw invalidField(path, 'too_long', `Use at most ${conditionsMax} values in one filter.`);
  const wanted = type === 'number' || type === 'boolean' ? type : 'string';
  if (!isOfType(value, wanted)) throw invalidField(path, 'invalid_type', `Give a ${wanted}.`);
  if (values && !values.some((known) => known === value))
    throw invalidField(path, 'invalid_enum', `Use one of ${values.join(', ')}.`);
  return type === 'time' ? timeOf(String(value), path) : value;
}

function isOfType(value: unknown, wanted: 'number' | 'boolean' | 'string'): value is FilterValue {
  return typeof value === wanted;
}

function timeOf(value: string, path: string): string {
  if (!isTime(value))
    throw invalidField(path, 'invalid_format', 'Give an ISO 8601 time such as 2026-11-20T12:00:00Z.');
  return new Date(value).toISOString();
}

function textOf(reading: Reading, field: FilterField, given: unknown, path: string): string {
  const value = String(valueOf(reading, field, given, path));
  if (value.length > textCharactersMax)
    throw invalidField(path, 'too_long', `Look for at most ${textCharactersMax} characters.`);
  if (++reading.texts > textsMax)
    throw invalidField(path, 'too_long', `Look for at most ${textsMax} texts in one filter.`);
  return foldCase(value);
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

/** The texts of one object, as filters search them: each is folded and searched for each part once, however many filters ask. */
export interface Searched {
  of(text: string): { readonly folded: string; contains(part: string): boolean };
}

export function createSearched(): Searched {
  const known = new Map<string, ReturnType<Searched['of']>>();
  const searched = (text: string): ReturnType<Searched['of']> => {
    const folded = foldCase(text);
    const found = new Map<string, boolean>();
    return {
      folded,
      contains(part) {
        let isThere = found.get(part);
        if (isThere === undefined) found.set(part, (isThere = folded.includes(part)));
        return isThere;
      },
    };
  };
  return {
    of(text) {
      let one = known.get(text);
      if (!one) known.set(text, (one = searched(text)));
      return one;
    },
  };
}

/** Whether an object in its public shape passes. Filters that look at the same object share what was `searched`. */
export function matches(
  filter: Filter,
  fields: FilterFields,
  shown: unknown,
  searched: Searched = createSearched(),
): boolean {
  if ('all' in filter) return filter.all.every((term) => matches(term, fields, shown, searched));
  if ('any' in filter) return filter.any.some((term) => matches(term, fields, shown, searched));
  const field = fields[filter.field];
  if (!field) return false;
  const values = valuesAt(shown, field.path);
  const isListed = (list: readonly FilterValue[]): boolean =>
    values.some((value) => list.includes(value)) ||
    (field.idPath !== undefined && valuesAt(shown, field.idPath).some((id) => list.includes(id)));
  switch (filter.test) {
    case 'in':
      return isListed(filter.values);
    case 'nin':
      return !isListed(filter.values);
    case 'null':
      return (values.length === 0) === filter.value;
    case 'contains':
      return values.some((value) => searched.of(String(value)).contains(filter.value));
    case 'startsWith':
      return values.some((value) => searched.of(String(value)).folded.startsWith(filter.value));
    case 'gt':
      return values.some((value) => order(field, value) > order(field, filter.value));
    case 'lt':
      return values.some((value) => order(field, value) < order(field, filter.value));
  }
}

/** ASCII only, as SQLite's lower() does, so that a list and a subscription agree. */
export function foldCase(text: string): string {
  // For ASCII alone the language's own folding does the same, many times as fast.
  // oxlint-disable-next-line no-control-regex
  if (/^[\0-\x7f]*$/.test(text)) return text.toLowerCase();
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x41 && byte <= 0x5a) bytes[at] = byte + 0x20;
  }
  return bytes.toString();
}

function order(field: FilterField, value: FilterValue): number | string {
  if (field.rank) return field.rank.indexOf(String(value));
  return typeof value === 'boolean' ? Number(value) : value;
}

function valuesAt(shown: unknown, path: string): FilterValue[] {
  let values: unknown[] = [shown];
  for (const step of path.split('.')) {
    const each = step.endsWith('[]');
    const name = each ? step.slice(0, -2) : step;
    values = values.flatMap((value) => {
      const inner =
        value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined;
      return each && Array.isArray(inner) ? inner : [inner];
    });
  }
  return values.filter((value): value is FilterValue => value !== null && value !== undefined);
}
