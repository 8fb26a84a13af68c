// Estimates from its query plan if a composed list may scan every row of its workspace. A list is bounded if an index covers every
// condition and returns the rows in order.

/** In a plan, `?` marks the values that the index seeks: `(workspace_id=? AND team_id=? AND created_at<?)`. */
const seek = /^SEARCH \w+ USING (?:COVERING )?(?:INDEX (\w+)|PRIMARY KEY) \((.*)\)$/;
const comparison = /^(\w+) (?:(?:=|[<>]=?) :\w+|(IN) \([^()]*\))$/;

/**
 * @param plan detail column of EXPLAIN QUERY PLAN
 * @param terms conditions of the list, without its workspace and cursor position
 * @param definitionOf returns the SQL that created an index
 */
export function isScan(
  plan: readonly string[],
  terms: readonly string[],
  definitionOf: (index: string) => string,
): boolean {
  // A sort reads all matching rows before the first one is returned.
  if (plan.some((line) => line.includes('TEMP B-TREE'))) return true;
  const match = plan.map((line) => seek.exec(line)).find((match) => match !== null);
  if (!match) return true;
  const [, index, sought = ''] = match;
  const partial = index === undefined ? '' : (/\bWHERE\b(.*)$/s.exec(definitionOf(index))?.[1] ?? '');
  const bySeek = new Set([...sought.matchAll(/\b(\w+)[=<>]\?/g)].map((match) => match[1]));
  return !terms.every((term) => {
    const bare = unwrapped(term);
    const column = comparison.exec(bare)?.[1];
    return (column !== undefined && bySeek.has(column)) || partial.includes(bare);
  });
}

function unwrapped(term: string): string {
  const inner = /^\(([^()]*(?:\([^()]*\))?)\)$/.exec(term)?.[1];
  return inner === undefined ? term : unwrapped(inner);
}
