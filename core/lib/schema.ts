// Schema pieces that many resources share. A schema with `x-name` becomes a named component of the OpenAPI document.
import { Type, type Static, type TSchema } from 'typebox';
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
  return Type.Unsafe<Static<S> | null>({ anyOf: [schema, { type: 'null' }] });
}

/** An id of that prefix; null for the UUIDs of workspaces and teams. */
export function idOf(prefix: string | null, description?: string): ReturnType<typeof Type.String> {
  if (prefix === null) return uuid;
  return Type.String({
    pattern: patternOf(prefix),
    description: description ?? `An id with the prefix ${prefix}_.`,
  });
}

export const uuid = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
  description: 'A UUID in lower case.',
});

export const time = Type.String({ format: 'date-time', description: 'ISO 8601, UTC.' });
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

export const limitDefault = 50;
const limitMax = 100;

/** Of what callers give in a form that its schema cannot say: the types of the SDK say it. */
export const givenAs: unique symbol = Symbol('given as');
/**
 * Of a parameter whose text has parts, which host calls also take as plain values: names of fields, types of events and other words,
 * comma-separated; a filter. In bodies: a filter of a subscription, what types of events it is of.
 */
export type GivenAs = 'fields' | 'list' | 'eventPatterns' | 'json' | 'eventFilter' | 'eventPattern';

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

/** The page envelope (docs/spec/api.md › Lists). */
export function pageOf<S extends TSchema>(item: S, more: Record<string, TSchema> = {}): TSchema {
  return Closed({
    data: Type.Array(item),
    pageInfo: Closed({
      hasNextPage: Type.Boolean(),
      endCursor: nullable(Type.String({ description: 'Opaque cursor of the last item.' })),
      ...more,
    }),
  });
}

/** Gives a schema its name in the document. */
export function named<S extends TSchema>(name: string, schema: S): S {
  return Object.assign(schema, { 'x-name': name });
}
