// Replaces names and `me` in request paths and bodies by ids, and aliases of properties by their canonical
// names, so that handlers receive only ids. Names that are unique only within a team or a project are
// resolved by the operation (names.ts).
import type { TSchema } from 'typebox';
import type { ReferenceTarget } from '../../contract/field.ts';
import type { Context } from '../../context.ts';
import { ApiError, invalidField } from '../../../platform/lib/errors/errors.ts';
import type { CheckedInput, Route } from '../../http/route.ts';
import { requireMe } from '../../../platform/lib/me.ts';
import { alsoCalled, refersTo, takesMe } from '../../../platform/lib/schema.ts';
import { idOfName } from './names.ts';

/** Path with canonical property names → path in the request. */
type SentPaths = Map<string, string>;

interface Reading {
  readonly ctx: Context;
  readonly sent: SentPaths;
  /** Error of the first name that cannot be resolved. */
  refusal: ApiError | null;
}

/** Returns the value with ids; the same value if nothing changes. */
type Resolve = (value: unknown, reading: Reading, path: string) => unknown;

/** Returns the route with handlers that receive ids. */
export function withIds(route: Route): Route {
  const inPath = resolveIn(route.params);
  const inBody = resolveIn(route.body);
  if (!inPath && !inBody) return route;
  const read = (reading: Reading, input: CheckedInput): CheckedInput => {
    const params = inPath ? pathOf(inPath, input.params, reading) : input.params;
    const body = inBody ? inBody(input.body, reading, '') : input.body;
    return { ...input, params: params as CheckedInput['params'], body: body as CheckedInput['body'] };
  };
  switch (route.kind) {
    case 'read':
      return { ...route, read: asking(read, (ctx, input) => route.read(ctx, input)) };
    case 'write':
      return { ...route, write: asking(read, (ctx, input) => route.write(ctx, input)) };
    default:
      throw new Error(`${route.name} cannot take names: only read and write routes can.`);
  }
}

type Handler<T> = (ctx: Context, input: CheckedInput) => Promise<T>;

function asking<T>(
  read: (reading: Reading, input: CheckedInput) => CheckedInput,
  handle: Handler<T>,
): Handler<T> {
  return async (ctx, input) => {
    const reading: Reading = { ctx, sent: new Map(), refusal: null };
    const resolvedInput = read(reading, input);
    const { sent, refusal } = reading;
    if (sent.size === 0 && !refusal) return handle(ctx, resolvedInput);
    try {
      const answer = await handle(notingAsSent(ctx, sent), resolvedInput);
      if (refusal) throw refusal;
      return answer;
    } catch (error) {
      // Other errors take precedence over an unresolved name, so that an object that the caller cannot see is
      // always reported as not found.
      if (refusal && !(error instanceof ApiError && error.code !== 'validation_failed')) throw refusal;
      throw error instanceof ApiError ? asSent(error, sent) : error;
    }
  };
}

function notingAsSent(ctx: Context, sent: SentPaths): Context {
  const { resolved } = ctx;
  return resolved ? { ...ctx, resolved: (path, value) => resolved(sent.get(path) ?? path, value) } : ctx;
}

/** Replaces canonical paths in an error by the paths that the request used. */
function asSent(error: ApiError, sent: SentPaths): ApiError {
  const [from, to] = [...sent].find(([path]) => error.message.startsWith(`${path}: `)) ?? ['', ''];
  return new ApiError(error.code, to + error.message.slice(from.length), {
    details: error.details.map((detail) => ({ ...detail, path: sent.get(detail.path) ?? detail.path })),
    headers: { ...error.headers },
    cause: error,
  });
}

/** @throws ApiError not_found if the path names no object, or `me` and the caller is not a member */
function pathOf(inPath: Resolve, params: unknown, reading: Reading): unknown {
  try {
    return inPath(params, reading, '');
  } catch (error) {
    throw error instanceof ApiError ? new ApiError('not_found') : error;
  }
}

interface Shape {
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly items?: TSchema;
  readonly anyOf?: readonly TSchema[];
  readonly [refersTo]?: ReferenceTarget;
}

/** Returns null if no value of the schema contains names. */
function resolveIn(schema: TSchema | undefined): Resolve | null {
  if (!schema) return null;
  if (takesMe in schema)
    return (value, { ctx }, path) => (value === 'me' ? requireMe(ctx.actor.memberId, path) : value);
  const { properties, items, anyOf, [refersTo]: to } = schema as Shape;
  if (to?.names?.within) return null;
  if (to)
    return (value, reading, path) =>
      typeof value === 'string' ? idOrNothing(reading, to, value, path) : value;
  if (anyOf) return anyOf.map(resolveIn).find((resolve) => resolve !== null) ?? null;
  if (items) return resolveItems(items);
  return properties ? resolveProperties(properties) : null;
}

/** Returns an unresolved name unchanged: it is rejected after the operation has found its object. */
function idOrNothing(reading: Reading, to: ReferenceTarget, name: string, path: string): string {
  try {
    return idOfName(reading.ctx, to, name, path);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    reading.refusal ??= error;
    return name;
  }
}

function resolveItems(items: TSchema): Resolve | null {
  const resolve = resolveIn(items);
  if (!resolve) return null;
  return (value, reading, path) => {
    if (!Array.isArray(value)) return value;
    const after = value.map((item, at) => resolve(item, reading, `${path}.${at}`));
    if (after.every((item, at) => item === value[at])) return value;
    // An object that is named twice, for example by name and by id, counts once.
    return [...new Set(after)];
  };
}

function resolveProperties(properties: Readonly<Record<string, TSchema>>): Resolve | null {
  const all = Object.entries(properties).flatMap(([name, property]) => {
    const { [alsoCalled]: of } = property as { [alsoCalled]?: string };
    const resolve = resolveIn(property);
    return resolve || of !== undefined ? [{ name, of, resolve }] : [];
  });
  if (all.length === 0) return null;
  return (value, reading, path) => {
    if (value === null || typeof value !== 'object') return value;
    const input = value as Readonly<Record<string, unknown>>;
    const inside = (name: string): string => (path === '' ? name : `${path}.${name}`);
    let after: Record<string, unknown> | null = null;
    for (const { name, of = name, resolve } of all) {
      const is = input[name];
      if (is === undefined) continue;
      const becomes = resolve ? resolve(is, reading, inside(name)) : is;
      if (of === name && becomes === is) continue;
      after ??= { ...input };
      if (of !== name) rename(after, reading, inside, { name, of });
      after[of] = becomes;
    }
    return after ?? value;
  };
}

function rename(
  after: Record<string, unknown>,
  reading: Reading,
  inside: (name: string) => string,
  { name, of }: { readonly name: string; readonly of: string },
): void {
  if (after[of] !== undefined) reading.refusal ??= bothNamesSent(inside(name), of);
  reading.sent.set(inside(of), inside(name));
  delete after[name];
}

function bothNamesSent(path: string, of: string): ApiError {
  return invalidField(path, 'conflict', {
    why: `This is another name for ${of}, which is also given.`,
    fix: `Remove this field or ${of}.`,
  });
}
