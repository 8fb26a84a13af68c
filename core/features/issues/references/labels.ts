// Computes the labels of an issue after a request: a full list, or additions and removals. A plan that loses
// a race is computed again, so additions apply to the labels at commit.
import type { Context } from '../../../kernel/context.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { label } from '../../labels/contract.ts';
import { idsInTeam } from '../../teams/index.ts';
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
    idsInTeam(ctx, label, teamId, {
      names,
      path: `${at}${name}`,
      ...(name !== 'removeLabels' && { fix: 'Create the label first.' }),
    });
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

/** A label that was just deleted stays on the issue until its own event removes it. */
function unseenLabels(ctx: Context, issue: Issue | null): string[] {
  return issue?.labelIds.filter((id) => !ctx.directory.labels.has(id)) ?? [];
}
