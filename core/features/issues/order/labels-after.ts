// Computes the labels of an issue after a request: a full list, or additions and removals. A plan that loses
// a race is computed again, so additions apply to the labels at commit.
import type { Context } from '../../../kernel/context.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { idOfName, type Among } from '../../../kernel/resource/names/names.ts';
import { label } from '../../labels/contract.ts';
import type { IssuePatch } from '../bodies.ts';
import { labelsMax } from '../contract.ts';
import type { Issue } from '../model.ts';

/** Names or ids of labels in a request. */
type LabelsInput = { readonly [K in 'labels' | 'addLabels' | 'removeLabels']: IssuePatch[K] };

/**
 * Returns sorted ids; undefined if the request does not change labels.
 * @param issue null for a creation
 * @param at prefix of the paths in errors, such as `issues.3.`
 * @throws ApiError validation_failed
 */
export function labelsAfter(
  ctx: Context,
  teamId: string,
  issue: Issue | null,
  { labels, addLabels, removeLabels }: LabelsInput,
  at: string,
): string[] | undefined {
  const resolve = (name: keyof LabelsInput, names: readonly string[] = []): string[] =>
    resolveLabels(ctx, teamId, names, `${at}${name}`);
  if (labels !== undefined) {
    const other = addLabels ? 'addLabels' : removeLabels ? 'removeLabels' : null;
    if (other)
      throw invalidField(`${at}${other}`, 'conflict', 'Give either labels, or addLabels and removeLabels.');
    return [...resolve('labels', labels), ...unseenLabels(ctx, issue)].sort();
  }
  if (!addLabels && !removeLabels) return undefined;
  const added = resolve('addLabels', addLabels);
  const removed = new Set(resolve('removeLabels', removeLabels));
  if (added.some((id) => removed.has(id)))
    throw invalidField(`${at}removeLabels`, 'conflict', {
      why: 'A label is listed in addLabels as well.',
      fix: 'List each label in one of the two.',
    });
  const after = new Set([...(issue?.labelIds ?? []), ...added].filter((id) => !removed.has(id)));
  if (after.size > labelsMax)
    throw invalidField(`${at}addLabels`, 'too_long', {
      why: `An issue has at most ${labelsMax} labels.`,
      fix: 'Remove other labels in the same request.',
    });
  return [...after].sort();
}

/**
 * Resolves label names case-insensitively; labels of the team take precedence over those of the workspace.
 * @param teamId null for labels of the workspace only
 */
export function resolveLabels(
  ctx: Context,
  teamId: string | null,
  labels: readonly string[],
  at: string,
): string[] {
  const among = labelsIn(teamId);
  const ids = labels.map((wanted, index) => {
    const id = idOfName(ctx, label, wanted, `${at}.${index}`, among);
    const known = ctx.directory.labels.get(id);
    if (known && among.has(known)) return id;
    throw invalidField(`${at}.${index}`, 'not_found', {
      why: `There is no label ${wanted}${among.words}.`,
      ...(at.endsWith('removeLabels') ? {} : { fix: 'Create the label first.' }),
    });
  });
  return [...new Set(ids)];
}

/**
 * Scope of label names: labels of the team first, then those of the workspace; without a team, only the
 * latter.
 */
function labelsIn(teamId: string | null): Among {
  return {
    has: (entry) => entry.teamId === null || entry.teamId === teamId,
    words: teamId === null ? ' for all teams' : ' for this team',
    rank: (entry) => (entry.teamId === null ? 1 : 0),
    isOpen: true,
  };
}

/** A label that was just deleted stays on the issue until its own event removes it. */
function unseenLabels(ctx: Context, issue: Issue | null): string[] {
  return issue?.labelIds.filter((id) => !ctx.directory.labels.has(id)) ?? [];
}
