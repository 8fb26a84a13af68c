// Settings of an install against the plugin's own schema. Only what somebody gave is kept: defaults are filled in whenever settings are
// read, so that those of a new version hold for all that nobody set.
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { schemaWords, type SchemaError } from '../../../sdk/plugin/schema-words.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { didYouMean } from '../../lib/nearest.ts';
import type { SettingsSchema } from './settings-schema.ts';

export type { SettingsSchema } from './settings-schema.ts';

/** Whose values are checked: where they stand in the body, and what takes them. */
export interface Whose {
  readonly at: string;
  readonly whose: 'plugin' | 'action';
}

const ofSettings: Whose = { at: 'settings', whose: 'plugin' };

type Settings = Readonly<Record<string, unknown>>;

/** @throws ApiError validation_failed, naming the first setting that does not fit */
export function checkSettings({ settings: schema }: Pick<PluginManifest, 'settings'>, given: Settings): void {
  if (schema === undefined) {
    const [unknown] = Object.keys(given);
    if (unknown !== undefined) throw invalid([unknownValue(unknown, [], ofSettings)]);
    return;
  }
  const known = schema as SettingsSchema;
  checkValues(known, withDefaults(known, given), ofSettings);
}

/** Of values with their defaults. @throws ApiError validation_failed, naming each that does not fit */
export function checkValues(schema: SettingsSchema, values: Settings, of: Whose): void {
  const validator = Compile(Type.Unsafe<Settings>({ ...schema, type: 'object' }));
  if (!validator.Check(values)) throw refusal(schema, validator.Errors(values), of);
}

/** What a run is given, and what is shown: the settings with the defaults of the installed version. */
export function effectiveSettings({
  manifest,
  settings,
}: {
  readonly manifest: Pick<PluginManifest, 'settings'>;
  readonly settings: Settings;
}): Record<string, unknown> {
  return withDefaults((manifest.settings ?? {}) as SettingsSchema, settings);
}

export function withDefaults({ properties = {} }: SettingsSchema, given: Settings): Record<string, unknown> {
  const missing = Object.entries(properties).filter(
    ([name, property]) => property.default !== undefined && !Object.hasOwn(given, name),
  );
  // By entries, a setting may have any name.
  return Object.fromEntries([
    ...Object.entries(given),
    ...missing.map(([name, property]) => [name, property.default] as const),
  ]);
}

/** Details of one answer. */
const detailsMax = 20;

function refusal(schema: SettingsSchema, errors: Iterable<SchemaError>, of: Whose): ApiError {
  // `boolean` is the twin of additionalProperties without the name of the value.
  const found = [...errors].filter(({ keyword }) => keyword !== 'boolean').slice(0, detailsMax);
  if (found.length === 0)
    return invalidField(of.at, 'invalid_format', { why: `They do not fit the ${of.whose}.` });
  const all = found.flatMap((error) => refusalsOf(schema, error, of));
  return invalid([...new Map(all.map((one) => [one.details[0]?.path, one])).values()]);
}

/** One error that names every value; its message is about the first. */
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
            why: `The ${of.whose} knows no such field.`,
            fix: 'Leave it out.',
          }),
    );
  const missing = namesIn(error, 'requiredProperties');
  if (missing.length > 0)
    return missing.map((name) =>
      invalidField(`${path}.${name}`, 'required', {
        why: `The ${of.whose} needs this${of.whose === 'plugin' ? ' setting' : ''}, and has no default for it.`,
        fix: `Give it in \`${of.at}\`.`,
      }),
    );
  return [invalidField(path, 'invalid_format', { why: `It ${schemaWords(error)}.` })];
}

/** The names that an error lists. */
function namesIn(
  { params }: SchemaError,
  list: 'additionalProperties' | 'requiredProperties',
): readonly string[] {
  return (params as { readonly [name in typeof list]?: readonly string[] })[list] ?? [];
}

function unknownValue(name: string, known: readonly string[], { at, whose }: Whose): ApiError {
  const there = known.length > 0 ? `it has ${known.join(', ')}` : 'it has none';
  const what = whose === 'plugin' ? 'setting' : 'input';
  return invalidField(`${at}.${name}`, 'unknown_field', {
    why: `The ${whose} has no ${what} ${name}; ${there}.${didYouMean(name, known)}`,
    fix: `Give \`${at}\` without it.`,
  });
}
