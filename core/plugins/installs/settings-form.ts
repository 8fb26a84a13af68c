// The settings of a plugin as a form: its schema as a flat list of fields in the order of the manifest, with what each is set to.
import { Type } from 'typebox';
import type { Context } from '../../context.ts';
import { Closed, enumeration, named, nullable } from '../../lib/schema.ts';
import { getInstall } from './installs.ts';
import { effectiveSettings } from './settings.ts';

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'any'] as const;
const bound = (description: string) => nullable(Type.Number({ description }));

export const SettingsForm = named(
  'PluginSettingsForm',
  Closed({
    fields: Type.Array(
      Closed({
        name: Type.String({ description: 'The path of the setting, with points between its parts.' }),
        title: Type.String({ description: 'What it is called.' }),
        description: Type.String({ description: 'What it does, as the author says.' }),
        type: enumeration('SettingType', types, 'What it takes; `any` where that is more than one type.'),
        required: Type.Boolean({ description: 'Whether it has to be given: it has no default.' }),
        options: nullable(Type.Array(Type.Unknown(), { description: 'The only values that it takes.' })),
        default: Type.Unknown({ description: 'What it is where nobody sets it; null for nothing.' }),
        value: Type.Unknown({ description: 'What it is now; null for nothing.' }),
        minimum: bound('The least number, length or count that it takes.'),
        maximum: bound('The most.'),
        items: nullable(enumeration('SettingItemType', types, 'Of a list: what it holds.')),
      }),
      { description: 'In the order of the manifest.' },
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
  return Object.entries(objectOf(schema.properties)).flatMap(([key, given]) => {
    const one = objectOf(given);
    const name = `${at}${key}`;
    const held = objectOf(values);
    const value = Object.hasOwn(held, key) ? held[key] : undefined;
    // A group of settings is no field itself.
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

/** Of a number, of the length of a text or of the count of a list. */
function boundsOf(one: Schema): Record<'minimum' | 'maximum', unknown> {
  return {
    minimum: one.minimum ?? one.minLength ?? one.minItems ?? null,
    maximum: one.maximum ?? one.maxLength ?? one.maxItems ?? null,
  };
}

/** By its values where the schema names no type. */
function typeOf({ type, enum: options }: Schema): (typeof types)[number] {
  const found = types.find((known) => known === type);
  if (found !== undefined) return found;
  return Array.isArray(options) && options.every((option) => typeof option === 'string') ? 'string' : 'any';
}

function objectOf(value: unknown): Schema {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Schema) : {};
}
