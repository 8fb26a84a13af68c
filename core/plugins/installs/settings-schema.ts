// The schema by which a manifest describes its settings. It is a stranger's: only a small, flat part of JSON Schema is taken, without
// patterns and references, so that checking by it can neither hang nor reach elsewhere.
import { Type, type TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { schemaWords } from '../../../sdk/plugin/schema-words.ts';
import { invalidField } from '../../lib/errors.ts';
import { didYouMean } from '../../lib/nearest.ts';

const depthMax = 4;
const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/** A settings schema that `checkSettingsSchema` has let through. */
export type SettingsSchema = TSchema & {
  readonly properties?: Readonly<Record<string, { readonly default?: unknown }>>;
};

interface Keyword {
  takes(value: unknown): boolean;
  /** What to give where it takes a value not. */
  readonly fix: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const anything: Keyword = { takes: () => true, fix: '' };
const text: Keyword = { takes: (value) => typeof value === 'string', fix: 'Give a string.' };
const bound: Keyword = { takes: Number.isFinite, fix: 'Give a number.' };
const count: Keyword = { takes: isCount, fix: 'Give a whole number from 0 on.' };
const schema: Keyword = {
  takes: (value) => typeof value === 'boolean' || isObject(value),
  fix: 'Give a schema, or true or false.',
};

const keywords: Readonly<Record<string, Keyword>> = {
  type: {
    takes: (value) => (Array.isArray(value) ? value.length > 0 && value.every(isType) : isType(value)),
    fix: `Give one of ${types.join(', ')}, or a list of them.`,
  },
  enum: {
    takes: (value) => Array.isArray(value) && value.length > 0,
    fix: 'Give a list of the values that it takes.',
  },
  const: anything,
  default: anything,
  title: text,
  description: text,
  minimum: bound,
  maximum: bound,
  minLength: count,
  maxLength: count,
  items: schema,
  minItems: count,
  maxItems: count,
  uniqueItems: { takes: (value) => typeof value === 'boolean', fix: 'Give true or false.' },
  properties: { takes: isObject, fix: 'Give an object: a schema for each setting by its name.' },
  required: {
    takes: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
    fix: 'Give a list of names, beside `properties`: ["greeting"].',
  },
  additionalProperties: schema,
};

function isType(value: unknown): boolean {
  return types.some((type) => type === value);
}

/** Of the `settings` of a manifest, before any are given. @throws ApiError validation_failed, naming the place in the package */
export function checkSettingsSchema(given: unknown, path = 'package.manifest.settings'): void {
  if (given === undefined) return;
  checkSchema(given, path, 0);
  const { type = 'object' } = given as { type?: unknown };
  if (type !== 'object')
    throw invalidField(`${path}.type`, 'invalid_enum', 'Give "object": settings have names.');
}

function checkSchema(given: unknown, path: string, depth: number): void {
  if (typeof given === 'boolean' && depth > 0) return;
  if (!isObject(given)) throw invalidField(path, 'invalid_type', 'Give an object: a settings schema is one.');
  if (depth > depthMax) throw invalidField(path, 'too_big', `Nest settings at most ${depthMax} levels.`);
  for (const [name, value] of Object.entries(given)) checkKeyword(name, value, `${path}.${name}`);
  for (const [name, inner] of Object.entries(given.properties ?? {}))
    checkSchema(inner, `${path}.properties.${name}`, depth + 1);
  for (const name of ['items', 'additionalProperties'])
    if (given[name] !== undefined) checkSchema(given[name], `${path}.${name}`, depth + 1);
  if (given.default !== undefined) checkDefault(given, given.default, `${path}.default`);
}

function checkKeyword(name: string, value: unknown, path: string): void {
  const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
  if (!keyword)
    throw invalidField(path, 'unknown_field', {
      why: 'Settings schemas cannot use this keyword.',
      fix: `Leave it out, or use ${Object.keys(keywords).join(', ')}.`,
    });
  if (keyword.takes(value)) return;
  const near = name === 'type' && typeof value === 'string' ? didYouMean(value, types) : '';
  throw invalidField(path, 'invalid_type', {
    why: `This is not what ${name} takes.`,
    fix: `${keyword.fix}${near}`,
  });
}

/** Compiled it would be checked faster, once; but this is done once. */
function checkDefault(given: TSchema, value: unknown, path: string): void {
  const setting = Type.Unsafe(given);
  if (Check(setting, value)) return;
  const error = Errors(setting, value).find(({ keyword }) => keyword !== 'boolean');
  const inside = (error?.instancePath ?? '').replaceAll('/', '.');
  throw invalidField(path, 'invalid_format', {
    why: `The default does not fit its own setting: ${inside === '' ? 'it' : inside.slice(1)} ${error ? schemaWords(error) : 'is another value'}.`,
    fix: 'Give another default, or mend the schema beside it.',
  });
}
