// Reads issues of a team to learn from, newest first: equally many of each kind, and those with a priority.
import type { Issue } from '@tatami/sdk/plugin';
import type { LearnContext } from './context.ts';
import { issueTypesOf } from './labels.ts';
import { issueTypes, type IssueType } from './model/kind.ts';
import type { Example } from './model/train.ts';
import { bodyCharsMax } from './model/document.ts';
import { pagesOf } from './pages.ts';
import type { Priority } from './priority/cues.ts';
import { priorities, type PriorityExample } from './priority/learned.ts';

/** More issues add little, while training time grows with their square and cube. */
export const perTypeMax = 80;
/** Maximum number of issues from which priorities are learned. */
const prioritiesMax = 200;

const requestedFields = ['title', 'description', 'labels', 'version'] as const;
type RequestedIssue = Pick<Issue, 'id' | (typeof requestedFields)[number]>;

type Read = { readonly id: string; readonly version: number };
export type ReadExample = Example & Read;

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
): Promise<ReadExample[]> {
  const labels = (await ctx.labels.list({ team, limit: 100 })).data;
  const examples: ReadExample[] = [];
  for (const kind of issueTypes) {
    const ids = labels.filter((label) => issueTypesOf([label])[0] === kind).map(({ id }) => id);
    if (ids.length === 0) continue;
    const ofKind: ReadExample[] = [];
    for await (const { items } of pagesOf(ctx, { team, filter: { label: ids } }, requestedFields)) {
      for (const issue of items) {
        const kinds = issueTypesOf(issue.labels);
        if (kinds.length === 1 && kinds[0] === kind && own.get(issue.id) !== kind)
          ofKind.push(toExample(issue, kind));
      }
      if (ofKind.length >= perType) break;
    }
    examples.push(...ofKind.slice(0, perType));
  }
  return examples;
}

/** Returns the newest issues whose priority people set or changed; `own` are the plugin's own priorities. */
export async function readPriorities(
  ctx: LearnContext,
  team: string,
  own: ReadonlyMap<string, Priority>,
): Promise<(PriorityExample & Read)[]> {
  const examples: (PriorityExample & Read)[] = [];
  const query = { team, filter: { priority: priorities } };
  for await (const { items } of pagesOf(ctx, query, ['title', 'description', 'priority', 'version'])) {
    for (const { id, version, title, description, priority } of items)
      if (priority !== 'none' && own.get(id) !== priority)
        examples.push({ id, version, title, description: description.slice(0, bodyCharsMax), priority });
    if (examples.length >= prioritiesMax) break;
  }
  return examples.slice(0, prioritiesMax);
}

function toExample({ id, version, title, description }: RequestedIssue, kind: IssueType): ReadExample {
  return { id, version, kind, title, description: description.slice(0, bodyCharsMax) };
}
