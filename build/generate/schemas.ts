// Generates the schemas of request bodies for the SDK's validators.
import type { Route } from '../../core/kernel/http/route.ts';
import type { Library } from './library.ts';

/** Keywords that the validators check. Annotations, matched by `said`, are removed. */
const checked = new Set([
  'type',
  'enum',
  'anyOf',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'items',
  'minItems',
  'maxItems',
  'uniqueItems',
  'properties',
  'required',
  'patternProperties',
  'additionalProperties',
  'minProperties',
  'maxProperties',
]);
const said = /^(description|default|deprecated|writeOnly|title|examples?|x-.*)$/;

export function writeSchemas(library: Library, file: string, routes: readonly Route[]): void {
  const taking = routes.filter(({ body }) => body);
  library.add(
    file,
    'BodyName',
    `/** Operations with a request body. */
    export type BodyName = ${taking.map(({ name }) => `'${name}'`).join(' | ')};`,
  );
  const rows = taking.map(
    ({ name, body }) => `'${name}': ${JSON.stringify(JSON.stringify(plain(body, name)))},`,
  );
  library.add(
    file,
    'bodySchemas',
    `/** Schemas of request bodies as JSON, parsed on first use. */
    export const bodySchemas: Readonly<Record<BodyName, string>> = {\n${rows.join('\n')}\n};`,
  );
}

/** Returns a schema without annotations. @throws Error for a keyword that the validators do not check */
function plain(schema: unknown, at: string): unknown {
  if (schema === null || typeof schema !== 'object') return schema;
  const entries = Object.entries(schema).filter(([keyword]) => !said.test(keyword));
  for (const [keyword] of entries)
    if (!checked.has(keyword))
      throw new Error(`${at}: add the keyword ${keyword} to sdk/validators/check.ts, then to this list.`);
  return Object.fromEntries(entries.map(([keyword, value]) => [keyword, plainPart(keyword, value, at)]));
}

function plainPart(keyword: string, value: unknown, at: string): unknown {
  if (keyword === 'items') return plain(value, at);
  if (keyword === 'anyOf' && Array.isArray(value)) return value.map((one) => plain(one, at));
  if (
    (keyword === 'properties' || keyword === 'patternProperties') &&
    value !== null &&
    typeof value === 'object'
  )
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, plain(one, `${at} ${name}`)]),
    );
  return value;
}
