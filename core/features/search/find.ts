// `GET /search`: issues that match all words in their own text or in one comment, best match first. An issue
// whose identifier or number is the query precedes all others.
import { contentParameters, cursorOf, notDeleted, type PageParameters } from '../../kernel/changes/list.ts';
import type { Context } from '../../kernel/context.ts';
import { decodeCursor, encodeCursor } from '../../platform/lib/cursor.ts';
import { identifierInputPattern } from '../../platform/lib/ids.ts';
import { limitDefault } from '../../platform/lib/schema.ts';
import { sortedParameters, type Condition } from '../../platform/store/page.ts';
import { composedStatement, tenantStatement, type Value } from '../../platform/store/statement.ts';
import {
  issueFiltering,
  requestedFilters,
  type IssueFilters,
  issueModel,
  type Issue,
} from '../issues/index.ts';
import { readHits, type Hit } from './rows.ts';
import { matchOf, parseQuery, type Query, type Phrase, rangesIn, type Range } from './query.ts';
import type { FoundIssue, Highlight } from './bodies.ts';
import { markOf } from './words.ts';

/** Maximum depth of pagination. */
export const depthMax = 1_000;
/** Maximum time in milliseconds that a search waits for pending changes to be indexed. */
const waitMs = 1_000;
/** Number of texts read per requested issue, since several texts may belong to one issue. */
const textsPerIssue = 3;
const exactMatchesMax = 5;

export type SearchQuery = PageParameters & IssueFilters & { q: string };

/** @throws ApiError validation_failed, invalid_cursor, budget_exceeded */
export async function searchIssues(ctx: Context, request: SearchQuery) {
  const query = parseQuery(request.q);
  const list = `${ctx.workspaceId} search ${JSON.stringify(sortedParameters(contentParameters(request)))}`;
  const offset = offsetOf(ctx, list, cursorOf(request));
  const limit = request.limit ?? limitDefault;
  const conditions = await issueFiltering.conditions(ctx, requestedFilters(request));
  const isComplete = await indexPending(ctx);
  const hits = await bestOf(ctx, query, { q: request.q, conditions, until: offset + limit + 1 });
  const page = hits.slice(offset, offset + limit);
  const end = offset + page.length;
  const hasNextPage = hits.length > end && end < depthMax;
  return {
    data: await toSearchHits(ctx, page, query),
    pageInfo: {
      hasNextPage,
      endCursor: page.length > 0 ? encodeCursor(ctx.sealing, list, [end]) : null,
      isComplete,
    },
  };
}

function offsetOf({ sealing }: Context, list: string, cursor: string | undefined): number {
  return cursor === undefined ? 0 : Number(decodeCursor(sealing, list, cursor)[0]);
}

/**
 * Indexes pending changes, so that a search finds them.
 * @returns true if all were indexed; false if too many are pending or the store rejects writes
 */
export function indexPending({ projections, scope }: Context): Promise<boolean> {
  return projections.catchUp(scope, performance.now() + waitMs);
}

interface Sought {
  readonly q: string;
  readonly conditions: readonly Condition[];
  /** Number of issues wanted. */
  readonly until: number;
}

/** Returns each issue once, with its best matching comment. */
async function bestOf(ctx: Context, query: Query, { q, conditions, until }: Sought): Promise<Hit[]> {
  if (query.wanted.length === 0) return [];
  const best = new Map<string, Hit>();
  for (const issueId of await exactMatches(ctx, q, conditions))
    best.set(issueId, { issueId, commentId: null });
  const exactCount = best.size;
  const { columns, commentTeams } = saidTo(ctx);
  const match = matchOf(query, markOf(ctx.workspaceId), columns);
  const read = async (limit: number): Promise<boolean> => {
    const hits = await readHits(ctx, { match, conditions, commentTeams, limit });
    for (const hit of hits) {
      const known = best.get(hit.issueId);
      if (!known) best.set(hit.issueId, hit);
      else if (known.commentId === null && hit.commentId !== null) best.set(hit.issueId, hit);
    }
    return hits.length < limit;
  };
  const isAll = await read(Math.min(depthMax, until * textsPerIssue));
  if (!isAll && best.size - exactCount < until) await read(depthMax);
  return [...best.values()];
}

/**
 * Returns the texts that the caller may search: comments need their own scope, which may be limited to some
 * teams.
 */
function saidTo({ scopes, narrowed, directory }: Context): {
  columns: readonly string[] | null;
  commentTeams: ReadonlySet<string> | null;
} {
  if (scopes.has('comments:read')) return { columns: null, commentTeams: null };
  const narrowing = narrowed?.get('comments:read');
  if (!narrowing) return { columns: ['title', 'description'], commentTeams: null };
  const { teams } = narrowing;
  if (teams === null) return { columns: null, commentTeams: null };
  const ids = [...directory.teams.values()].filter(({ key }) => teams.includes(key)).map(({ id }) => id);
  return { columns: null, commentTeams: new Set(ids) };
}

