// Validates settings, and the settings schema of a manifest. The schema is untrusted, so only a small, flat
// subset of JSON Schema without patterns and references is allowed: validation by it can neither hang nor
// load other documents. Only explicit values are stored; defaults are added on every read, so that the
// defaults of a new version apply to unset settings.
import { Type, type TSchema } from 'typebox';
import { Check, Errors } from 'typebox/value';
import { schemaWords, type SchemaError } from '../../../../sdk/plugin/schema-words.ts';
import { invalidField, ApiError } from '../../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { Compile } from 'typebox/compile';
import type { PluginManifest } from '../../../../sdk/plugin/manifest.ts';
import { Closed, enumeration, namedSchema, nullable } from '../../../platform/lib/schema.ts';

const depthMax = 4;
const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/** A settings schema that passed `checkSettingsSchema`. */
type SettingsSchema = TSchema & {
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

/** Origin of the checked values: their path in the body, and the type of their owner. */
interface Whose {
  readonly at: string;
  readonly whose: 'plugin' | 'action';
}

const ofSettings: Whose = { at: 'settings', whose: 'plugin' };

type Settings = Readonly<Record<string, unknown>>;

/** Install whose settings are read. */
interface InstallSettings {
  readonly manifest: PluginManifest;
  readonly settings: Settings;
}

/** @throws ApiError validation_failed with the first invalid setting */
export function checkSettings({ settings: schema }: PluginManifest, input: Settings): void {
  if (schema === undefined) {
    const [unknown] = Object.keys(input);
    if (unknown !== undefined) throw invalid([unknownValue(unknown, [], ofSettings)]);
    return;
  }
  const known = schema as SettingsSchema;
  checkValues(known, withDefaults(known, input), ofSettings);
}

/**
 * Returns the input of an action with its defaults.
 * @throws ApiError validation_failed with each invalid value
 */
export function inputOfAction(action: { readonly input?: unknown }, given: Settings = {}): Settings {
  const schema = (action.input ?? { type: 'object', additionalProperties: false }) as SettingsSchema;
  const input = withDefaults(schema, given);
  checkValues(schema, input, { at: 'input', whose: 'action' });
  return input;
}

/** Checks values that include their defaults. @throws ApiError validation_failed with each invalid value */
function checkValues(schema: SettingsSchema, values: Settings, of: Whose): void {
  const validator = Compile(Type.Unsafe<Settings>({ ...schema, type: 'object' }));
  if (!validator.Check(values)) throw refusal(schema, validator.Errors(values), of);
}

/** Returns the settings for runs and responses, with the defaults of the installed version. */
export function effectiveSettings({ manifest, settings }: InstallSettings): Record<string, unknown> {
  return withDefaults((manifest.settings ?? {}) as SettingsSchema, settings);
}

function withDefaults({ properties = {} }: SettingsSchema, input: Settings): Record<string, unknown> {
  const missing = Object.entries(properties).filter(
    ([name, property]) => property.default !== undefined && !Object.hasOwn(input, name),
  );
  // The object is built from entries, because a setting can have any name, such as `__proto__`.
  return Object.fromEntries([
    ...Object.entries(input),
    ...missing.map(([name, property]) => [name, property.default] as const),
  ]);
}

/** Limit of details in one response. */
const detailsMax = 20;

function refusal(schema: SettingsSchema, errors: Iterable<SchemaError>, of: Whose): ApiError {
  // `boolean` duplicates the additionalProperties error without the name of the value.
  const schemaErrors = [...errors].filter(({ keyword }) => keyword !== 'boolean').slice(0, detailsMax);
  if (schemaErrors.length === 0)
    return invalidField(of.at, 'invalid_format', {
      why: `The values are invalid for the ${of.whose}. Send values that match its schema.`,
    });
  const all = schemaErrors.flatMap((error) => refusalsOf(schema, error, of));
  return invalid([...new Map(all.map((one) => [one.details[0]?.path, one])).values()]);
}

/** Combines errors into one, with the message of the first. */
function invalid(errors: readonly ApiError[]): ApiError {
  const [first] = errors;
  return new ApiError('validation_failed', first?.message, {
    details: errors.flatMap(({ details }) => details).slice(0, detailsMax),
  });
}

function refusalsOf({ properties = {} }: SettingsSchema, error: SchemaError, of: Whose): ApiError[] {
  const path = `${of.at}${error.instancePath.replaceAll('/', '.')}`;
  const unknown = namesIn(error, 'additionalProperties');
  if (unknown.length > 0)
    return unknown.map((name) =>
      path === of.at
        ? unknownValue(name, Object.keys(properties), of)
        : invalidField(`${path}.${name}`, 'unknown_field', {
            why: `The ${of.whose} has no such field.`,
            fix: 'Remove the field.',
          }),
    );
  const missing = namesIn(error, 'requiredProperties');
  if (missing.length > 0)
    return missing.map((name) =>
      invalidField(`${path}.${name}`, 'required', {
        why: `The ${of.whose} requires this ${of.whose === 'plugin' ? 'setting' : 'input'}, which has no default.`,
        fix: `Add it to \`${of.at}\`.`,
      }),
    );
  return [invalidField(path, 'invalid_format', { why: `The value ${schemaWords(error)}.` })];
}

function namesIn(
  { params }: SchemaError,
  list: 'additionalProperties' | 'requiredProperties',
): readonly string[] {
  return (params as { readonly [name in typeof list]?: readonly string[] })[list] ?? [];
}

function unknownValue(name: string, known: readonly string[], { at, whose }: Whose): ApiError {
  const there = known.length > 0 ? `available: ${known.join(', ')}` : 'there are none';
  const what = whose === 'plugin' ? 'setting' : 'input';
  return invalidField(`${at}.${name}`, 'unknown_field', {
    why: `The ${whose} has no ${what} ${name}; ${there}.${didYouMean(name, known)}`,
    fix: `Remove ${name} from \`${at}\`.`,
  });
}

const fieldTypes = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'any'] as const;
const limitOf = (description: string) => nullable(Type.Number({ description }));

