// `GET /issues/{id}/similar`: issues that may be about the same thing. The full-text index finds issues that
// share rare words; these are compared word by word, with a higher weight for words that fewer issues have.
import { getEntity } from '../../kernel/changes/operations.ts';
import type { Context, Directory, Services } from '../../kernel/context.ts';
import type { Condition } from '../../platform/store/page.ts';
import { composedStatement } from '../../platform/store/statement.ts';
import { issueModel, type Issue } from '../issues/index.ts';
import { toFoundIssue, indexPending } from './find.ts';
import { readHits } from './rows.ts';
import { matchAny } from './query.ts';
import { markOf, wordsIn, writtenWord } from './words.ts';
import { workspaceModel } from '../people/index.ts';
import { scopeOf, type Scope } from '../../platform/store/store.ts';

const titleWordsMax = 12;
const wordsMax = 24;
/** Maximum number of issues compared. */
const candidatesMax = 40;
/** Maximum count of issues per word: a more frequent word is not distinctive. */
const countedMax = 1_000;
/** Minimum score, because lower scores are coincidental. */
const scoreMin = 0.2;
const evidenceMax = 8;
/** Weight of the title relative to the description, which is less distinctive. */
const titleWeight = 0.6;

interface SimilarQuery {
  readonly within?: 'workspace' | 'team';
  readonly limit?: number;
}

/** @throws ApiError not_found, budget_exceeded */
export async function similarIssues(
  ctx: Context,
  id: string,
  { within = 'workspace', limit = 10 }: SimilarQuery,
) {
  const issue = await getEntity(ctx, issueModel, id);
  await indexPending(ctx);
  const likest = await issuesLike(ctx, issue, {
    conditions: within === 'team' ? [{ sql: 'team_id = :ownTeam', params: { ownTeam: issue.teamId } }] : [],
    limit,
  });
  return {
    data: likest.map(({ other, score, evidence }) => ({ issue: toFoundIssue(ctx, other), score, evidence })),
  };
}

type Text = Pick<Issue, 'title' | 'description'> & { readonly id?: string };

/** Returns the most similar indexed issues that the caller can see. @throws ApiError budget_exceeded */
async function issuesLike(
  ctx: Context,
  issue: Text,
  { conditions, limit }: { readonly conditions: readonly Condition[]; readonly limit: number },
): Promise<{ other: Issue; score: number; evidence: string[] }[]> {
  const weights = await weightsOf(ctx, distinctiveWords(issue));
  if (weights.size === 0) return [];
  const hits = await readHits(ctx, {
    match: matchAny([...weights.keys()], markOf(ctx.workspaceId), columns),
    conditions,
    commentTeams: null,
    limit: candidatesMax + 1,
  });
  const ids = hits.flatMap(({ issueId }) => (issueId === issue.id ? [] : [issueId]));
  const candidates = (await issueModel.findMany(ctx, ids)).filter(({ deletedAt }) => deletedAt === null);
  const compared = candidates.map((other) => ({ other, ...likeness(issue, other, weights) }));
  return compared
    .filter(({ score }) => score >= scoreMin)
    .sort((a, b) => b.score - a.score || (a.other.id < b.other.id ? 1 : -1))
    .slice(0, limit);
}

const columns = ['title', 'description'];
const isDistinctive = (word: string): boolean => word.length > 2 || /[^a-z0-9]/.test(word);

/**
 * Returns the distinctive words of the title, then those of the description, sorted by frequency, length and
 * digits.
 */
