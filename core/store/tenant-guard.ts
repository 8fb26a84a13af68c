// The start-up tenant guard: a tenant statement may run only if its query plan reads every table through
// `workspace_id = ?`, and its text cannot bind any workspace but the caller's. Architecture › The store.
import type { Statement } from './statement.ts';

/** Returns what is wrong with a tenant statement, or null. `plan` holds the detail column of EXPLAIN QUERY PLAN. */
export function tenantBreach(statement: Statement<unknown>, plan: readonly string[]): string | null {
  const text = statement.sql.replace(/'[^']*'/g, "''");
  if (!statement.params.includes('ws')) return 'it never uses :ws';
  const compared = text.match(
    /workspace_id\s*(?:=|IN\b|IS\b|<|>|!)(?!\s*\(?\s*(?::ws\b|\w+\.workspace_id\b))/i,
  );
  if (compared) return 'it compares workspace_id with something other than :ws';
  if (/\bSET\b[^;]*\bworkspace_id\s*=/i.test(text.replace(/\bWHERE\b.*/is, '')))
    return 'it moves rows to another workspace';
  for (const [, columns = '', source = ''] of text.matchAll(
    /INSERT\s+(?:OR\s+\w+\s+)?INTO\s+\w+\s*\(([^)]*)\)\s*((?:VALUES\s*\(|SELECT)\s*\S+)/gi,
  )) {
    if (!/^\s*workspace_id\b/.test(columns)) return 'an INSERT must name workspace_id first';
    if (!/^(?:VALUES\s*\(|SELECT)\s*:ws\b/i.test(source))
      return 'an INSERT must write :ws as its workspace_id';
  }
  if (/\bINSERT\b/i.test(text) && !/INSERT\s+(?:OR\s+\w+\s+)?INTO\s+\w+\s*\(/i.test(text))
    return 'an INSERT must list its columns';

  const derived = new Set<string>();
  for (const line of plan) {
    const made = /^(?:MATERIALIZE|CO-ROUTINE) (\S+)/.exec(line);
    if (made) derived.add(made[1] ?? '');
  }
  for (const line of plan) {
    const read = /^(?:SCAN|SEARCH) (\S+)/.exec(line);
    if (!read || line === 'SCAN CONSTANT ROW') continue;
    // json_each reads a bound parameter, not a table.
    if (derived.has(read[1] ?? '') || (/ VIRTUAL TABLE INDEX/.test(line) && /json_each\(:/.test(text)))
      continue;
    if (!line.includes('(workspace_id=?')) return `its plan reads across workspaces: ${line}`;
  }
  return null;
}
