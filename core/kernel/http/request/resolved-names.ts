// Records the ids that names in a request body resolved to when it was planned. A request that is stored to be executed later, such as a
// proposal, is stored with these ids, so that a later rename has no effect on it.
import { isDeepStrictEqual } from 'node:util';
import type { CheckedInput } from '../route.ts';

interface ResolvedNames {
  note(this: void, path: string, value: unknown): void;
  withIds(input: CheckedInput): Readonly<Record<string, unknown>>;
}

export function createResolvedNames(): ResolvedNames {
  /** Ids by path; undefined if one name resolved to several ids, such as a state in a bulk update of several teams. */
  const noted = new Map<string, unknown>();
  return {
    note(path, value) {
      const isSame = !noted.has(path) || isDeepStrictEqual(noted.get(path), value);
      noted.set(path, isSame ? value : undefined);
    },
    withIds(input) {
      if (noted.size === 0) return { ...input };
      const body: unknown = structuredClone(input.body);
      for (const [path, value] of noted) if (value !== undefined) put(body, path.split('.'), value);
      return { ...input, body };
    },
  };
}

function put(body: unknown, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (body === null || typeof body !== 'object' || !Object.hasOwn(body, name)) return;
  const at = body as Record<string, unknown>;
  if (rest.length === 0) at[name] = value;
  else put(at[name], rest, value);
}
