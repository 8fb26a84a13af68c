// Finds the first difference of two JSON values as a JSON pointer (RFC 6901), ignoring the order of keys.

export interface Difference {
  /** JSON pointer; empty if the values differ as a whole. */
  readonly at: string;
  /** Undefined if the value is absent on this side. */
  readonly one: unknown;
  readonly other: unknown;
}

export function firstDifference(one: unknown, other: unknown): Difference | null {
  /**
   * Values still to compare, next one last. The stack is explicit, because values may be nested deeper than
   * the call stack allows.
   */
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