function distinctiveWords({ title, description }: Text): string[] {
  const ofTitle = distinct(title).slice(0, titleWordsMax);
  const counts = new Map<string, number>();
  for (const { word } of wordsIn(description))
    if (isDistinctive(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const worth = (word: string): number =>
    Math.min(counts.get(word) ?? 0, 5) + Math.min(word.length, 16) / 4 + (/\d/.test(word) ? 1 : 0);
  const ofRest = [...counts.keys()]
    .filter((word) => !ofTitle.includes(word))
    .sort((a, b) => worth(b) - worth(a) || (a < b ? -1 : 1));
  return [...ofTitle, ...ofRest].slice(0, wordsMax);
}

function distinct(text: string): string[] {
  return [...new Set(wordsIn(text).flatMap(({ word }) => (isDistinctive(word) ? [word] : [])))];
}

const counting = (seen: string) =>
  composedStatement<{ count: number }>(
    `SELECT count(*) AS count FROM (SELECT d.doc FROM search_index CROSS JOIN search_documents AS d
     ON d.workspace_id = :ws AND d.doc = search_index.rowid WHERE search_index MATCH :match${seen} LIMIT ${countedMax})`,
    null,
  );
const countOf = counting('');
const countIn = counting(' AND d.team_id IN (SELECT value FROM json_each(:teams))');

/** Returns a weight per word: 1 for a word that at most two issues have, less for more frequent ones. */
async function weightsOf(ctx: Context, words: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const mark = markOf(ctx.workspaceId);
  // Word counts must not reveal anything about teams that the caller cannot see.
  const teams = ctx.visibleTeams && JSON.stringify([...ctx.visibleTeams]);
  const counted = await Promise.all(
    words.map(async (word) => {
      const match = matchAny([word], mark, columns);
      const row =
        teams === null
          ? await ctx.store.readOne(ctx.scope, countOf, { match })
          : await ctx.store.readOne(ctx.scope, countIn, { match, teams });
      return [word, row?.count ?? 0] as const;
    }),
  );
  return new Map(counted.map(([word, count]) => [word, 1 / Math.log2(Math.max(2, count))]));
}

function likeness(
  issue: Text,
  other: Issue,
  weights: ReadonlyMap<string, number>,
): { score: number; evidence: string[] } {
  const weigh = (words: Iterable<string>): number => {
    let sum = 0;
    for (const word of words) sum += weights.get(word) ?? unknownWeight;
    return sum;
  };
  const [own, theirs] = [distinct(issue.title), distinct(other.title)];
  const sharedTitle = own.filter((word) => theirs.includes(word));
  const titles = (2 * weigh(sharedTitle)) / Math.max(weigh(own) + weigh(theirs), Number.MIN_VALUE);
  const all = new Set([...theirs, ...distinct(other.description)]);
  const shared = [...weights.keys()].filter((word) => all.has(word));
  const texts = weigh(shared) / weigh(weights.keys());
  const score = Math.min(1, titleWeight * titles + (1 - titleWeight) * texts);
  const rarest = shared.sort((a, b) => weigh([b]) - weigh([a]));
  return {
    score: Math.round(score * 1_000) / 1_000,
    evidence: rarest.slice(0, evidenceMax).map(writtenWord),
  };
}

/** Weight of a word of another title, whose rarity was not counted. */
const unknownWeight = 0.3;

const duplicatesMax = 3;

interface Duplicate {
  readonly identifier: string;
  readonly title: string;
  readonly score: number;
}

interface PublicQuestion {
  /** Id of the workspace. */
  readonly workspace: string;
  readonly team: string | undefined;
  readonly issues: readonly { readonly title: string; readonly description: string }[];
}

/**
 * Public duplicate search: issues of the teams that a workspace opened to the public, by identifier and title. For a
 * workspace that is closed or unknown, or a team that is not open, the result is empty, so that callers cannot tell
 * these cases apart. Returns a list for each issue, in order. Rejects with ApiError budget_exceeded, StoreError.
 */
type FindDuplicates = (question: PublicQuestion) => Promise<Duplicate[][]>;

export function createFindDuplicates(
  services: Services,
  directoryOf: (scope: Scope) => Directory | Promise<Directory>,
): FindDuplicates {
  const openTeams = async (ctx: Context, team: string | undefined): Promise<Set<string>> => {
    const workspace = await workspaceModel.find(ctx, ctx.workspaceId);
    const open = (workspace?.publicTriage?.teams ?? []).filter((key) => (team?.toUpperCase() ?? key) === key);
    return new Set(
      [...ctx.directory.teams.values()].flatMap(({ id, key }) => (open.includes(key) ? [id] : [])),
    );
  };
  return async ({ workspace, team, issues }) => {
    const scope = scopeOf(workspace);
    const everything = strangerIn(services, scope, await directoryOf(scope));
    const visibleTeams = await openTeams(everything, team);
    if (visibleTeams.size === 0) return issues.map(() => []);
    const ctx = { ...everything, visibleTeams };
    const duplicates: Duplicate[][] = [];
    for (const issue of issues) {
      const likest = await issuesLike(ctx, issue, { conditions: [], limit: duplicatesMax });
      duplicates.push(
        likest.flatMap(({ other, score }) => {
          const { identifier, title } = issueModel.toResponse(other, ctx);
          return identifier === null ? [] : [{ identifier, title, score }];
        }),
      );
    }
    return duplicates;
  };
}

function strangerIn(services: Services, scope: Scope, directory: Directory): Context {
  const actor = { kind: 'system', id: 'public-triage', name: 'Public triage' } as const;
  return {
    ...services,
    scope,
    workspaceId: scope.workspaceId,
    directory,
    actor,
    authority: { actor },
    scopes: new Set<string>(),
    narrowed: null,
    visibleTeams: null,
    cause: null,
    requestId: 'public-triage',
    traceparent: null,
    staged: null,
  };
}