export const SettingsForm = namedSchema(
  'PluginSettingsForm',
  Closed({
    fields: Type.Array(
      Closed({
        name: Type.String({ description: 'Path of the setting, with dots between its parts.' }),
        title: Type.String({ description: 'Display name of the setting.' }),
        description: Type.String({ description: 'Description by the author of the plugin.' }),
        type: enumeration(
          'SettingType',
          fieldTypes,
          'Type of the setting; `any` if it accepts several types.',
        ),
        required: Type.Boolean({ description: 'True if the setting is required and has no default.' }),
        options: nullable(
          Type.Array(Type.Unknown(), {
            description: 'Allowed values; null if any value of the type is allowed.',
          }),
        ),
        default: Type.Unknown({ description: 'Default value; null if there is none.' }),
        value: Type.Unknown({ description: 'Present value; null if there is none.' }),
        minimum: limitOf('Minimum value, length or number of items; null if there is none.'),
        maximum: limitOf('Maximum value, length or number of items; null if there is none.'),
        items: nullable(
          enumeration('SettingItemType', fieldTypes, 'Type of the items of an array; null for other types.'),
        ),
      }),
      { description: 'Settings, in the order of the manifest.' },
    ),
  }),
);

type Schema = Readonly<Record<string, unknown>>;

/**
 * Returns the settings of a plugin as a form: its schema as a flat list of fields in manifest order,
 * with their values.
 */
export function settingsFormOf(install: InstallSettings) {
  return { fields: fieldsOf(install.manifest.settings ?? {}, '', effectiveSettings(install)) };
}

function fieldsOf(schema: Schema, at: string, values: unknown): Record<string, unknown>[] {
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  return Object.entries(objectOf(schema.properties)).flatMap(([key, property]) => {
    const one = objectOf(property);
    const name = `${at}${key}`;
    const current = objectOf(values);
    const value = Object.hasOwn(current, key) ? current[key] : undefined;
    // A group of settings is not a field itself.
    if (one.type === 'object' && one.properties !== undefined)
      return fieldsOf(one, `${name}.`, value ?? one.default);
    return [fieldOf(one, { name, key, value, isRequired: required.includes(key) })];
  });
}

function fieldOf(
  one: Schema,
  { name, key, value, isRequired }: { name: string; key: string; value: unknown; isRequired: boolean },
): Record<string, unknown> {
  return {
    name,
    title: one.title ?? key,
    description: one.description ?? '',
    type: typeOf(one),
    required: isRequired && one.default === undefined,
    options: one.enum ?? (one.const === undefined ? null : [one.const]),
    default: one.default ?? null,
    value: value ?? null,
    ...boundsOf(one),
    items: one.type === 'array' ? typeOf(objectOf(one.items)) : null,
  };
}

/** Returns the bounds of a number, of the length of a string or of the number of items. */
function boundsOf(one: Schema): Record<'minimum' | 'maximum', unknown> {
  return {
    minimum: one.minimum ?? one.minLength ?? one.minItems ?? null,
    maximum: one.maximum ?? one.maxLength ?? one.maxItems ?? null,
  };
}

/** Infers the type from the enum values if the schema names none. */
function typeOf({ type, enum: options }: Schema): (typeof fieldTypes)[number] {
  const knownType = fieldTypes.find((known) => known === type);
  if (knownType !== undefined) return knownType;
  return Array.isArray(options) && options.every((option) => typeof option === 'string') ? 'string' : 'any';
}

function objectOf(value: unknown): Schema {
  return isObject(value) ? value : {};
}
