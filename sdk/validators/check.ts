/**
 * Validates a value against a schema, for the JSON Schema keywords that API bodies use, and returns the issues by
 * field.
 */
import type { FieldIssue } from '../generated/errors.ts';

export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean;
  readonly minProperties?: number;
  readonly maxProperties?: number;
}

interface FieldFault {
  readonly path: string;
  readonly issue: FieldIssue;
}

export function check(schema: Schema, value: unknown, path = ''): FieldFault[] {
  const inner = value === null ? null : orNull(schema);
  if (inner) return check(inner, value, path);
  const issue = wholeIssue(schema, value);
  // A number that is not an integer is reported, and its range is checked as well.
  const beside = typeof value === 'number' && !schema.anyOf ? at(path, inRange(schema, value)) : [];
  if (issue) return [{ path, issue }, ...beside];
  if (typeof value === 'string') return at(path, inText(schema, value));
  if (typeof value === 'number') return beside;
  if (Array.isArray(value)) return inList(schema, value, path);
  return typeof value === 'object' && value !== null ? inObject(schema, value, path) : [];
}

/** Returns the only non-null schema of a union, so that errors name the failing part; null for any other schema. */
function orNull({ anyOf = [] }: Schema): Schema | null {
  const [one, ...others] = anyOf.filter(({ type }) => type !== 'null');
  return one && others.length === 0 ? one : null;
}

/** Returns an issue that makes further checks pointless. */
function wholeIssue({ anyOf, enum: words, type = [] }: Schema, value: unknown): FieldIssue | null {
  if (words) return words.includes(value) ? null : 'invalid_enum';
  const types = [type].flat();
  const isPossible = types.length === 0 || types.some((one) => isOfType(value, one));
  const isBranch = anyOf === undefined || anyOf.some((one) => check(one, value).length === 0);
  return isPossible && isBranch ? null : 'invalid_type';
}

const at = (path: string, faults: readonly FieldIssue[]): FieldFault[] =>
  faults.map((issue) => ({ path, issue }));

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === type;
  }
}

function issues(...broken: readonly (readonly [boolean, FieldIssue])[]): FieldIssue[] {
  return broken.filter(([isBroken]) => isBroken).map(([, issue]) => issue);
}

function inText({ minLength = 0, maxLength = Infinity, pattern = '' }: Schema, value: string): FieldIssue[] {
  const { length } = [...value];
  return issues(
    [length < minLength, 'too_short'],
    [length > maxLength, 'too_long'],
    [!new RegExp(pattern, 'u').test(value), 'invalid_format'],
  );
}

function inRange({ minimum = -Infinity, maximum = Infinity }: Schema, value: number): FieldIssue[] {
  return issues([value < minimum, 'too_small'], [value > maximum, 'too_big']);
}

function inList(schema: Schema, value: readonly unknown[], path: string): FieldFault[] {
  const { items, minItems = 0, maxItems = Infinity, uniqueItems = false } = schema;
  // The items of an overlong list are not checked.
  if (value.length > maxItems) return [{ path, issue: 'too_long' }];
  const isRepeated = new Set(value.map((item) => JSON.stringify(item))).size < value.length;
  return [
    ...at(path, issues([value.length < minItems, 'too_short'], [uniqueItems && isRepeated, 'conflict'])),
    ...(items ? value.flatMap((item, index) => check(items, item, below(path, String(index)))) : []),
  ];
}

function inObject(schema: Schema, value: object, path: string): FieldFault[] {
  const { properties = {}, required = [], patternProperties = {}, additionalProperties = true } = schema;
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const names = new Set(entries.map(([name]) => name));
  const missing = required.filter((name) => !names.has(name));
  const patterns = Object.entries(patternProperties).map(
    ([text, inner]) => [new RegExp(text, 'u'), inner] as const,
  );
  const inside = entries.flatMap(([name, inner]): FieldFault[] => {
    const entryPath = below(path, name);
    const schemas = [
      ...(Object.hasOwn(properties, name) ? [properties[name]!] : []),
      ...patterns.filter(([pattern]) => pattern.test(name)).map(([, one]) => one),
    ];
    if (schemas.length === 0)
      return additionalProperties ? [] : [{ path: entryPath, issue: 'unknown_field' }];
    return schemas.flatMap((one) => check(one, inner, entryPath));
  });
  return [
    ...at(path, inSize(schema, entries.length)),
    ...missing.map((name): FieldFault => ({ path: below(path, name), issue: 'required' })),
    ...inside,
  ];
}

function inSize({ minProperties = 0, maxProperties = Infinity }: Schema, size: number): FieldIssue[] {
  return issues([size < minProperties, 'too_short'], [size > maxProperties, 'too_long']);
}

const below = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);
