// Validates the settings schema of a manifest. The schema is untrusted, so only a small, flat subset of JSON Schema without patterns and
// references is allowed: validation by it can neither hang nor load other documents.
import { Type, type TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { schemaWords } from '../../../../../sdk/plugin/schema-words.ts';
import { invalidField } from '../../../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../../../platform/lib/text/words.ts';

const depthMax = 4;
const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/** A settings schema that passed `checkSettingsSchema`. */
export type SettingsSchema = TSchema & {
  readonly properties?: Readonly<Record<string, { readonly default?: unknown }>>;
};

interface Keyword {
  takes(value: unknown): boolean;
  /** Instruction for an invalid value. */
  readonly fix: string;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

const anything: Keyword = { takes: () => true, fix: '' };
const text: Keyword = { takes: (value) => typeof value === 'string', fix: 'Use a string.' };
const bound: Keyword = { takes: Number.isFinite, fix: 'Use a number.' };
const count: Keyword = { takes: isCount, fix: 'Use an integer of at least 0.' };
const schema: Keyword = {
  takes: (value) => typeof value === 'boolean' || isObject(value),
  fix: 'Use a schema or a boolean.',
};

const keywords: Readonly<Record<string, Keyword>> = {
  type: {
    takes: (value) => (Array.isArray(value) ? value.length > 0 && value.every(isType) : isType(value)),
    fix: `Use one of ${types.join(', ')}, or an array of them.`,
  },
  enum: {
    takes: (value) => Array.isArray(value) && value.length > 0,
    fix: 'Use a non-empty array of the allowed values.',
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
  uniqueItems: { takes: (value) => typeof value === 'boolean', fix: 'Use true or false.' },
  properties: { takes: isObject, fix: 'Use an object that maps each setting name to its schema.' },
  required: {
    takes: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
    fix: 'Use an array of names next to `properties`, such as ["greeting"].',
  },
  additionalProperties: schema,
};

function isType(value: unknown): boolean {
  return types.some((type) => type === value);
}

/** Checks the `settings` schema of a manifest. @throws ApiError validation_failed with the path in the package */
export function checkSettingsSchema(candidate: unknown, path = 'package.manifest.settings'): void {
  if (candidate === undefined) return;
  checkSchema(candidate, path, 0);
  const { type = 'object' } = candidate as { type?: unknown };
  if (type !== 'object')
    throw invalidField(`${path}.type`, 'invalid_enum', 'Use "object", because settings have names.');
}

function checkSchema(candidate: unknown, path: string, depth: number): void {
  if (typeof candidate === 'boolean' && depth > 0) return;
  if (!isObject(candidate)) throw invalidField(path, 'invalid_type', 'Use an object as the settings schema.');
  if (depth > depthMax) throw invalidField(path, 'too_big', `Nest settings at most ${depthMax} levels.`);
  for (const [name, value] of Object.entries(candidate)) checkKeyword(name, value, `${path}.${name}`);
  for (const [name, inner] of Object.entries(candidate.properties ?? {}))
    checkSchema(inner, `${path}.properties.${name}`, depth + 1);
  for (const name of ['items', 'additionalProperties'])
    if (candidate[name] !== undefined) checkSchema(candidate[name], `${path}.${name}`, depth + 1);
  if (candidate.default !== undefined) checkDefault(candidate, candidate.default, `${path}.default`);
}

function checkKeyword(name: string, value: unknown, path: string): void {
  const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
  if (!keyword)
    throw invalidField(path, 'unknown_field', {
      why: 'Settings schemas cannot use this keyword.',
      fix: `Remove it, or use ${Object.keys(keywords).join(', ')}.`,
    });
  if (keyword.takes(value)) return;
  const near = name === 'type' && typeof value === 'string' ? didYouMean(value, types) : '';
  throw invalidField(path, 'invalid_type', {
    why: `The value of ${name} is invalid.`,
    fix: `${keyword.fix}${near}`,
  });
}

/** The schema is not compiled, because a default is checked only once. */
function checkDefault(candidate: TSchema, value: unknown, path: string): void {
  const setting = Type.Unsafe(candidate);
  if (Check(setting, value)) return;
  const error = Errors(setting, value).find(({ keyword }) => keyword !== 'boolean');
  const inside = (error?.instancePath ?? '').replaceAll('/', '.');
  throw invalidField(path, 'invalid_format', {
    why: `The default does not match its own schema: ${inside === '' ? 'the value' : inside.slice(1)} ${error ? schemaWords(error) : 'is invalid'}.`,
    fix: 'Use another default, or correct the schema.',
  });
}
