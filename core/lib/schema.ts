// Schema pieces that many resources share. A schema with `x-name` becomes a named component of the OpenAPI document, and so does a
// list of words with `x-enum`.
import { Type, type Static, type TObject, type TSchema, type TString, type TUnsafe } from 'typebox';
import { patternOf } from './ids.ts';

/** An object that refuses what it does not name. */
export const Closed: typeof Type.Object = ((properties: Record<string, TSchema>, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options })) as typeof Type.Object;

/** A schema or null, as `type: [T, "null"]`, so that an error still names the rule that was broken. */
export function nullable<S extends TSchema>(schema: S): ReturnType<typeof Type.Unsafe<Static<S> | null>> {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] };
  if (values) return Type.Unsafe<Static<S> | null>({ ...schema, enum: [...values, null] });
  if (type !== undefined && type !== 'object' && type !== 'array')
    return Type.Unsafe<Static<S> | null>({ ...schema, type: [type, 'null'] });
  const { 'x-doc': doc, ...here } = schema as { description?: string; 'x-name'?: string; 'x-doc'?: string };
  // The words on this place are no part of what has the name.
  if (doc !== undefined)
    return Type.Unsafe<Static<S> | null>({ anyOf: [here, { type: 'null' }], description: doc });
  const { description, ...rest } = here;
  if (description === undefined || rest['x-name'] !== undefined)
    return Type.Unsafe<Static<S> | null>({ anyOf: [schema, { type: 'null' }] });
  return Type.Unsafe<Static<S> | null>({ anyOf: [rest, { type: 'null' }], description });
}

/** What to do about a value that breaks the schema, where its description says what the value is instead. */
export const rule: unique symbol = Symbol('rule');

/** The schema with the words that people are told who break it. */
export function ruled<S extends TSchema>(schema: S, words: string): S {
  return { ...schema, [rule]: words };
}

/**
 * The schema with words on what the value is in this place. Its own description follows them, and alone is what people are told who
 * break it.
 */
export function described<S extends TSchema>(schema: S, doc: string | undefined): S {
  if (!doc) return schema;
  const { description, 'x-name': name } = schema as { description?: string; 'x-name'?: string };
  if (name !== undefined) return { ...schema, 'x-doc': doc };
  if (description === undefined) return { ...schema, description: doc };
  return { ...schema, description: `${doc} ${description}`, [rule]: description };
}

/** One of a list of words, which has a name of its own in the document: everything that is one of them refers to it. */
export function enumeration<const V extends readonly string[]>(
  name: string,
  values: V,
  description?: string,
): TUnsafe<V[number]> {
  return Type.Unsafe(
    Type.Enum([...values], { 'x-enum': name, ...(description === undefined ? {} : { description }) }),
  );
}

/** How another object is shown where it is referred to. */
export function idAndName<S extends TSchema>(id: S, of = 'it'): TObject<{ id: S; name: TString }> {
  return Closed({ id, name: Type.String({ description: `What ${of} is called.` }) });
}

/** An id of that prefix; null for the UUIDs of workspaces and teams. */
export function idOf(prefix: string | null, description?: string): ReturnType<typeof Type.String> {
  if (prefix === null) return uuid;
  return Type.String({
    pattern: patternOf(prefix),
    description: description ?? `An id with the prefix ${prefix}_.`,
  });
}

const uuidPattern = '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$';

/** What such an id looks like. */
export function idPattern(prefix: string | null): string {
  return prefix === null ? uuidPattern : patternOf(prefix);
}

/** What people call an object by, taken wherever its id is. */
export interface CalledBy {
  readonly pattern: string;
  /** What it is, as the end of a sentence. */
  readonly doc: string;
  /** Where that is a field which no two of them share: its name. Kept in upper case, taken in any. */
  readonly field?: string;
  /** Where it means whoever asks. */
  readonly isCaller?: true;
}

/** Of a place where `me` stands for the member who asks. */
export const takesMe: unique symbol = Symbol('takes me');

