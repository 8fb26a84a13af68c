// Whether a composed list costs no more than what it returns, or may look at every row of its workspace. Read off the query
// plan: an index must find the rows by every condition, and hand them out in order.

/** `?` of the plan stands where the index seeks: `(workspace_id=? AND team_id=? AND created_at<?)`. */
const seek = /^SEARCH \w+ USING (?:COVERING )?(?:INDEX (\w+)|PRIMARY KEY) \((.*)\)$/;
const comparison = /^(\w+) (?:(?:=|[<>]=?) :\w+|(IN) \([^()]*\))$/;

/**
 * @param plan the detail column of EXPLAIN QUERY PLAN
 * @param terms the conditions of the list, beside its workspace and the place its cursor names
 * @param definitionOf the text that made an index
 */
export function isScan(
  plan: readonly string[],
  terms: readonly string[],
  definitionOf: (index: string) => string,
): boolean {
  // Rows that are sorted after they were found were all found.
  if (plan.some((line) => line.includes('TEMP B-TREE'))) return true;
  const found = plan.map((line) => seek.exec(line)).find((match) => match !== null);
  if (!found) return true;
  const [, index, sought = ''] = found;
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
