// The fields that a resource can have. A field says once all there is to know of it: its shape and bounds, when it may be
// written, what it is without being written, whether lists filter by it. Whoever needs one of these facts reads it here.
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
} from '../lib/schema.ts';
import { capital } from '../lib/words.ts';

export interface FieldOptions {
  /** What it is, in a sentence, for the document and the types of the SDK. */
  readonly doc?: string;
  /** A creation must give it. */
  readonly required?: true;
  /** It may be null, and is without a default. */
  readonly nullable?: true;
  /** Its value where a creation leaves it out. */
  readonly default?: unknown;
  /** When callers may give it; absent: at creation and by updates. */
  readonly write?: 'create' | 'update' | 'never';
  /** Made when the object is shown; no column holds it. */
  readonly computed?: true;
  /** Of Markdown: whoever reads the object can ask for it as HTML, as `<name>Html`. */
  readonly html?: true;
  /** The log may say another value of it: it moves without an event and a new version, or events do not tell it. */
  readonly unlogged?: true;
  /**
   * What lists filter by: true for the value, else the property of the reference. Subscriptions to its events filter by it in any case,
   * unless the log may say another value (`unlogged`); false: not even they.
   */
  readonly filter?: boolean | string;
  /** Lists sort by it. */
  readonly sort?: true;
  /** The first version of the API that has it: `2026-12-01`. */
  readonly since?: string;
}

/** How a value is checked, kept and shown. */
export type FieldType =
  'text' | 'markdown' | 'choice' | 'number' | 'flag' | 'day' | 'time' | 'json' | 'reference' | 'actor';

/** `Given`, `Shown` and `Kept` are the types of its value in requests, in answers and in the row, null left out. */
export interface Field<
  T extends FieldType = FieldType,
  Given = unknown,
  Shown = Given,
  Kept = Given,
  O extends FieldOptions = FieldOptions,
> {
  readonly type: T;
  readonly given: TSchema;
  readonly shown: TSchema;
  readonly options: O;
  /** Phantom: the three types. */
  readonly types?: { readonly given: Given; readonly shown: Shown; readonly kept: Kept };
}

/**
 * Words in one line: line breaks in a request become spaces, and unseen characters and white space around it are left out. `asGiven` stores what is sent. Shown without its bounds: what was written under other bounds stays readable.
 */
export function text<const O extends FieldOptions>(
  options: O & { readonly max: number; readonly pattern?: string; readonly asGiven?: true },
): Field<'text', string, string, string, O> {
  if (options.pattern !== undefined && options.doc === undefined)
    throw new Error(`Say in \`doc\` what ${options.pattern} takes: people who break it are told that.`);
  const { doc = '', max: maxLength, pattern, asGiven } = options;
  const given =
    pattern === undefined
      ? described(asGiven ? textOf(maxLength) : line(maxLength), doc)
      : Type.String({ maxLength, pattern, description: doc });
  return { type: 'text', given, shown: described(Type.String(), doc), options };
}

/** Text whose schema says all of its shape: a colour, a key, an id. Shown as it is given. */
export function string<const O extends FieldOptions>(
  schema: TSchema,
  options: O,
): Field<'text', string, string, string, O> {
  const both = described(schema, options.doc);
  return { type: 'text', given: both, shown: both, options };
}

/** Text that people write at length, bounded in bytes or in characters. Shown without its bounds: a deleted text is empty. */
export function markdown<const O extends FieldOptions>(
  options: O & ({ readonly bytesMax: number } | { readonly max: number }),
): Field<'markdown', string, string, string, O> {
  const maxLength = 'max' in options ? options.max : options.bytesMax;
  const plain = Type.String({
    ...(options.required ? { minLength: 1, pattern: '\\S' } : {}),
    maxLength,
    description: `Markdown, up to ${'max' in options ? `${maxLength} characters` : `${maxLength / 1024} KiB`}.`,
  });
  const given = ruled(described(plain, options.doc), 'Text that is not only white space.');
  const shown = described(Type.String({ description: 'Markdown.' }), options.doc);
  return { type: 'markdown', given, shown, options };
}

/**
 * One of a list of words, which filters compare in this order, the last one highest.
 * `aliases` are other spellings that requests may use: spelling → word.
 */
export function choice<const V extends readonly string[], const O extends ChoiceOptions>(
  values: V,
  options: O = {} as O,
): Field<'choice', V[number] | AliasOf<O>, V[number], V[number], O> {
  const given = Type.Enum([...values, ...Object.keys(options.aliases ?? {})]);
  const shown = Type.Enum([...values]);
  const { doc } = options;
  return { type: 'choice', given: described(given, doc), shown: described(shown, doc), options };
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
  return { type: 'number', given: schema, shown: schema, options };
}

