// Request bodies with ids in place of `me` and of names, and every property under the one name that the operation knows: so that handlers
// see ids alone. Names within a team or a project are left to the operation, which knows the team (names.ts).
import type { TSchema } from 'typebox';
import type { Target } from '../contract/field.ts';
import type { Context } from '../context.ts';
import { ApiError, invalidField } from '../lib/errors.ts';
import type { CheckedInput, Route } from '../http/route.ts';
import { requireMe } from '../lib/me.ts';
import { alsoCalled, refersTo, takesMe } from '../lib/schema.ts';
import { idOfName } from './names.ts';

/** Path of a property by the name that the operation knows → its path as it was sent. */
type Sent = Map<string, string>;

interface Reading {
  readonly ctx: Context;
  readonly sent: Sent;
  /** Error of the first name that stands for nothing. */
  refusal: ApiError | null;
}

/** The value with ids; the same value where nothing changes. */
type Resolve = (value: unknown, reading: Reading, path: string) => unknown;

/** The route with handlers that see ids. */
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
      throw new Error(`${route.name} does not take names: only operations that read and write do.`);
  }
}

type Handler<T> = (ctx: Context, input: CheckedInput) => Promise<T>;

function asking<T>(
  read: (reading: Reading, input: CheckedInput) => CheckedInput,
  handle: Handler<T>,
): Handler<T> {
  return async (ctx, input) => {
    const reading: Reading = { ctx, sent: new Map(), refusal: null };
    const named = read(reading, input);
    const { sent, refusal } = reading;
    if (sent.size === 0 && !refusal) return handle(ctx, named);
    try {
      const answer = await handle(notingAsSent(ctx, sent), named);
      if (refusal) throw refusal;
      return answer;
    } catch (error) {
      // An object that the caller does not see is not found, whatever the body says.
      if (refusal && !(error instanceof ApiError && error.code !== 'validation_failed')) throw refusal;
      throw error instanceof ApiError ? asSent(error, sent) : error;
    }
  };
}

function notingAsSent(ctx: Context, sent: Sent): Context {
  const { resolved } = ctx;
  return resolved ? { ...ctx, resolved: (path, value) => resolved(sent.get(path) ?? path, value) } : ctx;
}

/** The error with the paths of the request. */
function asSent(error: ApiError, sent: Sent): ApiError {
  const [from, to] = [...sent].find(([path]) => error.message.startsWith(`${path}: `)) ?? ['', ''];
  return new ApiError(error.code, to + error.message.slice(from.length), {
    details: error.details.map((detail) => ({ ...detail, path: sent.get(detail.path) ?? detail.path })),
    headers: { ...error.headers },
    cause: error,
  });
}

/** @throws ApiError not_found where the path names nobody, or `me` and the caller is no member */
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
  readonly [refersTo]?: Target;
}

/** Null where no value of the schema names anything. */
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

/** The name itself where it stands for nothing: it is refused once the operation has found what it is about. */
function idOrNothing(reading: Reading, to: Target, name: string, path: string): string {
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
    // An object that is named twice, by its id as well, counts once.
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
    const given = value as Readonly<Record<string, unknown>>;
    const inside = (name: string): string => (path === '' ? name : `${path}.${name}`);
    let after: Record<string, unknown> | null = null;
    for (const { name, of = name, resolve } of all) {
      const is = given[name];
      if (is === undefined) continue;
      const becomes = resolve ? resolve(is, reading, inside(name)) : is;
      if (of === name && becomes === is) continue;
      after ??= { ...given };
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
  if (after[of] !== undefined) reading.refusal ??= bothGiven(inside(name), of);
  reading.sent.set(inside(of), inside(name));
  delete after[name];
}

function bothGiven(path: string, of: string): ApiError {
  return invalidField(path, 'conflict', {
    why: `It is another name for ${of}, which is given as well.`,
    fix: 'Leave one of the two out.',
  });
}
