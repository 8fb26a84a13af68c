// Components that the OpenAPI document defines once and refers to: named schemas, enums and responses.
// Requests are closed, because the server rejects unknown fields. Responses are open, because a later version
// may add fields. Bounds of texts and lists apply to requests only: deleted texts and redacted lists in
// responses violate them.
import type { TSchema } from 'typebox';
import { namedSchema } from '../../../platform/lib/schema.ts';
import { capital } from '../../../platform/lib/text/words.ts';
import type { Route } from '../route.ts';

export type JsonObject = Record<string, unknown>;

/** Side of a schema: `given` in requests, `shown` in responses. */
type Side = 'given' | 'shown';

export interface Components {
  /** Returns the schema as JSON Schema, with every named part replaced by a reference. @throws Error if two schemas share a name */
  ref(schema: unknown, side: Side): unknown;
  /** Returns a reference to the schema of that name, which `make` creates on first use. */
  schema(name: string, make: () => JsonObject): JsonObject;
  /** Returns a reference to the response of that name, which `make` creates on first use. */
  response(name: string, make: () => JsonObject): JsonObject;
  readonly schemas: Readonly<Record<string, JsonObject>>;
  readonly responses: Readonly<Record<string, JsonObject>>;
}

export function createComponents(): Components {
  const schemas: Record<string, JsonObject> = {};
  const responses: Record<string, JsonObject> = {};
  /** Properties already described, by name, because most schemas are referenced many times. */
  const described = new Map<string, unknown>();

  const put = (name: string, schema: JsonObject): JsonObject => {
    if (name in schemas && JSON.stringify(schemas[name]) !== JSON.stringify(schema))
      throw new Error(`Two different schemas are named ${name}. Rename one of them.`);
    schemas[name] = schema;
    return refTo(name);
  };
  const plain = (value: unknown, side: Side): unknown => {
    if (Array.isArray(value)) return value.map((one) => plain(one, side));
    if (value === null || typeof value !== 'object') return value;
    const { 'x-name': name, 'x-doc': doc, 'x-enum': words, ...rest } = value as JsonObject;
    if (typeof words === 'string') return wordsRef(words, rest);
    if (
      typeof name === 'string' &&
      rest.properties !== undefined &&
      described.get(`${side} ${name}`) === rest.properties
    )
      return { ...refTo(name), ...docOf(doc) };
    const schema = standard(
      Object.fromEntries(Object.entries(rest).map(([key, inner]) => [key, plain(inner, side)])),
      side,
    );
    if (typeof name !== 'string') return schema;
    described.set(`${side} ${name}`, rest.properties);
    return { ...put(name, schema), ...docOf(doc) };
  };
  const wordsRef = (name: string, { enum: values, ...rest }: JsonObject): JsonObject => {
    const words = (values as readonly (string | null)[]).filter((word) => word !== null);
    const { description, ...others } = rest;
    const ref = put(name, { type: 'string', enum: words });
    const said = { ...(description === undefined ? {} : { description }), ...others };
    const isNullable = words.length < (values as readonly unknown[]).length;
    return isNullable ? { anyOf: [ref, { type: 'null' }], ...said } : { ...ref, ...said };
  };
  return {
    ref: plain,
    schema(name, make) {
      if (!(name in schemas)) put(name, make());
      return refTo(name);
    },
    response(name, make) {
      responses[name] ??= make();
      return { $ref: `#/components/responses/${name}` };
    },
    schemas,
    responses,
  };
}

function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns the description of a reference, which is specific to its place. */
function docOf(doc: unknown): JsonObject {
  return doc === undefined ? {} : { description: doc };
}

/** Converts to the form that tools expect: enums have a type, and maps describe their values in `additionalProperties`. */
function standard(schema: JsonObject, side: Side): JsonObject {
  const { additionalProperties, patternProperties, ...rest } = side === 'shown' ? unbounded(schema) : schema;
  if (isEmpty(schema)) return { ...rest, additionalProperties: true };
  if (Array.isArray(rest.enum) && rest.type === undefined) return { type: typeOf(rest.enum), ...rest };
  if (isMap(patternProperties)) {
    const [[pattern, values] = ['', {}]] = Object.entries(patternProperties);
    const names = pattern === '^.*$' ? {} : { propertyNames: { pattern } };
    return { ...rest, ...names, additionalProperties: Object.keys(values).length === 0 ? true : values };
  }
  if (additionalProperties === undefined || (additionalProperties === false && side === 'shown')) return rest;
  return { ...rest, additionalProperties };
}

function unbounded(schema: JsonObject): JsonObject {
  // A schema without a type is a map of properties, whose names may equal those of bounds.
  if (typeof schema.type !== 'string' && !Array.isArray(schema.type)) return schema;
  const isBound = ([key, value]: [string, unknown]): boolean =>
    bounds.has(key) || (key === 'pattern' && value === '\\S');
  return Object.fromEntries(Object.entries(schema).filter((entry) => !isBound(entry)));
}

const bounds: ReadonlySet<string> = new Set(
  'minLength maxLength minItems maxItems uniqueItems minProperties maxProperties'.split(' '),
);

/** True for an object schema without constraints, which allows any content. */
function isEmpty({ type, properties, additionalProperties }: JsonObject): boolean {
  const names = properties !== null && typeof properties === 'object' ? Object.keys(properties) : null;
  return type === 'object' && additionalProperties === undefined && names?.length === 0;
}

/** True for a map that is described by one pattern. */
function isMap(patterns: unknown): patterns is Record<string, JsonObject> {
  return patterns !== null && typeof patterns === 'object' && Object.keys(patterns).length === 1;
}

function typeOf(values: readonly unknown[]): string | string[] {
  return values.includes(null) ? ['string', 'null'] : 'string';
}

/** `issue.state_changed` → `IssueStateChanged` */
export function nameOf(words: string): string {
  return words
    .split(/[^a-zA-Z0-9]+/)
    .map(capital)
    .join('');
}

/** Names a body after its operation if it has no name, because every body in the document needs one. */
export function bodyNameOf(route: Route, schema: TSchema, suffix: 'Body' | 'Answer'): TSchema {
  return 'x-name' in schema ? schema : namedSchema(`${nameOf(route.name)}${suffix}`, { ...schema });
}
