// `GET /issues/titles`: issues by identifier or by the words of their titles, for palettes and pickers, which ask with
// each key press.
import type { Context } from '../../kernel/context.ts';
import { issueFiltering, issueModel, requestedFilters, type Issue } from '../issues/index.ts';
import { exactMatches, indexPending } from './find.ts';
import { matchTitles } from './query.ts';
import { findTeam } from '../../kernel/resource/names/teams.ts';
import { composedStatement, type Value } from '../../platform/store/statement.ts';
import { notDeleted } from '../../kernel/changes/list.ts';
import type { Condition } from '../../platform/store/page.ts';
import { readHits } from './rows.ts';
import { markOf } from './words.ts';

const titlesMax = 20;

interface TitlesQuery {
  readonly q: string;
  readonly team?: string;
}

/** Issues whose identifier or number is the query come first, then those whose identifier begins with it. @throws ApiError validation_failed */
export async function issueTitles(ctx: Context, query: TitlesQuery) {
  const conditions = await issueFiltering.conditions(ctx, requestedFilters(query));
  await indexPending(ctx);
  const exact = await exactMatches(ctx, query.q, conditions);
  const begun = await begunIdentifiers(ctx, query.q.trim(), conditions);
  const match = matchTitles(query.q, markOf(ctx.workspaceId));
  const hits =
    match === null ? [] : await readHits(ctx, { match, conditions, commentTeams: null, limit: titlesMax });
  const ids = [...new Set([...exact, ...begun, ...hits.map(({ issueId }) => issueId)])].slice(0, titlesMax);
  const issues = new Map((await issueModel.findMany(ctx, ids)).map((issue) => [issue.id, issue]));
  return { data: ids.flatMap((id) => toTitle(ctx, issues.get(id)) ?? []) };
}

const identifierStart = /^([A-Za-z][A-Za-z0-9]{0,9})-([1-9][0-9]{0,9})$/;
const numberMax = 9_999_999_999;

/** Returns the ranges of numbers that begin with the digits: one for each length, in ascending order. */
function rangesOf(digits: string): [first: number, last: number][] {
  const ranges: [number, number][] = [];
  let [first, last] = [Number(digits), Number(digits)];
  for (; first <= numberMax; [first, last] = [first * 10, last * 10 + 9]) ranges.push([first, last]);
  return ranges;
}

/** Returns the ids of issues whose identifier begins with the text, by number. */
async function begunIdentifiers(
  ctx: Context,
  text: string,
  conditions: readonly Condition[],
): Promise<string[]> {
  const [, key = '', digits] = identifierStart.exec(text) ?? [];
  const team = digits === undefined ? undefined : findTeam(ctx.directory, key);
  if (digits === undefined || !team || ctx.visibleTeams?.has(team.id) === false) return [];
  const given: Record<string, Value> = Object.assign({}, ...conditions.map(({ params }) => params));
  const where = [notDeleted, ...conditions].map(({ sql }) => sql).join(' AND ');
  // CROSS JOIN reads the ranges in their order, each from the index, and stops at the limit. ORDER BY would sort all rows.
  const rows = await ctx.store.read(
    ctx.scope,
    composedStatement<{ id: string }>(
      `SELECT issues.id AS id FROM (SELECT value ->> 0 AS first, value ->> 1 AS last FROM json_each(:ranges)) AS r
       CROSS JOIN issues INDEXED BY issues_number
       WHERE workspace_id = :ws AND team_id = :begunTeam AND number BETWEEN r.first AND r.last AND ${where} LIMIT ${titlesMax}`,
      null,
    ),
    { ...given, begunTeam: team.id, ranges: JSON.stringify(rangesOf(digits)) },
  );
  return rows.map(({ id }) => id);
}

function toTitle(ctx: Context, issue: Issue | undefined) {
  // An issue may be deleted after the index was read.
  if (!issue || issue.deletedAt !== null) return null;
  const { id, identifier, title, state, url } = issueModel.toResponse(issue, ctx);
  return { id, identifier, title, state, url };
}
