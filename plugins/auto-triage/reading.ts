// Reads labelled issues of a team, newest first and equally many of each kind, in pages that fit a host call.
import { PluginError, type Chosen, type Issue } from '@tatami/sdk/plugin';
import type { LearnContext } from './context.ts';
import { issueTypesOf } from './labels.ts';
import { issueTypes, type IssueType } from './model/kind.ts';
import type { Example } from './model/train.ts';
import { bodyCharsMax } from './model/document.ts';

/** More issues add little, while training time grows with their square and cube. */
export const perTypeMax = 80;
const pageIssues = 40;
/** Maximum number of pages per kind, including smaller pages after a rejected one. */
const pagesMax = 12;

const requestedFields = ['title', 'description', 'labels', 'version'] as const;
type RequestedIssue = Pick<Issue, 'id' | (typeof requestedFields)[number]>;

export type Read = Example & { readonly id: string; readonly version: number };

/** Returns a team that has issues and is not among `known`. */
export async function findTeam(ctx: LearnContext, known: readonly string[]): Promise<string | undefined> {
  if (known.length >= 100) return undefined;
  const filter = known.length > 0 ? { filter: { team: { nin: known } } } : {};
  const page = await ctx.issues.list({ ...filter, fields: 'team', limit: 1 });
  return page.data[0]?.team?.key;
}

/** Returns issues with exactly one kind label that people set or corrected; `own` are the plugin's own labels. */
export async function readExamples(
  ctx: LearnContext,
  team: string,
  own: ReadonlyMap<string, IssueType>,
  perType: number,
): Promise<Read[]> {
  const labels = (await ctx.labels.list({ team, limit: 100 })).data;
  const examples: Read[] = [];
  for (const kind of issueTypes) {
    const ids = labels.filter((label) => issueTypesOf([label])[0] === kind).map(({ id }) => id);
    if (ids.length === 0) continue;
    let count = 0;
    for await (const issue of labelled(ctx, team, ids)) {
      const kinds = issueTypesOf(issue.labels);
      if (kinds.length !== 1 || kinds[0] !== kind || own.get(issue.id) === kind) continue;
      examples.push(toExample(issue, kind));
      if (++count === perType) break;
    }
  }
  return examples;
}

async function* labelled(
  ctx: LearnContext,
  team: string,
  labelIds: readonly string[],
): AsyncGenerator<RequestedIssue> {
  let limit = pageIssues;
  let after: string | undefined;
  for (let pages = 0; pages < pagesMax; pages++) {
    const query = { team, filter: { label: labelIds }, fields: requestedFields, limit };
    let page;
    try {
      page = await ctx.issues.list(after === undefined ? query : { ...query, after });
    } catch (error) {
      // The result exceeded the limit of a host call, because descriptions are long.
      if (!(error instanceof PluginError) || limit === 1) throw error;
      limit = Math.max(1, Math.floor(limit / 4));
      continue;
    }
    yield* page.data.filter(hasRequestedFields);
    if (!page.pageInfo.hasNextPage || page.pageInfo.endCursor === null) return;
    after = page.pageInfo.endCursor;
  }
}

function hasRequestedFields(issue: Chosen<Issue>): issue is Chosen<Issue> & RequestedIssue {
  return requestedFields.every((name) => issue[name] !== undefined);
}

function toExample({ id, version, title, description }: RequestedIssue, kind: IssueType): Read {
  return { id, version, kind, title, description: description.slice(0, bodyCharsMax) };
}