export function flag<const O extends FieldOptions>(
  options: O = {} as O,
): Field<'flag', boolean, boolean, boolean, O> {
  const schema = described(Type.Boolean(), options.doc);
  return { type: 'flag', given: schema, shown: schema, options };
}

/** A day of the calendar, `2027-03-01`. */
export function day<const O extends FieldOptions>(
  options: O = {} as O,
): Field<'day', string, string, string, O> {
  const schema = described(date, options.doc);
  return { type: 'day', given: schema, shown: schema, options };
}

/** A moment: ISO 8601 outside, milliseconds since the epoch in the row. */
export function time<const O extends FieldOptions>(
  options: O = {} as O,
): Field<'time', string, string, number, O> {
  const given = Type.String({ maxLength: 40, description: 'An ISO 8601 time.' });
  return {
    type: 'time',
    given: described(given, options.doc),
    shown: described(timeText, options.doc),
    options,
  };
}

/** Any other shape, kept as JSON. @param shown where an answer shows it in another shape than requests give it */
export function json<const S extends TSchema, const O extends FieldOptions, const V extends TSchema = S>(
  given: S,
  options: O = {} as O,
  shown: V = given as TSchema as V,
): Field<'json', Static<S>, Static<V>, Static<S>, O> {
  return {
    type: 'json',
    given: described(given, options.doc),
    shown: described(shown, options.doc),
    options,
  };
}

/** What can be referred to: of its contract, what a reference reads. */
export interface Target {
  readonly name: string;
  /** Prefix of its ids; null for UUIDs. */
  readonly id: string | null;
  readonly alias?: CalledBy;
  readonly names?: Names;
  readonly path?: string;
  readonly scope?: string;
  readonly directory?: { readonly as: string; readonly keeps: readonly string[] };
}

/** Names by which request bodies refer to an object in place of its id. */
interface Names {
  /** Fields, those that go first before the others: what matches one of them is not looked for in the next. */
  readonly by: readonly string[];
  /** Object within which a name is looked for, so that only the operation can resolve it. Absent: the workspace. */
  readonly within?: 'team' | 'project';
}

const wordOf: Readonly<Record<string, string>> = { email: 'e-mail address' };

/** Schema of a place in a request body that refers to an object: takes its id, its alias or one of its names. */
export function idOrName(to: Target): ReturnType<typeof Type.String> {
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

export interface Reference<T extends Target, By extends string, Shown, O extends FieldOptions> extends Field<
  'reference',
  string,
  Shown,
  string,
  O
> {
  readonly to: T;
  /** What it is written by: `id`, or a field that people know the object by. */
  readonly by: By;
}

/**
 * Another object by its id: written as `<name>Id`, shown under the field's name.
 * @param shown what of it is shown: its id, and fields that the directory holds; absent: its name
 */
export function reference<
  const T extends Target,
  const O extends FieldOptions,
  S extends TSchema = TObject<{ id: TString; name: TString }>,
>(to: T, options: O = {} as O, shown?: S): Reference<T, 'id', Static<S>, O> {
  const given = idOrName(to);
  const { doc } = options;
  return {
    type: 'reference',
    to,
    by: 'id',
    given: described(given, doc),
    shown: described(shown ?? idAndName(idOf(to.id)), doc),
    options,
  };
}

/** Another object by a field that people know it by, such as the key of a team: written and shown as that. */
export function referenceBy<const T extends Target, const By extends string, const O extends FieldOptions>(
  to: T,
  by: By,
  options: O = {} as O,
): Reference<T, By, string, O> {
  const { doc = `The ${to.name} ${by}.` } = options;
  const shown = described(Type.String(), doc);
  return { type: 'reference', to, by, given: described(idOrName(to), options.doc), shown, options };
}

export interface ActorShown {
  kind: 'user' | 'plugin' | 'system';
  id: string;
  name: string;
}

/** Who did it, as they were named then; null until somebody did. Filtered by the id. */
export function actor<
  const O extends { readonly filter?: true; readonly nullable?: true; readonly doc?: string },
>(options: O = {} as O): Field<'actor', never, ActorShown, ActorShown, O & { readonly write: 'never' }> {
  const shown = Closed({
    kind: enumeration('AuthorKind', ['user', 'plugin', 'system'], 'What kind of author it is.'),
    id: Type.String({ description: 'The id of the member or plugin install.' }),
    name: Type.String({ description: 'The name they had then.' }),
  });
  return {
    type: 'actor',
    given: Type.Never(),
    shown: described(shown, options.doc),
    options: { ...options, write: 'never' },
  };
}