const identifier = new RegExp(identifierInputPattern);
const aNumber = /^#?(\d{1,9})$/;

/** Returns the ids of issues with that identifier, or with that number in any team. */
export async function exactMatches(
  ctx: Context,
  q: string,
  conditions: readonly Condition[],
): Promise<string[]> {
  const name = q.trim();
  const number = aNumber.exec(name)?.[1];
  const of = identifier.test(name) ? await issueModel.find(ctx, name) : undefined;
  if (number === undefined && !of) return [];
  const teams = [...(ctx.visibleTeams ?? ctx.directory.teams.keys())];
  const params: Record<string, Value> = Object.assign({}, ...conditions.map((condition) => condition.params));
  const own = of
    ? { sql: 'id = :named', params: { named: of.id } }
    : {
        sql: 'team_id IN (SELECT value FROM json_each(:named)) AND number = :number',
        params: { named: JSON.stringify(teams), number: Number(number) },
      };
  const where = [own, notDeleted, ...conditions].map(({ sql }) => sql).join(' AND ');
  const rows = await ctx.store.read<{ id: string }>(
    ctx.scope,
    composedStatement<{ id: string }>(
      `SELECT id FROM issues WHERE workspace_id = :ws AND ${where} ORDER BY updated_at DESC, id LIMIT ${exactMatchesMax}`,
      null,
    ),
    { ...params, ...own.params },
  );
  return rows.map(({ id }) => id);
}

const bodiesOf = tenantStatement<{ id: string; body: string }>(
  'comments.bodies_of',
  `SELECT id, body FROM comments WHERE workspace_id = :ws AND deleted_at IS NULL AND id IN (SELECT value FROM json_each(:ids))`,
);

async function toSearchHits(ctx: Context, hits: readonly Hit[], { wanted }: Query) {
  const commentIds = hits.flatMap(({ commentId }) => commentId ?? []);
  const [issues, bodies] = await Promise.all([
    issueModel.findMany(
      ctx,
      hits.map(({ issueId }) => issueId),
    ),
    commentIds.length === 0 ? [] : ctx.store.read(ctx.scope, bodiesOf, { ids: JSON.stringify(commentIds) }),
  ]);
  const issueOf = new Map(issues.map((issue) => [issue.id, issue]));
  const bodyOf = new Map(bodies.map(({ id, body }) => [id, body]));
  return hits.flatMap(({ issueId, commentId }) => {
    const issue = issueOf.get(issueId);
    // An issue may be deleted after the index was read.
    if (!issue || issue.deletedAt !== null) return [];
    const highlights = [
      ...highlighted({ field: 'title', commentId: null }, issue.title, wanted),
      ...highlighted({ field: 'description', commentId: null }, issue.description, wanted),
      ...highlighted({ field: 'comment', commentId }, bodyOf.get(commentId ?? '') ?? '', wanted),
    ];
    return [{ issue: toFoundIssue(ctx, issue), highlights }];
  });
}

/** Omits the description, since highlights show the relevant part. */
export function toFoundIssue(ctx: Context, issue: Issue): FoundIssue {
  // JSON omits undefined properties. Building an object without the property would cost one more object per
  // hit.
  return Object.assign(issueModel.toResponse(issue, ctx), { description: undefined });
}

// Excerpt of a text around its matches, with their ranges. The text is unescaped and contains no markup, so
// clients must escape it and mark the ranges themselves.

interface Excerpt {
  readonly text: string;
  /** Matched ranges of `text` in UTF-16 code units, ascending and non-overlapping. */
  readonly ranges: Range[];
}

/** Maximum length of an excerpt, and of its part before the first match, in characters. */
const excerptMax = 240;
const before = 60;
/** Most texts match near their beginning, so that part is searched first. */
const firstLook = 4_096;

/** Returns null if the text does not match. */
function excerptOf(text: string, wanted: readonly Phrase[]): Excerpt | null {
  const near = rangesIn(text.length > firstLook ? text.slice(0, firstLook) : text, wanted, excerptMax);
  const ranges = near.length > 0 || text.length <= firstLook ? near : rangesIn(text, wanted, excerptMax);
  const [first] = ranges;
  if (!first) return null;
  const start = cutBefore(text, first.start);
  const end = Math.min(text.length, start + excerptMax);
  const excerpt = text.slice(start, end).toWellFormed();
  const within = ranges.filter((range) => range.end <= end);
  return {
    text: excerpt,
    ranges: within.map((range) => ({ start: range.start - start, end: range.end - start })),
  };
}

/** Cuts at a space, so that no word or character is split. */
function cutBefore(text: string, at: number): number {
  if (at <= before) return 0;
  const space = text.indexOf(' ', at - before);
  return space < 0 || space >= at ? at : space + 1;
}

function highlighted(
  of: Pick<Highlight, 'field' | 'commentId'>,
  text: string,
  wanted: Query['wanted'],
): Highlight[] {
  const excerpt = excerptOf(text, wanted);
  return excerpt ? [{ ...of, ...excerpt }] : [];
}
