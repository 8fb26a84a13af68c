// The version of an object as an answer shows it, also where it shows too few fields to say it: entity tags are made of it.

const hidden = Symbol('version');

/** Marks an object that is shown without its version, so that its entity tag has it all the same. @returns the object */
export function withVersion<T extends object>(shown: T, version: unknown): T {
  return Object.assign(shown, { [hidden]: version });
}

/** The version of an object that is shown; undefined where it has none, such as a list. */
export function versionIn(body: unknown): number | undefined {
  if (body === null || typeof body !== 'object') return undefined;
  const { version, [hidden]: own = version } = body as { version?: unknown; [hidden]?: unknown };
  return typeof own === 'number' ? own : undefined;
}
