// The start-up tenant guard: a tenant statement is accepted only if its query plan reads every table through `workspace_id = ?`, and if its
// text can bind only the caller's workspace there. The text rules are needed because the plan does not show the bound value, and shows no
// rows for an INSERT. docs/spec/durability.md › The store.
import type { Statement } from './statement.ts';

const column = String.raw`(?:\w+\.)?workspace_id\b`;
const rule = (reason: string, pattern: string): { reason: string; pattern: RegExp } => ({
  reason,
  pattern: new RegExp(pattern, 'is'),
});

/** Patterns that the text must not contain, checked after its string literals are emptied. */
const rules = [
  rule('it contains a comment, which the guard cannot parse', String.raw`--|/\*`),
  rule('it quotes workspace_id, which the guard cannot parse', '["`[]\\s*workspace_id'),
  rule(
    'it compares workspace_id with something other than :ws',
    String.raw`workspace_id\s*(?:=(?!\s*(?::ws\b|\w+\.workspace_id\b|workspace_id\b))|<|>|!|(?:IS|IN|NOT|LIKE|GLOB|BETWEEN|COLLATE)\b)`,
  ),
  rule(
    'it compares workspace_id with an expression over :ws',
    String.raw`workspace_id\s*=\s*:ws\s*(?:[-+*/%&|<>=]|COLLATE\b)`,
  ),
  rule(
    'it has workspace_id on the right of a comparison',
    String.raw`(?<!workspace_id\s*)(?:[=<>]|\b(?:IS|NOT|IN|LIKE|GLOB|BETWEEN)\b)\s*${column}`,
  ),
  rule(
    'it compares workspace_id in a row value',
    String.raw`\([^()]*\bworkspace_id\b[^()]*\)\s*(?:[=<>!]|(?:IS|NOT|BETWEEN)\b|IN\b(?!\s*\(\s*SELECT\s+${column}))`,
  ),
  rule(
    'it compares workspace_id in a row value',
    String.raw`(?:[=<>]|\b(?:IS|IN|BETWEEN)\b)\s*\((?!\s*SELECT\b)[^()]*\bworkspace_id\b`,
  ),
  rule(
    'it gives the name workspace_id to something else',
    String.raw`(?<!:ws\s+|workspace_id\s+)\bAS\s+workspace_id\b|\b\w+\s*\([^()]*\bworkspace_id\b[^()]*\)\s*AS\b`,
  ),
  rule(
    'it gives the name workspace_id to something else',
    String.raw`(?:\)|(?<![:\w.])(?!(?:SELECT|DISTINCT|ALL|AS|WHERE|AND|OR|ON|BY|SET|RETURNING|WHEN|THEN|ELSE|CASE|HAVING|NOT|IN|IS)\b)\w+|:\w+|\.\w+)\s+workspace_id\b`,
  ),
  rule('it moves rows to another workspace', String.raw`\bSET\b(?:(?!\bWHERE\b).)*\bworkspace_id\s*=`),
  rule('it deletes without a condition', String.raw`\bDELETE\s+FROM\s+\w+(?!.*\bWHERE\b)`),
];

