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
