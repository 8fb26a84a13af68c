// Generates a deterministic value that satisfies a schema. Samples use it for fields and resources without
// fixtures (scenario.ts).
import type { TSchema } from 'typebox';
import { idOf, type SampleSetting } from './fixtures.ts';

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly pattern?: string;
  readonly format?: string;
  readonly minimum?: number;
}

const texts: Readonly<Record<string, string>> = {
  identifier: 'ENG-42',
  key: 'ENG',
  team: 'ENG',
  title: 'The save dialog crashes when the disk is full',
  description: 'Steps: fill the disk, press **Save**.',
  body: 'Seen on 2.4 as well.',
  name: 'Editor',
  kind: 'issue',
};

export function sampleOf(schema: TSchema, setting: SampleSetting): unknown {
  return valueOf(schema, '', setting);
}

function valueOf(schema: JsonSchema, name: string, setting: SampleSetting): unknown {
  if (schema.const !== undefined) return schema.const;
  // Most events concern objects that are not deleted.
  if (name === 'deletedAt') return null;
  if (schema.enum) return schema.enum.find((value) => value !== null && value !== 'none');
  if (schema.anyOf) return valueOf(schema.anyOf[0]!, name, setting);
  const [type = 'string'] = [schema.type ?? []].flat();
  return (byType[type] ?? textOf)(schema, name, setting);
}

type ValueOf = (schema: JsonSchema, name: string, setting: SampleSetting) => unknown;

const numberOf: ValueOf = ({ minimum = 1 }, name) => (name === 'number' ? 42 : minimum);

/** Generators by JSON type. All other types are strings. */
const byType: Readonly<Record<string, ValueOf>> = {
  object: ({ properties = {}, required = [] }, _name, setting) =>
    Object.fromEntries(required.map((key) => [key, valueOf(properties[key]!, key, setting)])),
  array: ({ items }, name, setting) => (items ? [valueOf(items, name, setting)] : []),
  boolean: () => true,
  integer: numberOf,
  number: numberOf,
};

function textOf(
  { pattern = '', format }: JsonSchema,
  name: string,
  { nowMs, baseUrl }: SampleSetting,
): string {
  const now = new Date(nowMs).toISOString();
  if (format === 'date-time') return now;
  if (name === 'url' || format === 'uri') return `${baseUrl}/issues/${texts.identifier}`;
  const [, prefix] = /^\^([a-z]{3})_/.exec(pattern) ?? [];
  if (prefix) return idOf(prefix);
  if (pattern.startsWith('^[0-9a-f]{8}-')) return '019b0000-0000-7000-8000-000000000001';
  if (pattern.startsWith('^\\d{4}-')) return now.slice(0, 10);
  if (pattern.startsWith('^#')) return '#5e6ad2';
  return texts[name] ?? name;
}
