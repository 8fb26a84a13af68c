// Validates input by TypeBox schemas and reports field-level details. Values in bodies are not coerced, unknown fields are rejected, and
// a rejected value is never echoed (it may be a password).
import { Type, type TObject, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import {
  ApiError,
  invalidField,
  type ErrorDetail,
  type FieldIssue,
} from '../../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { rule } from '../../../platform/lib/schema.ts';

/** Maximum number of fields that one error names. */
const fieldsMax = 100;
/** A field may break several rules. TypeBox stops at 8 errors by default. */
const errorsMax = 2 * fieldsMax;
Settings.Set({ maxErrors: errorsMax });

const issueOf: Readonly<Record<string, FieldIssue>> = {
  enum: 'invalid_enum',
  const: 'invalid_enum',
  type: 'invalid_type',
  anyOf: 'invalid_type',
  oneOf: 'invalid_type',
  minLength: 'too_short',
  maxLength: 'too_long',
  minItems: 'too_short',
  maxItems: 'too_long',
  minProperties: 'too_short',
  maxProperties: 'too_long',
  minimum: 'too_small',
  exclusiveMinimum: 'too_small',
  maximum: 'too_big',
  exclusiveMaximum: 'too_big',
  pattern: 'invalid_format',
  format: 'invalid_format',
  multipleOf: 'invalid_format',
  uniqueItems: 'conflict',
};

interface SchemaError {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: Record<string, unknown>;
}

/**
 * Returns a check that throws ApiError validation_failed. The schema is compiled on first use: compiling all of the hundreds of schemas
 * would delay startup by a fifth of a second.
 */
export function compileCheck(schema: TSchema): (value: unknown) => void {
  let check: ((value: unknown) => void) | null = null;
  return (value) => (check ??= compiled(schema))(value);
}

function compiled(schema: TSchema): (value: unknown) => void {
  const validator = Compile(schema);
  const lists = listsOf(schema);
  return (value) => {
    if (lists) requireShortLists(lists, value, '');
    if (validator.Check(value)) return;
    const errors = validator.Errors(value);
    throw refusalOf(detailsOf(errors, schema), errors.length < errorsMax);
  };
}

/** Limits of the lists in a value: `below` for its properties, `items` for the items of a list. */
interface Lists {
  readonly itemsMax: number | null;
  readonly below: readonly (readonly [name: string, lists: Lists])[];
  readonly items: Lists | null;
}

function listsOf(schema: TSchema): Lists | null {
  const { properties, items, maxItems } = (orNull(schema) ?? schema) as {
    properties?: Readonly<Record<string, TSchema>>;
    items?: TSchema;
    maxItems?: number;
  };
  const below = Object.entries(properties ?? {}).flatMap(([name, property]): [string, Lists][] => {
    const lists = listsOf(property);
    return lists ? [[name, lists]] : [];
  });
  const inItems = items ? listsOf(items) : null;
  if (maxItems === undefined && below.length === 0 && !inItems) return null;
  return { itemsMax: maxItems ?? null, below, items: inItems };
}

/**
 * Rejects long lists before the schema check, which would take long to report the errors of a million items.
 */
function requireShortLists(lists: Lists, value: unknown, path: string): void {
  if (value === null || typeof value !== 'object') return;
  if (Array.isArray(value)) {
    if (lists.itemsMax !== null && value.length > lists.itemsMax)
      throw invalidField(path, 'too_long', `Give at most ${lists.itemsMax} items.`);
    if (lists.items)
      for (const [at, item] of value.entries()) requireShortLists(lists.items, item, `${path}.${at}`);
    return;
  }
  for (const [name, below] of lists.below)
    if (Object.hasOwn(value, name))
      requireShortLists(below, (value as Record<string, unknown>)[name], path ? `${path}.${name}` : name);
}

/** @param areAll false if there may be more errors */
function refusalOf(all: readonly ErrorDetail[], areAll: boolean): ApiError {
  // A misspelled name explains the missing one.
  const first =
    all.find(({ issue, fix }) => issue === 'unknown_field' && fix?.includes('Did you mean')) ?? all[0];
  if (!first)
    return new ApiError('validation_failed', 'The request is not valid. Compare it with the API reference.');
  // A value that breaks several rules counts once.
  const fields = [...new Set(all.map(({ path }) => path))];
  const reportedFields = new Set(fields.slice(0, fieldsMax));
  const count = `${areAll && reportedFields.size === fields.length ? '' : 'at least '}${fields.length - 1}`;
  const more = count === '0' ? '' : ` (and ${count} more)`;
  const why = first.issue === 'required' ? 'This field is required. ' : '';
  const message = `${first.path || 'body'}: ${why}${first.fix ?? 'The value has the wrong format. Use the format in the API reference.'}${more}`;
  return new ApiError('validation_failed', message, {
    details: all.filter(({ path }) => reportedFields.has(path)),
  });
}

function detailsOf(errors: Iterable<SchemaError>, schema: TSchema): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  for (const error of errors) {
    const union = unionOf(error, schema);
    const path = pathOf((union ?? error).instancePath);
    if (union) {
      // Errors of the branches precede the error of the union. One that concerns a part of the value is more
      // useful.
      if (!details.some((detail) => isWithin(detail.path, path)))
        details.push({ path, issue: 'invalid_type', ...fixOf(union, schema) });
      continue;
    }
    const inside = (name: string) => (path ? `${path}.${name}` : name);
    if (error.keyword === 'required')
      for (const name of error.params.requiredProperties as string[])
        details.push({
          path: inside(name),
          issue: 'required',
          fix: fixOfMissing(missingAt(error, name, schema)),
        });
    // TypeBox also reports all unknown names in one error, but last, and it stops after `errorsMax`. Each name has its own error before.
    else if (error.keyword === 'boolean')
      details.push({ path, issue: 'unknown_field', fix: unknownFix(error, schema) });
    else if (error.keyword in issueOf)
      details.push({ path, issue: issueOf[error.keyword]!, ...fixOf(error, schema) });
  }
  const seen = new Set<string>();
  return details.filter(
    (detail) => !seen.has(`${detail.path} ${detail.issue}`) && seen.add(`${detail.path} ${detail.issue}`),
  );
}

