// Chooses the columns of a table from the schema of its rows.
import type { JsonSchema } from './type-text.ts';

const columnsMax = 6;
const creation = new Set(['createdAt', 'created_at', 'at']);
const never =
  /^(version|description|deletedAt|updatedAt|subOrder|.*Html|url|body|creator|sha256|position|icon|color|externalSource|externalId|number|workspace_id)$/;
const handles = ['identifier', 'key', 'id'];
/** Names of an object; a URL only of one without another name. */
const names = ['name', 'title', 'pluginId', 'type', 'url'];

/** Returns the types that a schema accepts, also those of its alternatives. */
export function typeOf({ type, enum: values, anyOf }: JsonSchema): string[] {
  if (values) return [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  if (anyOf) return [...new Set(anyOf.flatMap(typeOf))];
  return typeof type === 'string' ? [type] : [...(type ?? [])];
}

/** Returns the properties of an object that tell most about it: its handle, its name, its states and references, its times. */
export function columnsOf(schema: JsonSchema): string[] {
  const { properties = {} } = schema;
  const handle = handles.find((name) => name in properties) ?? '';
  const isNamed = 'name' in properties || 'title' in properties;
  // The identifier of an issue begins with its team.
  const isOmitted = (name: string): boolean =>
    name === 'id' ||
    never.test(name) ||
    (isNamed && name === 'url') ||
    (handle === 'identifier' && name === 'team');
  const ranked = Object.entries(properties)
    .filter(([name]) => name === handle || !isOmitted(name))
    .map(([name, property]) => ({ name, rank: name === handle ? 0 : rankOf(name, property) }))
    .filter(({ rank }) => rank < Infinity)
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ name }) => name);
  const created = ranked.find((name) => creation.has(name));
  return [
    ...ranked.filter((name) => name !== created).slice(0, columnsMax),
    ...(created === undefined ? [] : [created]),
  ];
}

function rankOf(name: string, schema: JsonSchema): number {
  const at = names.indexOf(name);
  if (at !== -1) return 1 + at / names.length;
  return schema.enum ? 2 : rankOfType(name, schema);
}

function rankOfType(name: string, schema: JsonSchema): number {
  if (isReference(schema)) return 3;
  const [type = '', ...others] = typeOf(schema).filter((one) => one !== 'null');
  if (type === 'array') return isShown(schema.items) ? 5 : Infinity;
  if (type === 'object' || others.length > 0 || /Markdown/.test(schema.description ?? '')) return Infinity;
  if (creation.has(name)) return 6;
  return /(At|_at)$/.test(name) ? 7 : 4;
}

/** Returns true for the elements of a list that fit into a cell. */
const isShown = (items: JsonSchema | undefined): boolean =>
  items !== undefined && (isReference(items) || typeOf(items).every((type) => type === 'string'));

/** Returns true for an object that has a name to show. */
function isReference(schema: JsonSchema): boolean {
  const object = schema.properties ? schema : schema.anyOf?.find(({ properties }) => properties);
  return ['name', 'identifier', 'key'].some((name) => name in (object?.properties ?? {}));
}
