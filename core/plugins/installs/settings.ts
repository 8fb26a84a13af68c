// Settings of an install against the plugin's own schema. Only what somebody gave is kept: defaults are filled in whenever settings are
// read, so that those of a new version hold for all that nobody set.
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import type { PluginManifest } from '../../../sdk/plugin/manifest.ts';
import { ApiError, invalidField } from '../../lib/errors.ts';
import { didYouMean } from '../../lib/nearest.ts';
import type { SettingsSchema } from './settings-schema.ts';

type Settings = Readonly<Record<string, unknown>>;

/** @throws ApiError validation_failed, naming the first setting that does not fit */
export function checkSettings({ settings: schema }: Pick<PluginManifest, 'settings'>, given: Settings): void {
  if (schema === undefined) {
    const [unknown] = Object.keys(given);
    if (unknown !== undefined) throw unknownSetting(unknown, []);
    return;
  }
  const settings = withDefaults(schema as SettingsSchema, given);
  const validator = Compile(Type.Unsafe<Settings>({ ...schema, type: 'object' }));
  if (!validator.Check(settings)) throw refusal(schema as SettingsSchema, validator.Errors(settings));
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

function withDefaults({ properties = {} }: SettingsSchema, given: Settings): Record<string, unknown> {
  const missing = Object.entries(properties).filter(
    ([name, property]) => property.default !== undefined && !Object.hasOwn(given, name),
  );
  // By entries, a setting may have any name.
  return Object.fromEntries([
    ...Object.entries(given),
    ...missing.map(([name, property]) => [name, property.default] as const),
  ]);
}

interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: object;
}

function refusal({ properties = {} }: SettingsSchema, errors: Iterable<SchemaError>): ApiError {
  // `boolean` is the twin of additionalProperties without the name of the setting.
  const error = [...errors].find(({ keyword }) => keyword !== 'boolean');
  if (!error) return invalidField('settings', 'invalid_format', { why: 'They do not fit the plugin.' });
  const path = `settings${error.instancePath.replaceAll('/', '.')}`;
  const unknown = firstOf(error, 'additionalProperties');
  if (unknown !== null && path === 'settings') return unknownSetting(unknown, Object.keys(properties));
  if (unknown !== null)
    return invalidField(`${path}.${unknown}`, 'unknown_field', {
      why: 'The plugin knows no such field.',
      fix: 'Leave it out.',
    });
  const missing = firstOf(error, 'requiredProperties');
  if (missing !== null)
    return invalidField(`${path}.${missing}`, 'required', {
      why: 'The plugin needs this setting, and has no default for it.',
      fix: 'Give it in `settings`.',
    });
  return invalidField(path, 'invalid_format', { why: `It ${error.message}.` });
}

/** The first of the names that an error lists. */
function firstOf(
  { params }: SchemaError,
  list: 'additionalProperties' | 'requiredProperties',
): string | null {
  const names = (params as { readonly [name in typeof list]?: readonly string[] })[list];
  return names?.[0] ?? null;
}

function unknownSetting(name: string, known: readonly string[]): ApiError {
  const there = known.length > 0 ? `it has ${known.join(', ')}` : 'it has none';
  return invalidField(`settings.${name}`, 'unknown_field', {
    why: `The plugin has no setting ${name}; ${there}.${didYouMean(name, known)}`,
    fix: 'Give `settings` without it.',
  });
}