function isWithin(path: string, outer: string): boolean {
  return outer === '' || path === outer || path.startsWith(`${outer}.`);
}

/**
 * Returns the outermost union that an error must be reported at; null for an error that is reported by itself. A union of one schema and
 * null is transparent: its errors are those of the schema, unless the value has another type altogether. A union of several schemas also
 * reports the errors of every branch, so that only the error of the union is useful.
 */
function unionOf(error: SchemaError, schema: TSchema): SchemaError | null {
  if (error.keyword === 'anyOf' || error.keyword === 'oneOf') return error;
  for (const { index, 0: step, 1: keyword = '' } of error.schemaPath.matchAll(/\/(anyOf|oneOf)\/\d+/g)) {
    const schemaPath = error.schemaPath.slice(0, index);
    const isOfBranch = index + step.length === error.schemaPath.length && error.keyword === 'type';
    if (orNull(schemaAt(schema, schemaPath)) !== null && !isOfBranch) continue;
    const depth =
      schemaPath.match(/\/((properties|patternProperties)\/[^/]+|items|additionalProperties)/g)?.length ?? 0;
    const instancePath = error.instancePath
      .split('/')
      .slice(0, depth + 1)
      .join('/');
    return { ...error, keyword, schemaPath, instancePath };
  }
  return null;
}

/** Returns the only schema of a union that is not null; null for any other schema. */
function orNull(schema: unknown): TSchema | null {
  const { anyOf, oneOf = anyOf } = (schema ?? {}) as Partial<Record<'anyOf' | 'oneOf', readonly TSchema[]>>;
  const others = oneOf?.filter((one) => (one as { type?: string }).type !== 'null') ?? [];
  return others.length === 1 ? others[0]! : null;
}

/** `/labels/0/a~1b` → `labels.0.a/b` (RFC 6901 §4). */
function pathOf(pointer: string): string {
  return pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
}

type FixOf = (params: Record<string, unknown>) => string;

const atLeast =
  (unit: string): FixOf =>
  ({ limit }) =>
    `Give at least ${counted(limit, unit)}.`;
const atMost =
  (unit: string): FixOf =>
  ({ limit }) =>
    `Give at most ${counted(limit, unit)}.`;
const counted = (limit: unknown, unit: string): string =>
  `${String(limit)} ${limit === 1 ? unit.replace(/s$/, '') : unit}`;
const compared: FixOf = ({ comparison, limit }) => `Give a number ${String(comparison)} ${String(limit)}.`;

const oneOf: FixOf = ({ allowedValues }) =>
  `Use one of ${(allowedValues as unknown[]).map(String).join(', ')}.`;
const ofType: FixOf = ({ type }) => `Give a value of type ${[type].flat().join(' or ')}.`;

