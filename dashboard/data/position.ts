/** Returns a position between two others in an ordered list; undefined stands for an end of the list. */
export function positionBetween(before: number | undefined, after: number | undefined): number {
  if (before !== undefined && after !== undefined) return (before + after) / 2;
  if (after !== undefined) return Math.ceil(after) - 1;
  return before === undefined ? 0 : Math.floor(before) + 1;
}
