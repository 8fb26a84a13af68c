// Field types of resources. Schemas, storage, filters and documents are derived from the fields.
import { Type, type Static, type TObject, type TSchema, type TString } from 'typebox';
import {
  Closed,
  date,
  described,
  enumeration,
  idAndName,
  idOf,
  line,
  nameOf,
  refersTo,
  ruled,
  text as textOf,
  time as timeText,
  type CalledBy,
} from '../../platform/lib/schema.ts';
import { capital } from '../../platform/lib/text/words.ts';

export interface FieldOptions {
  /** Description in the OpenAPI document and in the types of the SDK. */
  readonly doc?: string;
  /** Required in a creation. */
  readonly required?: true;
  /** May be null. Null is then the value if a creation omits the field and there is no default. */
  readonly nullable?: true;
  /** Value if a creation omits the field. */
  readonly default?: unknown;
  /** Operations that may set the field; default: creation and update. */
  readonly write?: 'create' | 'update' | 'never';
  /** Computed for the response; no column stores it. */
  readonly computed?: true;
  /** True for the URL of the object's page, which follows from the path of the contract and the id. */
  readonly isPage?: true;
  /** For Markdown: `<name>Html` is available on request. */
  readonly html?: true;
  /**
   * True if the event log may have another value than the row, because the field changes without an event, or
   * events omit it.
   */
  readonly unlogged?: true;
  /**
   * List filter: true to filter by the value, or the name of a property of the reference. Event subscriptions
   * can filter by every field, except `unlogged` ones and those with `filter: false`.
   */
  readonly filter?: boolean | string;
  /** True if lists can be sorted by the field. */
  readonly sort?: true;
  /** First API version with the field, such as `2026-12-01`. */
  readonly since?: string;
}

export type FieldType =
  'text' | 'markdown' | 'choice' | 'number' | 'flag' | 'day' | 'time' | 'json' | 'reference' | 'actor';

/** The type parameters are the types of a value in requests, in responses and in the row, without null. */
export interface Field<
  T extends FieldType = FieldType,
  RequestValue = unknown,
  ResponseValue = RequestValue,
  StoredValue = RequestValue,
  O extends FieldOptions = FieldOptions,
> {
  readonly type: T;
  readonly input: TSchema;
  readonly response: TSchema;
  readonly options: O;
  /** Carries the type parameters; absent at run time. */
  readonly types?: {
    readonly input: RequestValue;
    readonly response: ResponseValue;
    readonly stored: StoredValue;
  };
}

/**
 * Single-line text: in requests, line breaks become spaces, and invisible characters and surrounding white
 * space are removed. `isVerbatim` stores the text unchanged. The response schema has no bounds, so that texts
 * written under earlier bounds stay valid.
 */
export function text<const O extends FieldOptions>(
  options: O & { readonly max: number; readonly pattern?: string; readonly isVerbatim?: true },
): Field<'text', string, string, string, O> {
  if (options.pattern !== undefined && options.doc === undefined)
    throw new Error(`Describe in \`doc\` what ${options.pattern} accepts: it is the text of the error.`);
  const { doc = '', max: maxLength, pattern, isVerbatim } = options;
  const input =
    pattern === undefined
      ? described(isVerbatim ? textOf(maxLength) : line(maxLength), doc)
      : Type.String({ maxLength, pattern, description: doc });
  return { type: 'text', input, response: described(Type.String(), doc), options };
}

/** Text in a format that `schema` defines, such as a color, a key or an id. */
export function string<const O extends FieldOptions>(
  schema: TSchema,
  options: O,
): Field<'text', string, string, string, O> {
  const both = described(schema, options.doc);
  return { type: 'text', input: both, response: both, options };
}

/** URL of the page of an object. @param noun words for the object, such as `board` */
export function pageUrl(noun: string): Field<'text', string, string, string, typeof pageOptions> {
  const both = Type.String({ format: 'uri', description: `URL of the page of the ${noun}.` });
  return { type: 'text', input: both, response: both, options: pageOptions };
}

const pageOptions = { write: 'never', computed: true, isPage: true, filter: false } as const;

/**
 * Long text, bounded in bytes or characters. The response schema has no bounds, because a deleted text is
 * empty.
 */
export function markdown<const O extends FieldOptions>(
  options: O & ({ readonly bytesMax: number } | { readonly max: number }),
): Field<'markdown', string, string, string, O> {
  const maxLength = 'max' in options ? options.max : options.bytesMax;
  const plain = Type.String({
    ...(options.required ? { minLength: 1, pattern: '\\S' } : {}),
    maxLength,
    description: `Markdown, up to ${'max' in options ? `${maxLength} characters` : `${maxLength / 1024} KiB`}.`,
  });
  const input = ruled(described(plain, options.doc), 'Non-blank text.');
  const response = described(Type.String({ description: 'Markdown.' }), options.doc);
  return { type: 'markdown', input, response, options };
}

/**
 * One value of an enumeration. Filters compare values in the order of the list, lowest first. `aliases` maps
 * other spellings in requests to values.
 */
export function choice<const V extends readonly string[], const O extends ChoiceOptions>(
  values: V,
  options: O = {} as O,
): Field<'choice', V[number] | AliasOf<O>, V[number], V[number], O> {
  const input = Type.Enum([...values, ...Object.keys(options.aliases ?? {})]);
  const response = Type.Enum([...values]);
  const { doc } = options;
  return { type: 'choice', input: described(input, doc), response: described(response, doc), options };
}