/** Fixes by the schema keyword that a value breaks. */
const fixes: Readonly<Record<string, FixOf>> = {
  enum: oneOf,
  const: ({ allowedValue }) => `Use ${String(allowedValue)}.`,
  type: ofType,
  minLength: atLeast('characters'),
  minItems: atLeast('items'),
  maxLength: atMost('characters'),
  maxItems: atMost('items'),
  minimum: compared,
  maximum: compared,
  exclusiveMinimum: compared,
  exclusiveMaximum: compared,
  uniqueItems: () => 'List each value once.',
};

/** Keywords without an entry in `fixes` use the rule of the schema, or its description. */
function fixOf({ keyword, params, schemaPath }: SchemaError, schema: TSchema): { fix?: string } {
  const fix = fixes[keyword];
  if (fix) return { fix: fix(params) };
  const wanted = wantedOf(schemaAt(schema, schemaPath));
  return wanted === null ? {} : { fix: sendWords(wanted) };
}

function fixOfMissing(schema: unknown): string {
  const wanted = wantedOf(schema);
  if (wanted !== null) return sendWords(wanted);
  const { type, enum: values } = (schema ?? {}) as {
    type?: string | readonly string[];
    enum?: readonly unknown[];
  };
  if (values) return oneOf({ allowedValues: values });
  return type === undefined ? 'Give a value.' : ofType({ type });
}

function wantedOf(schema: unknown): string | null {
  const { description, [rule]: words = description } = (schema ?? {}) as {
    readonly description?: string;
    readonly [rule]?: string;
  };
  return words ?? null;
}

/** `Title of the issue.` → `Send the expected value: Title of the issue.` */
const sendWords = (description: string): string => `Send the expected value: ${description}`;

/** Returns the schema of a missing property. */
function missingAt({ schemaPath }: SchemaError, name: string, schema: TSchema): unknown {
  const at = schemaAt(schema, schemaPath) as { properties?: Readonly<Record<string, unknown>> } | undefined;
  return at?.properties?.[name];
}

/** Returns the fix for an unknown property, which suggests a similar sibling. */
function unknownFix({ instancePath, schemaPath }: SchemaError, schema: TSchema): string {
  const around = schemaAt(schema, schemaPath.slice(0, schemaPath.lastIndexOf('/')));
  const { properties = {} } = (around ?? {}) as Partial<TObject>;
  const name = pathOf(instancePath.slice(instancePath.lastIndexOf('/')));
  const isList = 'filter' in properties && 'limit' in properties;
  const filtered = isList ? ' To filter by anything else, use the parameter `filter`.' : '';
  return `Remove this name; the operation does not accept it.${didYouMean(name, Object.keys(properties))}${filtered}`;
}

function schemaAt(schema: unknown, schemaPath: string): unknown {
  let at: unknown = schema;
  for (const step of schemaPath.replace(/^#\/?/, '').split('/')) {
    if (step === '') continue;
    at = at !== null && typeof at === 'object' ? (at as Record<string, unknown>)[step] : undefined;
  }
  return at;
}

/** Rejects U+0000, at which the database would cut a text. Bodies are checked while they are parsed. @throws ApiError validation_failed */
export function requireStorable(texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts)) requireNoNull(name, text);
}

function requireNoNull(name: string, text: string): void {
  if (text.includes('\0')) throw invalidField(name, 'invalid_format', 'Remove the character U+0000.');
}

/** Returns a parser of query parameters for a flat schema: integers and booleans in canonical form, each name once. */
export function compileQuery(
  schema: TObject,
): (texts: Iterable<readonly [name: string, text: string]>) => Record<string, unknown> {
  const check = compileCheck(schema);
  const types = new Map(
    Object.entries(schema.properties).map(([name, property]) => [name, (property as { type?: string }).type]),
  );
  return (texts) => {
    // The object has no prototype, so that a parameter named like one of its members (`toString`) is also rejected by its name.
    const query: Record<string, unknown> = Object.create(null);
    for (const [name, text] of texts) {
      requireNoNull(name, text);
      if (name in query) throw invalidField(name, 'conflict', 'Give this parameter once.');
      query[name] = coerce(types.get(name), text);
    }
    check(query);
    return query;
  };
}

/** Returns a text that is not in the canonical form of its type unchanged, so that the schema rejects it. */
function coerce(type: string | undefined, text: string): unknown {
  if (type === 'integer' && /^(0|-?[1-9]\d{0,14})$/.test(text)) return Number(text);
  if (type === 'number' && /^-?(0|[1-9]\d{0,14})(\.\d{1,9})?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Schema of an operation without input: every parameter or property is rejected by its name. */
export const noInput = Type.Object({}, { additionalProperties: false });
