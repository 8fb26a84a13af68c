// Where two JSON values differ first, as a JSON pointer (RFC 6901). The order of keys does not count.

export interface Difference {
  /** Empty where the values differ as a whole. */
  readonly at: string;
  /** Undefined where it has none. */
  readonly one: unknown;
  readonly other: unknown;
}

/** Null where they are the same. Neither is deeper than what `JSON.parse` made of a text that a guest could write. */
export function firstDifference(one: unknown, other: unknown): Difference | null {
  /** What is left to compare, the next last: values may be nested more deeply than calls may. */
  const left: Difference[] = [{ at: '', one, other }];
  for (let next = left.pop(); next; next = left.pop()) {
    if (Object.is(next.one, next.other)) continue;
    const [mine, theirs] = [partsOf(next.one), partsOf(next.other)];
    if (!mine || !theirs || Array.isArray(next.one) !== Array.isArray(next.other)) return next;
    const keys = [...new Set([...mine.keys(), ...theirs.keys()])];
    for (const key of keys.toReversed())
      left.push({
        at: `${next.at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
        one: mine.get(key),
        other: theirs.get(key),
      });
  }
  return null;
}

function partsOf(value: unknown): ReadonlyMap<string, unknown> | null {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : null;
}
