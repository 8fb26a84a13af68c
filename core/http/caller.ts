// `me` in paths and bodies: wherever a schema takes it, the handler is given the id of the member who asks.
import type { TSchema } from 'typebox';
import type { Context } from '../context.ts';
import { ApiError } from '../lib/errors.ts';
import { requireMe } from '../lib/me.ts';
import { takesMe } from '../lib/schema.ts';
import type { CheckedInput, Route } from './route.ts';

/** The value with the id in place of each `me`; the same value where there is none. */
type Named = (value: unknown, memberId: string | undefined, path: string) => unknown;

/** The route with handlers that know members by their ids alone. */
export function withCaller(route: Route): Route {
  const inPath = namedIn(route.params);
  const inBody = namedIn(route.body);
  if (!inPath && !inBody) return route;
  const named = (ctx: Context, input: CheckedInput): CheckedInput => {
    const { memberId } = ctx.actor;
    const params = inPath ? pathOf(inPath, input.params, memberId) : input.params;
    const body = inBody ? inBody(input.body, memberId, '') : input.body;
    return { ...input, params: params as CheckedInput['params'], body: body as CheckedInput['body'] };
  };
  switch (route.kind) {
    case 'read':
      return { ...route, read: (ctx, input) => route.read(ctx, named(ctx, input)) };
    case 'write':
      return { ...route, write: (ctx, input) => route.write(ctx, named(ctx, input)) };
    default:
      throw new Error(`${route.name} does not take \`me\`: only what reads and writes does.`);
  }
}

/** @throws ApiError not_found where whoever asks is no member */
function pathOf(inPath: Named, params: unknown, memberId: string | undefined): unknown {
  try {
    return inPath(params, memberId, '');
  } catch (error) {
    throw error instanceof ApiError ? new ApiError('not_found') : error;
  }
}

/** Null where no value of the schema can be `me`. */
function namedIn(schema: TSchema | undefined): Named | null {
  if (!schema) return null;
  if (takesMe in schema)
    return (value, memberId, path) => (value === 'me' ? requireMe(memberId, path) : value);
  const { properties, items, anyOf } = schema as {
    properties?: Readonly<Record<string, TSchema>>;
    items?: TSchema;
    anyOf?: readonly TSchema[];
  };
  if (anyOf) return anyOf.map(namedIn).find((named) => named !== null) ?? null;
  if (items) return namedItems(items);
  return properties ? namedProperties(properties) : null;
}

function namedItems(items: TSchema): Named | null {
  const named = namedIn(items);
  if (!named) return null;
  return (value, memberId, path) => {
    if (!Array.isArray(value)) return value;
    const after = value.map((item, at) => named(item, memberId, `${path}.${at}`));
    if (after.every((item, at) => item === value[at])) return value;
    // Who is named twice, by the id as well, is one.
    return [...new Set(after)];
  };
}

function namedProperties(properties: Readonly<Record<string, TSchema>>): Named | null {
  const all = Object.entries(properties).flatMap(([name, property]) => {
    const named = namedIn(property);
    return named ? [[name, named] as const] : [];
  });
  if (all.length === 0) return null;
  return (value, memberId, path) => {
    if (value === null || typeof value !== 'object') return value;
    const given = value as Readonly<Record<string, unknown>>;
    let after: Record<string, unknown> | null = null;
    for (const [name, named] of all) {
      const is = given[name];
      if (is === undefined) continue;
      const becomes = named(is, memberId, path === '' ? name : `${path}.${name}`);
      if (becomes !== is) (after ??= { ...given })[name] = becomes;
    }
    return after ?? value;
  };
}
