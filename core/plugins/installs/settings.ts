// Settings of an install against the plugin's own schema. That schema is a stranger's: only a small, flat part of JSON
// Schema is taken, without patterns and references, so that checking it can neither hang nor reach elsewhere.
import { Type, type TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { ApiError, invalidField } from '../../lib/errors.ts';

const keywords = new Set([
  'type',
  'enum',
  'const',
  'default',
  'title',
  'description',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'items',
  'minItems',
  'maxItems',
  'uniqueItems',
  'properties',
  'required',
  'additionalProperties',
]);
const depthMax = 4;

/** The settings with defaults filled in. @throws ApiError validation_failed */
export function settle(
  schema: unknown,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (schema === undefined) {
    const [unknown] = Object.keys(given);
    if (unknown !== undefined)
      throw invalidField(`settings.${unknown}`, 'unknown_field', {
        why: 'This plugin has no settings.',
        fix: 'Leave them out.',
      });
    return {};
  }
  checkSettingsSchema(schema);
  const settings = withDefaults(schema as SettingsSchema, given);
  checkSettings(schema as SettingsSchema, settings);
  return settings;
}

/** What a plugin asks of its settings, before any are given. @throws ApiError validation_failed */
export function checkSettingsSchema(schema: unknown): void {
  if (schema !== undefined) checkSchema(schema, 'package.manifest.settings', 0);
}

type SettingsSchema = TSchema & { readonly properties?: Readonly<Record<string, { default?: unknown }>> };

function withDefaults(
  schema: SettingsSchema,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const settings = { ...given };
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    if (!(name in settings) && property.default !== undefined) settings[name] = property.default;
  return settings;
}

function checkSettings(schema: SettingsSchema, settings: Readonly<Record<string, unknown>>): void {
  const validator = Compile(Type.Unsafe<Record<string, unknown>>({ ...schema, type: 'object' }));
  if (validator.Check(settings)) return;
  const error = [...validator.Errors(settings)].find(({ keyword }) => keyword !== 'boolean');
  const path = `settings${(error?.instancePath ?? '').replaceAll('/', '.')}`;
  throw new ApiError('validation_failed', `${path}: ${error?.message ?? 'does not fit the plugin'}`, {
    details: [{ path, issue: 'invalid_format' }],
  });
}

function checkSchema(schema: unknown, path: string, depth: number): void {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) {
    if (typeof schema === 'boolean') return;
    throw invalidField(path, 'invalid_type', 'Give an object: a settings schema is one.');
  }
  if (depth > depthMax) throw invalidField(path, 'too_big', `Nest settings at most ${depthMax} levels.`);
  for (const [keyword, value] of Object.entries(schema)) {
    if (!keywords.has(keyword))
      throw invalidField(`${path}.${keyword}`, 'unknown_field', {
        why: 'Settings schemas cannot use this keyword.',
        fix: `Leave it out, or use ${[...keywords].join(', ')}.`,
      });
    if (keyword === 'properties')
      for (const [name, property] of Object.entries(value as object))
        checkSchema(property, `${path}.properties.${name}`, depth + 1);
    if (keyword === 'items' || keyword === 'additionalProperties')
      checkSchema(value, `${path}.${keyword}`, depth + 1);
  }
}
