// Statements that read the full-text index. Each index row is joined to its document row of the caller's
// workspace, as the tenant guard requires; filters then apply to the issues that are left.
import type { Context } from '../../kernel/context.ts';
import type { Condition } from '../../platform/store/page.ts';
import { composedStatement, type Statement, type Value } from '../../platform/store/statement.ts';

/** Rank of a match: a title weighs more than a description, and a description more than a comment. */
const score = 'bm25(search_index, 8.0, 2.0, 1.0)';

/** Only the most recent matches are ranked, up to this number, so that a frequent word stays cheap. */
const rankedMax = 3_000;

/**
 * Without further conditions, ranks first and joins only the best rows: joining all of them costs more than
 * ranking them.
 */
const bestOfAll = composedStatement<HitRow>(
  `WITH ranked AS MATERIALIZED (
     SELECT doc, score FROM (
       SELECT search_index.rowid AS doc, ${score} AS score FROM search_index
       WHERE search_index MATCH :match ORDER BY search_index.rowid DESC LIMIT ${rankedMax})
     ORDER BY score, doc DESC LIMIT :limit)
   SELECT d.issue_id AS hit_issue, nullif(d.id, d.issue_id) AS hit_comment
   FROM ranked CROSS JOIN search_documents AS d ON d.workspace_id = :ws AND d.doc = ranked.doc
   ORDER BY ranked.score, ranked.doc DESC`,
  null,
);

export interface Hit {
  readonly issueId: string;
  /** Id of the matching comment; null if the issue itself matches. */
  readonly commentId: string | null;
}

interface HitRow {
  readonly hit_issue: string;
  readonly hit_comment: string | null;
}

interface Sought {
  readonly match: string;
  readonly conditions: readonly Condition[];
  /** Teams whose comments may match; null for all. */
  readonly commentTeams: ReadonlySet<string> | null;
  /** Number of texts wanted. */
  readonly limit: number;
}

export async function readHits(ctx: Context, sought: Sought): Promise<Hit[]> {
  const { match, limit } = sought;
  const narrowed = narrowing(ctx, sought);
  const rows = await ctx.store.read(ctx.scope, narrowed ? bestAmong(narrowed.sql) : bestOfAll, {
    ...narrowed?.params,
    match,
    limit,
  });
  return rows.map(({ hit_issue: issueId, hit_comment: commentId }) => ({ issueId, commentId }));
}

/** Returns conditions in addition to the words; null for none. */
function narrowing(
  { visibleTeams }: Context,
  { conditions, commentTeams }: Sought,
): Pick<Condition, 'sql' | 'params'> | null {
  if (visibleTeams === null && commentTeams === null && conditions.length === 0) return null;
  const params: Record<string, Value> = Object.assign({}, ...conditions.map((condition) => condition.params));
  const inTeams = (teams: ReadonlySet<string>, name: string): string => {
    params[name] = JSON.stringify([...teams]);
    return `d.team_id IN (SELECT value FROM json_each(:${name}))`;
  };
  const terms: string[] = [];
  if (visibleTeams !== null) terms.push(inTeams(visibleTeams, 'seenTeams'));
  if (commentTeams !== null) terms.push(`(d.id = d.issue_id OR ${inTeams(commentTeams, 'commentTeams')})`);
  if (conditions.length > 0) {
    const among = ['deleted_at IS NULL', ...conditions.map((condition) => condition.sql)].join(' AND ');
    terms.push(
      `EXISTS (SELECT 1 FROM issues WHERE workspace_id = :ws AND issues.id = d.issue_id AND ${among})`,
    );
  }
  return { sql: terms.join(' AND '), params };
}

function bestAmong(narrowed: string): Statement<HitRow> {
  return composedStatement<HitRow>(
    `WITH hits AS MATERIALIZED (
    SELECT d.issue_id AS hit_issue, nullif(d.id, d.issue_id) AS hit_comment, d.doc AS hit_doc, ${score} AS hit_score
    FROM search_index CROSS JOIN search_documents AS d ON d.workspace_id = :ws AND d.doc = search_index.rowid
    WHERE search_index MATCH :match AND ${narrowed} ORDER BY search_index.rowid DESC LIMIT ${rankedMax})
    SELECT hit_issue, hit_comment FROM hits ORDER BY hit_score, hit_doc DESC LIMIT :limit`,
    null,
  );
}
