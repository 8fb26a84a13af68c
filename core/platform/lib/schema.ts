// Shared schemas. A schema with `x-name` becomes a named component of the OpenAPI document, as does a list of words with `x-enum`.
import { Type, type Static, type TObject, type TSchema, type TString, type TUnsafe } from 'typebox';
import { patternOf } from './ids.ts';

/** An object schema that refuses unknown properties. */
export const Closed: typeof Type.Object = ((properties: Record<string, TSchema>, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })) as typeof Type.Object;

/** Returns a schema that also accepts null, as `type: [T, "null"]`, so that an error still names the violated keyword. */
export function nullable<S extends TSchema>(schema: S): ReturnType<typeof Type.Unsafe<Static<S> | null>> {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] };
  if (values) return Type.Unsafe<Static<S> | null>({ ...schema, enum: [...values, null] });
  if (type !== undefined && type !== 'object' && type !== 'array')
    return Type.Unsafe<Static<S> | null>({ ...schema, type: [type, 'null'] });
  const { 'x-doc': doc, ...here } = schema as { description?: string; 'x-name'?: string; 'x-doc'?: string };
  // The description of this place is not part of the named schema.
  if (doc !== undefined)
    return Type.Unsafe<Static<S> | null>({ anyOf: [here, { type: 'null' }], description: doc });
  const { description, ...rest } = here;
  if (description === undefined || rest['x-name'] !== undefined)
    return Type.Unsafe<Static<S> | null>({ anyOf: [schema, { type: 'null' }] });
  return Type.Unsafe<Static<S> | null>({ anyOf: [rest, { type: 'null' }], description });
}

/** Key of the fix text of a schema, if its description does not say what to give. */
export const rule: unique symbol = Symbol('rule');

/** Returns the schema with its own fix text for invalid values. */
export function ruled<S extends TSchema>(schema: S, words: string): S {
  return { ...schema, [rule]: words };
}

/** Returns the schema with a description of this place. The schema's own description is appended and serves as the fix text. */
export function described<S extends TSchema>(schema: S, doc: string | undefined): S {
  if (!doc) return schema;
  const { description, 'x-name': name } = schema as { description?: string; 'x-name'?: string };
  if (name !== undefined) return { ...schema, 'x-doc': doc };
  if (description === undefined) return { ...schema, description: doc };
  return { ...schema, description: `${doc} ${description}`, [rule]: description };
}

/** Returns the schema of a list of words with a name in the OpenAPI document, to which every use refers. */
export function enumeration<const V extends readonly string[]>(
  name: string,
  values: V,
  description?: string,
): TUnsafe<V[number]> {
  return Type.Unsafe(
    Type.Enum([...values], { 'x-enum': name, ...(description === undefined ? {} : { description }) }),
  );
}

/** Schema of a reference to another object in responses. */
export function idAndName<S extends TSchema>(id: S, of = 'the object'): TObject<{ id: S; name: TString }> {
  return Closed({ id, name: Type.String({ description: `Name of ${of}.` }) });
}

/** An id with that prefix; null for the UUIDs of workspaces and teams. */
export function idOf(prefix: string | null, description?: string): ReturnType<typeof Type.String> {
  if (prefix === null) return uuid;
  return Type.String({
    pattern: patternOf(prefix),
    description: description ?? `An id with the prefix ${prefix}_.`,
  });
}

const uuidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

export function idPattern(prefix: string | null): string {
  return prefix === null ? uuidPattern : patternOf(prefix);
}

/** Alternative name of an object, accepted wherever its id is. */
export interface CalledBy {
  readonly pattern: string;
  /** Description of the alternative name, completing a sentence. */
  readonly doc: string;
  /** Unique field that is the alternative name. Stored in upper case, matched case-insensitively. */
  readonly field?: string;
  /** Present if the name means the caller. */
  readonly isCaller?: true;
}

/** Key in schemas that accept `me` for the calling member. */
export const takesMe: unique symbol = Symbol('takes me');

/** Key of the contract of an object, in the schema of a place that accepts its id or name. */
export const refersTo: unique symbol = Symbol('refers to');
/** Key of the canonical property name, in the schema of an alias. */
export const alsoCalled: unique symbol = Symbol('also called');

