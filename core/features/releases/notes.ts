// Drafts release notes from issues: features, fixes and other changes, by the labels `feature` and `bug`, one
// line per issue with its identifier and link. The same issues always give the same text.
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { notDeleted, pageOfModel } from '../../kernel/changes/list.ts';
import { getEntity, updated } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { foldName } from '../../platform/lib/text/words.ts';
import { issueModel, type IssueResponse, withIssueVisibility } from '../issues/index.ts';
import { notesBytesMax, releaseIssuesMax } from './contract.ts';
import { releaseModel, requireUnpublished } from './model.ts';

const groups = [
  { title: 'Features', label: 'feature' },
  { title: 'Fixes', label: 'bug' },
  { title: 'Other changes', label: null },
] as const;

/** Bytes reserved for the line that counts omitted issues. */
const restBytes = 100;

/** @throws ApiError not_found; conflict if `save` is set and the release is published */
export async function draftNotes(ctx: Context, id: string, save: boolean): Promise<ChangeSet> {
  const current = await getEntity(ctx, releaseModel, id);
  if (save)
    requireUnpublished(
      current,
      'its notes cannot be replaced by a draft. Leave save out, and update the notes instead',
    );
  const notes = draftOf(await issuesIn(withIssueVisibility(ctx), current.issueIds));
  const { changes } = save ? updated(ctx, releaseModel, current, { notes }, null) : { changes: [] };
  return { changes, body: { notes } };
}

/** Returns the visible issues that are neither canceled nor duplicates, sorted by identifier. */
async function issuesIn(ctx: Context, issueIds: readonly string[]): Promise<IssueResponse[]> {
  const { data } = await pageOfModel(
    ctx,
    issueModel,
    { limit: releaseIssuesMax },
    {
      where: [
        notDeleted,
        { sql: 'id IN (SELECT value FROM json_each(:ids))', params: { ids: JSON.stringify(issueIds) } },
      ],
      without: ['description'],
    },
  );
  return data
    .map((issue) => issueModel.wire(issue, ctx))
    .filter(({ state }) => state.type !== 'canceled' && state.type !== 'duplicate')
    .sort(byIdentifier);
}

function byIdentifier(a: IssueResponse, b: IssueResponse): number {
  if (a.team.key !== b.team.key) return a.team.key < b.team.key ? -1 : 1;
  return (a.number ?? 0) - (b.number ?? 0);
}

function draftOf(issues: readonly IssueResponse[]): string {
  const lines: string[] = [];
  let bytes = restBytes;
  let left = 0;
  for (const group of groups) {
    const own = issues.filter((issue) => groupOf(issue) === group);
    const texts = own.map((issue) => `- ${lineOf(issue)}`);
    for (const text of texts.length > 0 ? [`## ${group.title}`, '', ...texts, ''] : []) {
      bytes += Buffer.byteLength(text) + 1;
      if (bytes <= notesBytesMax) lines.push(text);
      else if (text.startsWith('- ')) left++;
    }
  }
  if (left > 0) lines.push(`And ${left} more.`, '');
  return lines.join('\n');
}

/** Returns the first group whose label the issue has; else the last group. */
function groupOf({ labels }: IssueResponse): (typeof groups)[number] {
  const names = new Set(labels.map(({ name }) => foldName(name)));
  return groups.find(({ label }) => label !== null && names.has(label)) ?? groups[2];
}

/** Titles are plain text, so Markdown in them is escaped. */
function lineOf({ identifier, title, url }: IssueResponse): string {
  return `${title.replaceAll(/[\\`*_[\]<>]/g, String.raw`\$&`)} ([${identifier}](${url}))`;
}
