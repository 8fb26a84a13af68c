// The filter language, the same everywhere (lists, webhooks, plugin subscriptions): a JSON tree of `and`, `or` and
// conditions `{field: {eq|neq|in|nin|contains|startsWith|gt|lt|null: …}}`; `{field: [a, b]}` abbreviates `in`, `{field: a}` `eq`.
// There are no patterns to backtrack in, and size and depth are bounded.
import { ApiError, type ErrorDetail } from './errors.ts';
import { isTime } from './time.ts';

export type FilterValue = string | number | boolean;

/** How a field is compared, and where it lies in the public shape: `team.key`, or `labels[].name` for any of several. */
interface FilterField {
  readonly type: 'text' | 'number' | 'time' | 'boolean';
  readonly path: string;
  /** Where `in` and `nin` look as well: the ids of what `path` names. */
  readonly idPath?: string;
  readonly values?: readonly string[];
  /** Other spellings that input may use: spelling → value. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Order of the values for `gt` and `lt`; lower first. */
  readonly rank?: readonly string[];
  /** Text that `gt` and `lt` compare as it stands, such as days. */
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
/** Objects and tests, with or without values. */
const termsMax = 200;
/** A text is looked for in all of a description, so that these cost more than all other conditions together. */
const textsMax = 10;
const textCharactersMax = 200;

/**
 * @param at where the filter stands in the request, for error paths
 * @throws ApiError validation_failed
 */
export function parseFilter(input: unknown, fields: FilterFields, at = 'filter'): Filter {
  let conditions = 0;
  let texts = 0;
  let terms = 0;
  const fail = (path: string, issue: ErrorDetail['issue'], fix: string): never => {
    throw new ApiError('validation_failed', `${path}: ${fix}`, { details: [{ path, issue, fix }] });
  };

  const countTerm = (path: string): void => {
    if (++terms > termsMax) fail(path, 'too_long', `Use at most ${termsMax} terms in one filter.`);
  };

  const parse = (node: unknown, path: string, depth: number): Filter => {
    countTerm(path);
    if (depth > depthMax) fail(path, 'too_big', `Nest at most ${depthMax} levels.`);
    if (node === null || typeof node !== 'object' || Array.isArray(node))
      return fail(path, 'invalid_type', 'Give an object such as {"priority":{"in":["high","urgent"]}}.');
    const parts = Object.entries(node).map(([key, value]) => {
      const here = `${path}.${key}`;
      if (key === 'and' || key === 'or') {
        if (!Array.isArray(value) || value.length === 0)
          return fail(here, 'invalid_type', 'Give a list of filters.');
        const terms = value.map((term, index) => parse(term, `${here}.${index}`, depth + 1));
        return key === 'and' ? { all: terms } : { any: terms };
      }
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (!field)
        return fail(here, 'unknown_field', `Filter by one of ${Object.keys(fields).join(', ')}, and, or.`);
      return condition(key, field, value, here);
    });
    return parts.length === 1 ? parts[0]! : { all: parts };
  };

  const condition = (name: string, field: FilterField, value: unknown, path: string): Filter => {
    if (Array.isArray(value)) return { field: name, test: 'in', values: many(field, value, path) };
    if (value === null || typeof value !== 'object')
      return { field: name, test: 'in', values: many(field, [value], path) };
    const tests = Object.entries(value).map(([test, operand]): Filter => {
      const here = `${path}.${test}`;
      countTerm(here);
      switch (test) {
        case 'eq':
          return { field: name, test: 'in', values: many(field, [operand], here) };
        case 'neq':
          return { field: name, test: 'nin', values: many(field, [operand], here) };
        case 'in':
        case 'nin':
          if (!Array.isArray(operand)) return fail(here, 'invalid_type', 'Give a list of values.');
          return { field: name, test, values: many(field, operand, here) };
        case 'contains':
        case 'startsWith':
          if (field.type !== 'text' || field.values)
            return fail(here, 'unknown_field', `${name} is not free text.`);
          return { field: name, test, value: text(field, operand, here) };
        case 'gt':
        case 'lt':
          if (field.type === 'boolean' || (field.type === 'text' && !field.rank && !field.ordered))
            return fail(here, 'unknown_field', `${name} has no order.`);
          return { field: name, test, value: one(field, operand, here) };
        case 'null':
          if (typeof operand !== 'boolean') return fail(here, 'invalid_type', 'Give true or false.');
          return { field: name, test, value: operand };
        default:
          return fail(here, 'unknown_field', 'Use eq, neq, in, nin, contains, startsWith, gt, lt or null.');
      }
    });
    if (tests.length === 0) fail(path, 'required', 'Give a test such as {"eq": …}.');
    return tests.length === 1 ? tests[0]! : { all: tests };
  };

  const many = (field: FilterField, values: readonly unknown[], path: string): FilterValue[] =>
    values.map((value, index) => one(field, value, values.length > 1 ? `${path}.${index}` : path));

  const one = (field: FilterField, given: unknown, path: string): FilterValue => {
    const value =
      typeof given === 'string' && field.aliases && Object.hasOwn(field.aliases, given)
        ? field.aliases[given]
        : given;
    if (++conditions > conditionsMax)
      fail(path, 'too_long', `Use at most ${conditionsMax} values in one filter.`);
    const wanted = field.type === 'number' ? 'number' : field.type === 'boolean' ? 'boolean' : 'string';
    if (typeof value !== wanted) return fail(path, 'invalid_type', `Give a ${wanted}.`);
    if (field.values && !field.values.includes(value as string))
      return fail(path, 'invalid_enum', `Use one of ${field.values.join(', ')}.`);
    if (field.type === 'time') {
      if (!isTime(value as string))
        return fail(path, 'invalid_format', 'Give an ISO 8601 time such as 2026-11-20T12:00:00Z.');
      return new Date(value as string).toISOString();
    }
    return value as FilterValue;
  };

  const text = (field: FilterField, given: unknown, path: string): string => {
    const value = String(one(field, given, path));
    if (value.length > textCharactersMax)
      fail(path, 'too_long', `Look for at most ${textCharactersMax} characters.`);
    if (++texts > textsMax) fail(path, 'too_long', `Look for at most ${textsMax} texts in one filter.`);
    return foldCase(value);
  };

  return parse(input, at, 1);
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
  // Without other letters the language's own folding is the same, and many times as fast.
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