/** A schema for the id or an alternative name of an object. */
export function nameOf({
  id,
  alias,
}: {
  readonly id: string | null;
  readonly alias?: CalledBy;
}): ReturnType<typeof Type.String> {
  if (!alias) return idOf(id);
  return Type.String({
    pattern: `${idPattern(id)}|${alias.pattern}`,
    description: `${id === null ? 'A UUID in lower case' : `An id with the prefix ${id}_`}, or ${alias.doc}`,
    ...(alias.isCaller ? { [takesMe]: true } : {}),
  });
}

export const uuid = Type.String({ pattern: uuidPattern, description: 'A UUID in lower case.' });

export const time = Type.String({ format: 'date-time', description: 'RFC 3339, UTC.' });
/** Time in requests, parsed by `readTime`. */
export const requestTime = Type.String({ maxLength: 40, description: 'An ISO 8601 time.' });
export const date = Type.String({
  pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$',
  description: 'A date as YYYY-MM-DD.',
});
export const version = Type.Integer({
  minimum: 1,
  description: 'Version of the object, incremented by each change; for `If-Match`.',
});

/** Required text, non-blank. */
export function text(maxLength: number, description?: string): ReturnType<typeof Type.String> {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '\\S',
    description: description ?? 'Non-blank text.',
  });
}

/** Marks titles and names: text in a request is normalized to one line of visible characters without surrounding white space. */
export const oneLine: unique symbol = Symbol('one line');

/** Required text on one line, such as a title or name. */
export function line(maxLength: number, description?: string): ReturnType<typeof Type.String> {
  const mark = { [oneLine]: true };
  return { ...text(maxLength, description), ...mark };
}

export const limitDefault = 50;
const limitMax = 100;

/** Key of an input form that JSON Schema cannot express; the types of the SDK use it. */
export const inputForm: unique symbol = Symbol('given as');
/**
 * Input forms: parameters with a comma-separated text that host calls also accept as values (field names, event types, words), and
 * issue filters. In bodies: an issue filter, a subscription filter, and the event types that the filter applies to.
 */
export type InputForm =
  'fields' | 'list' | 'eventPatterns' | 'json' | 'issueFilter' | 'eventFilter' | 'eventPattern';

/**
 * Key of the fields that a body property writes, if the property does not write the field of the same name;
 * `inside` if the properties of the value are fields. Rights limited to fields are checked against the written
 * fields.
 */
export const writes: unique symbol = Symbol('writes');
export type WrittenFields = readonly string[] | 'inside';

/** Parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitMax,
      default: limitDefault,
      description:
        'Maximum number of items per page. A page of large items ends after the item that exceeds 2 MiB.',
    }),
  ),
  after: Type.Optional(Type.String({ maxLength: 2000, description: '`endCursor` of the previous page.' })),
  cursor: Type.Optional(Type.String({ maxLength: 2000, description: 'Another name for `after`.' })),
};

const pageInfo = {
  hasNextPage: Type.Boolean({ description: 'True if more items follow.' }),
  endCursor: nullable(
    Type.String({ description: 'Opaque cursor of the last item, for `after`; null for an empty page.' }),
  ),
};

/** Page envelope (docs/spec/api.md › Lists). @param item schema whose name, if any, names the page */
export function pageOf(item: TSchema): TSchema {
  const { 'x-name': name } = item as { 'x-name'?: string };
  const PageInfo = namedSchema(
    'PageInfo',
    Closed(pageInfo, { description: 'Position of the page in its list.' }),
  );
  const page = Closed({ data: listOf(item), pageInfo: PageInfo });
  return name === undefined ? page : namedSchema(`${name}Page`, page);
}

/** A page with additional position information. */
export function pageWith(name: string, item: TSchema, more: Record<string, TSchema>): TSchema {
  const PageInfo = namedSchema(
    `${name}Info`,
    Closed({ ...pageInfo, ...more }, { description: 'Position of the page in its list.' }),
  );
  return namedSchema(name, Closed({ data: listOf(item), pageInfo: PageInfo }));
}

function listOf(item: TSchema): TSchema {
  return Type.Array(item, { description: 'Items of the page.' });
}

/** Sets the name of a schema in the OpenAPI document. */
export function namedSchema<S extends TSchema>(name: string, schema: S): S {
  return Object.assign(schema, { 'x-name': name });
}
