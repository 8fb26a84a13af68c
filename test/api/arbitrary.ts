// Random requests from the schemas of a route, valid in most cases and otherwise wrong in one place.
import fc, { type Arbitrary } from 'fast-check';
import type { TSchema } from 'typebox';
import { formOf, type Seeds } from './seeds.ts';

interface Shape {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: TSchema[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  items?: TSchema;
  minItems?: number;
  maxItems?: number;
  properties?: Record<string, TSchema>;
  patternProperties?: Record<string, TSchema>;
  required?: string[];
}

/** Values of unexpected types, as careless or hostile clients send them. */
export const hostileValues: readonly unknown[] = [
  null,
  true,
  -1,
  0,
  1e300,
  0.1,
  '',
  ' ',
  '\0',
  'a\0b',
  '\ud800',
  '__proto__',
  'constructor',
  "' OR 1=1 --",
  '%00',
  '../../etc/passwd',
  'x'.repeat(3000),
  '9'.repeat(30),
  [],
  {},
  [[]],
  { $ne: null },
  'evt_\0',
  '{"title":{"contains":"\\u0000"}}',
  '{"label":{"contains":"b"}}',
  '{"team":{"startsWith":"E"}}',
  '{"estimate":{"gt":1e400}}',
  '-title,priority',
  '💥'.repeat(500),
];

/**
 * Splits `all` between call sites: each call returns every nth entry, starting one later than the call before. The long
 * form returns all.
 */
export function shared<T>(all: readonly T[], nth: number): () => readonly T[] {
  if (process.env.TATAMI_LONG !== undefined) return () => all;
  let offset = 0;
  return () => {
    offset++;
    return all.filter((_, at) => (at + offset) % nth === 0);
  };
}

/** @param ids existing and missing ids, by entity */
export function arbitraryOf(schema: TSchema, ids: readonly Seeds[]): Arbitrary<unknown> {
  const shape = schema as Shape;
  if (shape.enum) return fc.constantFrom(...shape.enum);
  if ('const' in shape) return fc.constant(shape.const);
  if (shape.anyOf) return fc.oneof(...shape.anyOf.map((branch) => arbitraryOf(branch, ids)));
  const form = formOf(schema);
  if (form !== undefined) return fc.constantFrom(...ids.map((seeds) => seeds[form]!));
  const types = [shape.type ?? 'unknown'].flat();
  return fc.oneof(...types.map((type) => typed(type, shape, ids)));
}

function typed(type: string, shape: Shape, ids: readonly Seeds[]): Arbitrary<unknown> {
  switch (type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return fc.integer({ min: shape.minimum ?? -1000, max: Math.min(shape.maximum ?? 1000, 1e6) });
    case 'number':
      return fc.double({
        min: shape.minimum ?? -1000,
        max: Math.min(shape.maximum ?? 1000, 1e6),
        noNaN: true,
      });
    case 'array':
      return fc.array(arbitraryOf(shape.items!, ids), {
        minLength: shape.minItems ?? 0,
        maxLength: Math.min(shape.maxItems ?? 3, 3),
      });
    case 'object':
      return objectOf(shape, ids);
    case 'string': {
      if (shape.pattern !== undefined && !/^\\S$/.test(shape.pattern))
        return fc.stringMatching(new RegExp(shape.pattern), { size: 'small' });
      const size = { minLength: shape.minLength ?? 0, maxLength: Math.min(shape.maxLength ?? 20, 20) };
      return fc.string({ ...size, unit: 'grapheme' });
    }
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function objectOf(shape: Shape, ids: readonly Seeds[]): Arbitrary<object> {
  const [entries] = Object.values(shape.patternProperties ?? {});
  // Valid keys only: the errors of one list would hide the others, because the server reports some errors alone.
  const key = fc.string({ maxLength: 10 }).filter((name) => name !== '__proto__');
  if (entries && 'type' in entries) return fc.dictionary(key, arbitraryOf(entries, ids), { maxKeys: 3 });
  const properties = Object.entries(shape.properties ?? {}).map(
    ([name, property]) => [name, arbitraryOf(property, ids)] as const,
  );
  if (properties.length === 0)
    return fc.dictionary(fc.string({ maxLength: 10 }), fc.jsonValue({ maxDepth: 1 }));
  return fc.record(Object.fromEntries(properties), { requiredKeys: shape.required ?? [] });
}

/** The value, or the value with one property replaced, dropped or added. */
export function sometimesBroken(sound: Arbitrary<unknown>): Arbitrary<unknown> {
  return fc.oneof(
    { weight: 3, arbitrary: sound },
    {
      weight: 2,
      arbitrary: fc.tuple(sound, fc.constantFrom(...hostileValues), fc.nat()).map(([value, bad, at]) => {
        if (value === null || typeof value !== 'object' || Array.isArray(value)) return bad;
        const names = [...Object.keys(value), 'surprise'];
        return { ...value, [names[at % names.length]!]: bad };
      }),
    },
  );
}
