// The fields that a resource can have. A field says once all there is to know of it: its shape and bounds, when it may be
// written, what it is without being written, whether lists filter by it. Whoever needs one of these facts reads it here.
import { Type, type Static, type TObject, type TSchema, type TString } from 'typebox';
import { date, idOf, nameOf, time as timeText } from '../lib/schema.ts';

export interface FieldOptions {
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
  /** It moves without an event and without a new version, so that the log may say an older value of it. */
  readonly unlogged?: true;
  /** What lists and subscriptions filter by: true for the value, else the property of the reference. */
  readonly filter?: true | string;
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

/** Words in one line or a few. Shown without its bounds: what was written under other bounds stays readable. */
export function text<const O extends FieldOptions>(
  options: O & { readonly max: number; readonly doc?: string; readonly pattern?: string },
): Field<'text', string, string, string, O> {
  if (options.pattern !== undefined && options.doc === undefined)
    throw new Error(`Say in \`doc\` what ${options.pattern} takes: people who break it are told that.`);
  const given = Type.String({
    ...(options.pattern === undefined ? { minLength: 1 } : {}),
    maxLength: options.max,
    pattern: options.pattern ?? '\\S',
    description: options.doc ?? 'Text that is not only white space.',
  });
  return { type: 'text', given, shown: Type.String(), options };
}

/** Text whose schema says all of its shape: a colour, a key, an id. Shown as it is given. */
export function string<const O extends FieldOptions>(
  schema: TSchema,
  options: O,
): Field<'text', string, string, string, O> {
  return { type: 'text', given: schema, shown: schema, options };
}

/** Text that people write at length, bounded in bytes or in characters. */
export function markdown<const O extends FieldOptions>(
  options: O & { readonly doc?: string } & ({ readonly bytesMax: number } | { readonly max: number }),
): Field<'markdown', string, string, string, O> {
  const schema = Type.String({
    ...(options.required ? { minLength: 1, pattern: '\\S' } : {}),
    maxLength: 'max' in options ? options.max : options.bytesMax,
    description: options.doc ?? 'Markdown.',
  });
  return { type: 'markdown', given: schema, shown: schema, options };
}

/**
 * One of a list of words, which filters compare in this order, the last one highest.
 * `aliases` are other spellings that requests may use: spelling → word.
 */
export function choice<const V extends readonly string[], const O extends ChoiceOptions>(
  values: V,
  options: O = {} as O,
): Field<'choice', V[number] | AliasOf<O>, V[number], V[number], O> {
  const described = options.doc === undefined ? {} : { description: options.doc };
  const given = Type.Enum([...values, ...Object.keys(options.aliases ?? {})], described);
  return { type: 'choice', given, shown: Type.Enum([...values], described), options };
}

interface ChoiceOptions extends FieldOptions {
  readonly doc?: string;
  readonly aliases?: Readonly<Record<string, string>>;
}
type AliasOf<O> = O extends { readonly aliases: infer A } ? keyof A & string : never;

export function number<const O extends FieldOptions>(
  bounds: { readonly minimum?: number; readonly maximum?: number; readonly integer?: true },
  options: O = {} as O,
): Field<'number', number, number, number, O> {
  const { integer, ...range } = bounds;
  const schema = integer ? Type.Integer(range) : Type.Number(range);
  return { type: 'number', given: schema, shown: schema, options };
}

export function flag<const O extends FieldOptions>(
  options: O = {} as O,
): Field<'flag', boolean, boolean, boolean, O> {
  return { type: 'flag', given: Type.Boolean(), shown: Type.Boolean(), options };
}

/** A day of the calendar, `2027-03-01`. */
export function day<const O extends FieldOptions>(
  options: O = {} as O,
): Field<'day', string, string, string, O> {
  return { type: 'day', given: date, shown: date, options };
}

/** A moment: ISO 8601 outside, milliseconds since the epoch in the row. */
export function time<const O extends FieldOptions>(
  options: O & { readonly doc?: string } = {} as O,
): Field<'time', string, string, number, O> {
  const given = Type.String({ maxLength: 40, description: options.doc ?? 'An ISO 8601 time.' });
  const shown = options.doc === undefined ? timeText : { ...timeText, description: options.doc };
  return { type: 'time', given, shown, options };
}

/** Any other shape, kept as JSON. @param shown where an answer shows it in another shape than requests give it */
export function json<const S extends TSchema, const O extends FieldOptions, const V extends TSchema = S>(
  given: S,
  options: O = {} as O,
  shown: V = given as TSchema as V,
): Field<'json', Static<S>, Static<V>, Static<S>, O> {
  return { type: 'json', given, shown, options };
}

/** What can be referred to: of its contract, what a reference reads. */
export interface Target {
  readonly name: string;
  /** Prefix of its ids; null for UUIDs. */
  readonly id: string | null;
  /** What people call its objects by, taken wherever their ids are. */
  readonly alias?: { readonly pattern: string; readonly doc: string };
  readonly directory?: { readonly as: string; readonly keeps: readonly string[] };
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
  const idAndName = Type.Object({ id: idOf(to.id), name: Type.String() }, { additionalProperties: false });
  return { type: 'reference', to, by: 'id', given: nameOf(to), shown: shown ?? idAndName, options };
}

/** Another object by a field that people know it by, such as the key of a team: written and shown as that. */
export function referenceBy<const T extends Target, const By extends string, const O extends FieldOptions>(
  to: T,
  by: By,
  schema: TSchema,
  options: O = {} as O,
): Reference<T, By, string, O> {
  const shown = Type.String({ description: `The ${to.name} ${by}.` });
  return { type: 'reference', to, by, given: schema, shown, options };
}

export interface ActorShown {
  kind: 'user' | 'plugin' | 'system';
  id: string;
  name: string;
}

/** Who did it, as they were named then; null until somebody did. Filtered by the id. */
export function actor<const O extends { readonly filter?: true; readonly nullable?: true }>(
  options: O = {} as O,
): Field<'actor', never, ActorShown, ActorShown, O & { readonly write: 'never' }> {
  const shown = Type.Object(
    { kind: Type.Enum(['user', 'plugin', 'system']), id: Type.String(), name: Type.String() },
    { additionalProperties: false },
  );
  return { type: 'actor', given: Type.Never(), shown, options: { ...options, write: 'never' } };
}
