// Which request at the door a host call is, by its route and its arguments. What the arguments may hold is for the door to say.
import type { Argument, HostCall } from './host-calls.ts';

/** A call that cannot become a request; told to the guest as it is. */
export class CallError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export interface DoorRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** @throws CallError validation_failed */
export function requestOf({ route, takes }: HostCall, args: readonly unknown[]): DoorRequest {
  const given = (name: Argument): unknown => {
    const at = takes.indexOf(name);
    // `ids.map(ctx.issues.get)` hands on the index behind the id: no argument of ours is a number there.
    return takes[0] === 'id' && at === 1 && typeof args[1] === 'number' ? undefined : args[at];
  };
  const { ifVersion } = objectOf((takes.includes('options') && given('options')) || {});
  return {
    method: route.method,
    path:
      (takes.includes('id') ? route.path.replace('{id}', () => idOf(given('id'))) : route.path) +
      (takes.includes('query') ? queryOf(given('query')) : ''),
    ...(takes.includes('body') ? { body: objectOf(given('body')) } : {}),
    ...(ifVersion === undefined ? {} : { headers: { 'if-match': `"${String(ifVersion)}"` } }),
  };
}

function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[\w-]{1,80}$/.test(value))
    throw new CallError('validation_failed', 'Give an id.');
  return value;
}

/** Lists are comma-separated, filters are JSON: the guest may give either as plain values. @throws CallError validation_failed */
export function queryOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  const search = new URLSearchParams();
  for (const [name, given] of Object.entries(objectOf(value)))
    if (given !== undefined && given !== null) search.set(name, parameterOf(given));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}

function parameterOf(given: unknown): string {
  if (Array.isArray(given)) return given.join(',');
  return typeof given === 'object' ? JSON.stringify(given) : String(given);
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new CallError('validation_failed', 'Give an object.');
  return value as Record<string, unknown>;
}