const anyInsert = /\bINSERT\b|\bREPLACE\s+INTO\b/gi;
const scopedInsert =
  /(?:\bINSERT\s+(?:OR\s+\w+\s+)?|\bREPLACE\s+)INTO\s+\w+\s*\(\s*workspace_id\b[^()]*\)\s*(?:VALUES\s*\(|SELECT)\s*:ws\s*,/gi;
const furtherArm = /\b(?:UNION(?:\s+ALL)?|EXCEPT|INTERSECT)\s+(?!\s|ALL\b|SELECT\s+:ws\s*,)/i;

/** Returns the violation of a tenant statement, or null. @param plan detail column of EXPLAIN QUERY PLAN */
export function tenantBreach(statement: Statement<unknown>, plan: readonly string[]): string | null {
  if (!statement.params.includes('ws')) return 'it never uses :ws';
  const text = statement.sql.replace(/'[^']*'/g, "''");
  const broken = rules.find(({ pattern }) => pattern.test(text));
  if (broken) return broken.reason;

  const inserts = text.match(anyInsert)?.length ?? 0;
  if (inserts !== (text.match(scopedInsert)?.length ?? 0))
    return 'an INSERT must name workspace_id first and write :ws there';
  if (inserts > 0 && furtherArm.test(text)) return 'an INSERT must write :ws in every arm of its SELECT';
  return planBreach(text, plan);
}

/**
 * The full-text index has no workspace column. Two read forms are allowed: each matching row is joined, in the same FROM, to the caller's
 * row in `search_documents` that owns the words; or a fixed query ranks the best matches first and then joins them. Rows are deleted only
 * through that owning row. Further clauses cannot widen an inner join.
 */
const fullTextIndex = 'search_index';
const ofCaller = String.raw`CROSS JOIN search_documents AS d ON d\.workspace_id = :ws AND d\.doc =`;
const whoseWords = new RegExp(
  String.raw`\b(?:FROM ${fullTextIndex} ${ofCaller} ${fullTextIndex}\.rowid WHERE ${fullTextIndex} MATCH :\w+` +
    String.raw`|^DELETE FROM ${fullTextIndex} WHERE rowid IN \(SELECT d\.doc FROM json_each\(:\w+\) AS t ` +
    String.raw`CROSS JOIN search_documents AS d ON d\.workspace_id = :ws AND d\.issue_id = t\.value(?:->>0 AND d\.id = t\.value->>1)?\)$)` +
    String.raw`(?!\s*(?:[-+*/%&|<>=]|COLLATE\b))`,
  'g',
);
const selectedOfBest = String.raw`(?:d\.\w+|nullif\(d\.\w+, d\.\w+\)) AS \w+`;
const whoseWordsOfBest = new RegExp(
  String.raw`^WITH ranked AS MATERIALIZED \( ?SELECT doc, score FROM \( ?` +
    String.raw`SELECT ${fullTextIndex}\.rowid AS doc, bm25\(${fullTextIndex}[, .\d]*\) AS score FROM ${fullTextIndex} ` +
    String.raw`WHERE ${fullTextIndex} MATCH :\w+ ORDER BY ${fullTextIndex}\.rowid DESC LIMIT \d+ ?\) ` +
    String.raw`ORDER BY score, doc DESC LIMIT :\w+ ?\) SELECT ${selectedOfBest}(?:, ${selectedOfBest})* ` +
    String.raw`FROM ranked ${ofCaller} ranked\.doc ORDER BY ranked\.score, ranked\.doc DESC$`,
);

function ownWordsIn(text: string): number {
  const line = text.replaceAll(/\s+/g, ' ');
  return whoseWordsOfBest.test(line) ? 1 : (line.match(whoseWords)?.length ?? 0);
}

function planBreach(text: string, plan: readonly string[]): string | null {
  const derived = derivedTables(plan);
  const wordReads = plan.filter((line) => line.startsWith(`SCAN ${fullTextIndex} VIRTUAL TABLE INDEX`));
  if (wordReads.length !== ownWordsIn(text))
    return `it reads ${fullTextIndex} without the required join to search_documents`;
  const mistakable = derived.find((name) => isAliasOfTable(name, text));
  if (mistakable !== undefined) return `a table has the alias of the derived table ${mistakable}`;
  const lists = listsOf(text);
  for (const line of plan) {
    const read = /^(?:SCAN|SEARCH) (\S+)/.exec(line)?.[1];
    const isKnown = read === undefined || line === 'SCAN CONSTANT ROW' || derived.includes(read);
    if (isKnown || wordReads.includes(line)) continue;
    if (line.includes(' VIRTUAL TABLE INDEX') && lists.has(read)) continue;
    if (!line.includes('(workspace_id=?')) return `its plan reads across workspaces: ${line}`;
  }
  return null;
}

/** Returns the names of derived tables; the tables they read have their own plan lines. */
function derivedTables(plan: readonly string[]): string[] {
  return plan.flatMap((line) => /^(?:MATERIALIZE|CO-ROUTINE) (\S+)/.exec(line)?.[1] ?? []);
}

function isAliasOfTable(name: string, text: string): boolean {
  return (
    /^\w+$/.test(name) && new RegExp(`\\b(?:FROM|JOIN|,)\\s*\\w+\\s+(?:AS\\s+)?${name}\\b`, 'i').test(text)
  );
}

/** Returns the aliases of json_each over a parameter or over a part of a column, which reads no table. */
function listsOf(text: string): ReadonlySet<string> {
  return new Set(
    [...text.matchAll(/\bjson_each\((?::\w+|\w+, '')\)(?:\s+(?:AS\s+)?(\w+))?/gi)].flatMap(([, alias]) => [
      'json_each',
      alias ?? 'json_each',
    ]),
  );
}
