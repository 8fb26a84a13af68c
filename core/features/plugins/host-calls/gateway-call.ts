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
