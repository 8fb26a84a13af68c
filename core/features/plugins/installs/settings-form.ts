// Returns the settings of a plugin as a form: its schema as a flat list of fields in manifest order, with their values.
import { Type } from 'typebox';
import type { Context } from '../../../kernel/context.ts';
import { Closed, enumeration, namedSchema, nullable } from '../../../platform/lib/schema.ts';
import { getInstall } from './installs.ts';
import { effectiveSettings } from './settings.ts';

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'any'] as const;
const bound = (description: string) => nullable(Type.Number({ description }));

export const SettingsForm = namedSchema(
  'PluginSettingsForm',
  Closed({
    fields: Type.Array(
      Closed({
        name: Type.String({ description: 'Path of the setting, with dots between its parts.' }),
        title: Type.String({ description: 'Display name of the setting.' }),
        description: Type.String({ description: 'Description by the author of the plugin.' }),
        type: enumeration('SettingType', types, 'Type of the setting; `any` if it accepts several types.'),
        required: Type.Boolean({ description: 'True if the setting is required and has no default.' }),
        options: nullable(
          Type.Array(Type.Unknown(), {
            description: 'Allowed values; null if any value of the type is allowed.',
          }),
        ),
        default: Type.Unknown({ description: 'Default value; null if there is none.' }),
        value: Type.Unknown({ description: 'Present value; null if there is none.' }),
        minimum: bound('Minimum value, length or number of items; null if there is none.'),
        maximum: bound('Maximum value, length or number of items; null if there is none.'),
        items: nullable(
          enumeration('SettingItemType', types, 'Type of the items of an array; null for other types.'),
        ),
      }),
      { description: 'Settings, in the order of the manifest.' },
    ),
  }),
);

type Schema = Readonly<Record<string, unknown>>;

export async function showSettingsForm(ctx: Context, ref: string) {
  const install = await getInstall(ctx, ref);
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
function typeOf({ type, enum: options }: Schema): (typeof types)[number] {
  const knownType = types.find((known) => known === type);
  if (knownType !== undefined) return knownType;
  return Array.isArray(options) && options.every((option) => typeof option === 'string') ? 'string' : 'any';
}

function objectOf(value: unknown): Schema {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Schema) : {};
}
