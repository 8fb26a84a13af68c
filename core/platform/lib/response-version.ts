// Carries the version of a response object for its entity tag, even if the response omits the field.

const hidden = Symbol('version');

/** Attaches the version to an object whose response omits it. */
export function withVersion<T extends object>(response: T, version: unknown): T {
  return Object.assign(response, { [hidden]: version });
}

/** Returns the version of a response object; undefined if it has none, such as a list. */
export function versionIn(body: unknown): number | undefined {
  if (body === null || typeof body !== 'object') return undefined;
  const { version, [hidden]: own = version } = body as { version?: unknown; [hidden]?: unknown };
  return typeof own === 'number' ? own : undefined;
}
