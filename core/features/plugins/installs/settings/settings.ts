// Validates the settings of an install by the plugin's schema. Only explicit values are stored; defaults are
// added on every read, so that the defaults of a new version apply to unset settings.
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { PluginManifest } from '../../../../../sdk/plugin/manifest.ts';
import { schemaWords, type SchemaError } from '../../../../../sdk/plugin/schema-words.ts';
import { ApiError, invalidField } from '../../../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../../../platform/lib/text/words.ts';
import type { SettingsSchema } from './settings-schema.ts';

export type { SettingsSchema } from './settings-schema.ts';

/** Origin of the checked values: their path in the body, and the type of their owner. */
export interface Whose {
  readonly at: string;
  readonly whose: 'plugin' | 'action';
}

const ofSettings: Whose = { at: 'settings', whose: 'plugin' };

type Settings = Readonly<Record<string, unknown>>;

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

/** Checks values that include their defaults. @throws ApiError validation_failed with each invalid value */
export function checkValues(schema: SettingsSchema, values: Settings, of: Whose): void {
  const validator = Compile(Type.Unsafe<Settings>({ ...schema, type: 'object' }));
  if (!validator.Check(values)) throw refusal(schema, validator.Errors(values), of);
}

/** Returns the settings for runs and responses, with the defaults of the installed version. */
export function effectiveSettings({
  manifest,
  settings,
}: {
  readonly manifest: PluginManifest;
  readonly settings: Settings;
}): Record<string, unknown> {
  return withDefaults((manifest.settings ?? {}) as SettingsSchema, settings);
}

export function withDefaults({ properties = {} }: SettingsSchema, input: Settings): Record<string, unknown> {
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