/** Key of the contract of an object, in the schema of a place that takes its id or name. */
export const refersTo: unique symbol = Symbol('refers to');
/** Key of the canonical property name, in the schema of a property that is another spelling of it. */
export const alsoCalled: unique symbol = Symbol('also called');

/** What names an object: its id, or beside it what people call it by. */
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

export const time = Type.String({ format: 'date-time', description: 'ISO 8601, UTC.' });
/** As it is given; `readTime` reads it. */
export const givenTime = Type.String({ maxLength: 40, description: 'An ISO 8601 time.' });
export const date = Type.String({
  pattern: '^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])$',
  description: 'A day as YYYY-MM-DD.',
});
export const version = Type.Integer({
  minimum: 1,
  description: 'Counts the changes of the object; compared by If-Match.',
});

/** Required text: not only white space. */
export function text(maxLength: number, description?: string): ReturnType<typeof Type.String> {
  return Type.String({
    minLength: 1,
    maxLength,
    pattern: '\\S',
    description: description ?? 'Text that is not only white space.',
  });
}

/** Marks titles and names: the text in a request is normalized to one line of visible characters without white space around it. */
export const oneLine: unique symbol = Symbol('one line');

/** Required text in one line: a title or a name. */
export function line(maxLength: number, description?: string): ReturnType<typeof Type.String> {
  const mark = { [oneLine]: true };
  return { ...text(maxLength, description), ...mark };
}

export const limitDefault = 50;
const limitMax = 100;

/** Of what callers give in a form that its schema cannot say: the types of the SDK say it. */
export const givenAs: unique symbol = Symbol('given as');
/**
 * Of a parameter whose text has parts, which host calls also take as plain values: names of fields, types of events and other words,
 * comma-separated; a filter of issues. In bodies: a filter of issues, a filter of a subscription, what types of events that is of.
 */
export type GivenAs =
  'fields' | 'list' | 'eventPatterns' | 'json' | 'issueFilter' | 'eventFilter' | 'eventPattern';

/**
 * Of a property of a body: the fields that it writes, where that is not the one of its name; `inside` where the properties of its own
 * value are fields. By it rights are narrowed to fields.
 */
export const writes: unique symbol = Symbol('writes');
export type Writes = readonly string[] | 'inside';

/** The parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: limitMax,
      default: limitDefault,
      description: 'Items a page. Of long items a page holds fewer: it ends after the one that passes 2 MiB.',
    }),
  ),
  after: Type.Optional(Type.String({ maxLength: 2000, description: 'The `endCursor` of the page before.' })),
  cursor: Type.Optional(Type.String({ maxLength: 2000, description: 'Another name for `after`.' })),
};

const pageInfo = {
  hasNextPage: Type.Boolean({ description: 'True when more items follow.' }),
  endCursor: nullable(
    Type.String({ description: 'Opaque cursor of the last item, for `after`; null for an empty page.' }),
  ),
};

/** The page envelope (docs/spec/api.md › Lists). @param item a schema that has a name, which the page is named after */
export function pageOf(item: TSchema): TSchema {
  const { 'x-name': name } = item as { 'x-name'?: string };
  const PageInfo = named('PageInfo', Closed(pageInfo, { description: 'Where a page stands in its list.' }));
  const page = Closed({ data: listOf(item), pageInfo: PageInfo });
  return name === undefined ? page : named(`${name}Page`, page);
}

/** A page that says more of where it stands. */
export function pageWith(name: string, item: TSchema, more: Record<string, TSchema>): TSchema {
  const PageInfo = named(
    `${name}Info`,
    Closed({ ...pageInfo, ...more }, { description: 'Where the page stands in its list.' }),
  );
  return named(name, Closed({ data: listOf(item), pageInfo: PageInfo }));
}

function listOf(item: TSchema): TSchema {
  return Type.Array(item, { description: 'The items of the page.' });
}

/** Gives a schema its name in the document. */
export function named<S extends TSchema>(name: string, schema: S): S {
  return Object.assign(schema, { 'x-name': name });
}
