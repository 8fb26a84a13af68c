// The schemas of bodies, as the SDK's validators read them.
import type { Route } from '../http/route.ts';
import type { Library } from './library.ts';

/** What validators check, and what is only said. */
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
const said = /^(description|default|deprecated|title|examples?|x-.*)$/;

export function writeSchemas(library: Library, file: string, routes: readonly Route[]): void {
  const taking = routes.filter(({ body }) => body);
  library.add(
    file,
    'BodyName',
    `/** The operations that take a body. */
    export type BodyName = ${taking.map(({ name }) => `'${name}'`).join(' | ')};`,
  );
  const rows = taking.map(
    ({ name, body }) => `'${name}': ${JSON.stringify(JSON.stringify(plain(body, name)))},`,
  );
  library.add(
    file,
    'bodySchemas',
    `/** As JSON, read when one is asked for. */
    export const bodySchemas: Readonly<Record<BodyName, string>> = {\n${rows.join('\n')}\n};`,
  );
}

/** A schema without its words. @throws Error for a keyword that nobody would check */
function plain(schema: unknown, at: string): unknown {
  if (schema === null || typeof schema !== 'object') return schema;
  const entries = Object.entries(schema).filter(([keyword]) => !said.test(keyword));
  for (const [keyword] of entries)
    if (!checked.has(keyword))
      throw new Error(`${at}: teach sdk/validators/check.ts the keyword ${keyword}, then list it here.`);
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
