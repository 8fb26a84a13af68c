// `GET /issues/titles`: issues by identifier or by the words of their titles, for palettes and pickers, which ask with
// each key press.
import type { Context } from '../../kernel/context.ts';
import { issueFiltering, issueModel, requestedFilters, type Issue } from '../issues/index.ts';
import { exactMatches, indexPending } from './find.ts';
import { matchTitles } from './query.ts';
import { readHits } from './rows.ts';
import { markOf } from './words.ts';

const titlesMax = 20;

interface TitlesQuery {
  readonly q: string;
  readonly team?: string;
}

/** Issues whose identifier or number is the query precede all others. @throws ApiError validation_failed */
export async function issueTitles(ctx: Context, query: TitlesQuery) {
  const conditions = await issueFiltering.conditions(ctx, requestedFilters(query));
  await indexPending(ctx);
  const exact = await exactMatches(ctx, query.q, conditions);
  const match = matchTitles(query.q, markOf(ctx.workspaceId));
  const hits =
    match === null ? [] : await readHits(ctx, { match, conditions, commentTeams: null, limit: titlesMax });
  const ids = [...new Set([...exact, ...hits.map(({ issueId }) => issueId)])].slice(0, titlesMax);
  const issues = new Map((await issueModel.findMany(ctx, ids)).map((issue) => [issue.id, issue]));
  return { data: ids.flatMap((id) => toTitle(ctx, issues.get(id)) ?? []) };
}

function toTitle(ctx: Context, issue: Issue | undefined) {
  // An issue may be deleted after the index was read.
  if (!issue || issue.deletedAt !== null) return null;
  const { id, identifier, title, state, url } = issueModel.toResponse(issue, ctx);
  return { id, identifier, title, state, url };
}