interface ChoiceOptions extends FieldOptions {
  readonly aliases?: Readonly<Record<string, string>>;
}
type AliasOf<O> = O extends { readonly aliases: infer A } ? keyof A & string : never;

export function number<const O extends FieldOptions>(
  bounds: { readonly minimum?: number; readonly maximum?: number; readonly integer?: true },
  options: O = {} as O,
): Field<'number', number, number, number, O> {
  const { integer, ...range } = bounds;
  const schema = described(integer ? Type.Integer(range) : Type.Number(range), options.doc);
  return { type: 'number', input: schema, response: schema, options };
}

export function flag<const O extends FieldOptions>(
  options: O = {} as O,
): Field<'flag', boolean, boolean, boolean, O> {
  const schema = described(Type.Boolean(), options.doc);
  return { type: 'flag', input: schema, response: schema, options };
}

/** Date such as `2027-03-01`. */
export function day<const O extends FieldOptions>(
  options: O = {} as O,
): Field<'day', string, string, string, O> {
  const schema = described(date, options.doc);
  return { type: 'day', input: schema, response: schema, options };
}

/** Time: ISO 8601 in the API, milliseconds since the epoch in the row. */
export function time<const O extends FieldOptions>(
  options: O = {} as O,
): Field<'time', string, string, number, O> {
  const input = Type.String({ maxLength: 40, description: 'An ISO 8601 time.' });
  return {
    type: 'time',
    input: described(input, options.doc),
    response: described(timeText, options.doc),
    options,
  };
}

/**
 * Any other value, stored as JSON.
 * @param response schema in responses, if it differs from the schema in requests
 */
export function json<const S extends TSchema, const O extends FieldOptions, const V extends TSchema = S>(
  input: S,
  options: O = {} as O,
  response: V = input as TSchema as V,
): Field<'json', Static<S>, Static<V>, Static<S>, O> {
  return {
    type: 'json',
    input: described(input, options.doc),
    response: described(response, options.doc),
    options,
  };
}

/** Properties of a contract that references to its objects need. */
export interface ReferenceTarget {
  readonly name: string;
  /** Prefix of the ids; null for UUIDs. */
  readonly id: string | null;
  readonly alias?: CalledBy;
  readonly names?: Names;
  readonly path?: string;
  readonly scope?: string;
  readonly directory?: { readonly as: string; readonly entryFields: readonly string[] };
}

/** Names that may stand for the id of an object in request bodies. */
interface Names {
  /** Unique fields in order of precedence: a name that matches one is not looked up in the next. */
  readonly by: readonly string[];
  /**
   * Parent within which the names are unique, so that only the operation can resolve them. Default: the
   * workspace.
   */
  readonly within?: 'team' | 'project';
}

const wordOf: Readonly<Record<string, string>> = { email: 'e-mail address' };

/** Returns the schema of a reference in a request body: an id, an alias or a name. */
export function idOrName(to: ReferenceTarget): ReturnType<typeof Type.String> {
  if (!to.names) return nameOf(to);
  const words = ['id', ...to.names.by.map((name) => wordOf[name] ?? name)];
  const listed = `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
  return Type.String({
    minLength: 1,
    maxLength: 254,
    description: `${capital(listed)} of a ${to.name}${to.alias?.isCaller ? ', or `me`' : ''}.`,
    [refersTo]: to,
  });
}

export interface Reference<
  T extends ReferenceTarget,
  By extends string,
  ResponseValue,
  O extends FieldOptions,
> extends Field<'reference', string, ResponseValue, string, O> {
  readonly to: T;
  /** Property of the other object in requests: `id`, or a unique field. */
  readonly by: By;
}

/**
 * Reference to another object by id: `<name>Id` in requests, `<name>` in responses.
 * @param response schema of the reference in responses: the id and further fields of the directory entry;
 * default `id` and `name`
 */
export function reference<
  const T extends ReferenceTarget,
  const O extends FieldOptions,
  S extends TSchema = TObject<{ id: TString; name: TString }>,
>(to: T, options: O = {} as O, response?: S): Reference<T, 'id', Static<S>, O> {
  const input = idOrName(to);
  const { doc } = options;
  return {
    type: 'reference',
    to,
    by: 'id',
    input: described(input, doc),
    response: described(response ?? idAndName(idOf(to.id)), doc),
    options,
  };
}

/** Reference to another object by a unique field, such as the key of a team, in requests and responses. */
export function referenceBy<
  const T extends ReferenceTarget,
  const By extends string,
  const O extends FieldOptions,
>(to: T, by: By, options: O = {} as O): Reference<T, By, string, O> {
  const { doc = `${capital(by)} of the ${to.name}.` } = options;
  const response = described(Type.String(), doc);
  return { type: 'reference', to, by, input: described(idOrName(to), options.doc), response, options };
}

export interface AuthorResponse {
  kind: 'user' | 'plugin' | 'system';
  id: string;
  name: string;
}

/**
 * Author of an action, with the author's name at the time of the action; null until the action. Filters
 * compare the id.
 */
export function actor<
  const O extends { readonly filter?: true; readonly nullable?: true; readonly doc?: string },
>(
  options: O = {} as O,
): Field<'actor', never, AuthorResponse, AuthorResponse, O & { readonly write: 'never' }> {
  const response = Closed({
    kind: enumeration('AuthorKind', ['user', 'plugin', 'system'], 'Type of the author.'),
    id: Type.String({ description: 'Id of the member or plugin install.' }),
    name: Type.String({ description: 'Name of the author at that time.' }),
  });
  return {
    type: 'actor',
    input: Type.Never(),
    response: described(response, options.doc),
    options: { ...options, write: 'never' },
  };
}
