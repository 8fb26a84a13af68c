// Translates the arguments of a host call into an API request. The route validates their content.
import type { ValueCall } from '../../../kernel/http/values.ts';
import type { Argument, HostCall } from './host-calls.ts';

/** Error of a host call. The guest receives its code and message unchanged. */
export class CallError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export type GatewayCall = Pick<ValueCall, 'params' | 'query' | 'body' | 'ifMatch'>;

/** @throws CallError validation_failed */
export function gatewayCallOf({ takes }: HostCall, args: readonly unknown[]): GatewayCall {
  const argument = (name: Argument): unknown => {
    const at = takes.indexOf(name);
    // `ids.map(ctx.issues.get)` passes the array index as second argument; no second argument of a call is a number.
    return takes[0] === 'id' && at === 1 && typeof args[1] === 'number' ? undefined : args[at];
  };
  const { ifVersion } = objectOf((takes.includes('options') && argument('options')) || {});
  return {
    params: takes.includes('id') ? { id: idOf(argument('id')) } : {},
    ...(takes.includes('query') ? { query: queryOf(argument('query')) } : {}),
    ...(takes.includes('body') ? { body: objectOf(argument('body')) } : {}),
    ...(ifVersion === undefined ? {} : { ifMatch: versionOf(ifVersion) }),
  };
}

function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[\w-]{1,80}$/.test(value))
    throw new CallError('validation_failed', 'An id must be a string of up to 80 letters, digits, _ and -.');
  return value;
}

/** An invalid version becomes one that no object has, so the request fails as a version conflict. */
function versionOf(value: unknown): number {
  return /^\d{1,15}$/.test(String(value)) ? Number(value) : -1;
}

/** @throws CallError validation_failed */
export function queryOf(value: unknown): Record<string, unknown> {
  return value === undefined || value === null ? {} : objectOf(value);
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new CallError('validation_failed', 'The argument must be an object.');
  return value as Record<string, unknown>;
}

// Shortens objects for the guest: descriptions longer than 64 KiB are cut, and `truncated` marks them.

const descriptionCharsMax = 64 * 1024;

/** Returns the JSON of an answer with long descriptions cut; `null` for an empty answer. */
export function textOf(body: unknown): string {
  if (body === undefined) return 'null';
  const text = JSON.stringify(body);
  return text.length <= descriptionCharsMax ? text : JSON.stringify(cutDescriptions(body));
}

/** Cuts `description` of the object itself, of its `previous`, and of the items of a page. */
export function cutDescriptions(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(cutDescriptions);
  const object = value as Record<string, unknown>;
  const copy: Record<string, unknown> = { ...object };
  for (const inner of ['data', 'previous']) if (inner in copy) copy[inner] = cutDescriptions(copy[inner]);
  if (typeof object.description === 'string' && object.description.length > descriptionCharsMax) {
    copy.description = object.description.slice(0, descriptionCharsMax).toWellFormed();
    copy.truncated = true;
  }
  return copy;
}
