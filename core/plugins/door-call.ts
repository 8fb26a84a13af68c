// What a host call asks at the door, by its route and its arguments. What the arguments may hold is for the door to say.
import type { ValueCall } from '../http/values.ts';
import type { Argument, HostCall } from './host-calls.ts';

/** What cannot be asked at all; told to the guest as it is. */
export class CallError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export type DoorCall = Pick<ValueCall, 'params' | 'query' | 'body' | 'ifMatch'>;

/** @throws CallError validation_failed */
export function doorCallOf({ takes }: HostCall, args: readonly unknown[]): DoorCall {
  const given = (name: Argument): unknown => {
    const at = takes.indexOf(name);
    // `ids.map(ctx.issues.get)` hands on the index behind the id: no argument of ours is a number there.
    return takes[0] === 'id' && at === 1 && typeof args[1] === 'number' ? undefined : args[at];
  };
  const { ifVersion } = objectOf((takes.includes('options') && given('options')) || {});
  return {
    params: takes.includes('id') ? { id: idOf(given('id')) } : {},
    ...(takes.includes('query') ? { query: queryOf(given('query')) } : {}),
    ...(takes.includes('body') ? { body: objectOf(given('body')) } : {}),
    ...(ifVersion === undefined ? {} : { ifMatch: versionOf(ifVersion) }),
  };
}

function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[\w-]{1,80}$/.test(value))
    throw new CallError('validation_failed', 'Give an id.');
  return value;
}

/** A version that no object has stands for what is none. */
function versionOf(value: unknown): number {
  return /^\d{1,15}$/.test(String(value)) ? Number(value) : -1;
}

/** @throws CallError validation_failed */
export function queryOf(value: unknown): Record<string, unknown> {
  return value === undefined || value === null ? {} : objectOf(value);
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new CallError('validation_failed', 'Give an object.');
  return value as Record<string, unknown>;
}
