// Which labels an issue has after a request: those that it names, or those that it had with some added and removed. What is added is
// added to what the issue has when the change is committed, because a plan that lost a race is made anew.
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { foldName } from '../../lib/fold.ts';
import type { IssuePatch } from './bodies.ts';
import { labelsMax } from './contract.ts';
import type { Issue } from './kind.ts';

/** What a request says of labels: names or ids. */
type Given = { readonly [K in 'labels' | 'addLabels' | 'removeLabels']: IssuePatch[K] };

/**
 * The ids, sorted; undefined where the request says nothing of labels.
 * @param issue null for a creation
 * @param at before the paths in errors: `issues.3.`
 * @throws ApiError validation_failed
 */
export function labelsAfter(
  ctx: Context,
  teamId: string,
  issue: Issue | null,
  { labels, addLabels, removeLabels }: Given,
  at: string,
): string[] | undefined {
  const resolve = (name: keyof Given, given: readonly string[] = []): string[] =>
    resolveLabels(ctx, teamId, given, `${at}${name}`);
  if (labels !== undefined) {
    const other = addLabels ? 'addLabels' : removeLabels ? 'removeLabels' : null;
    if (other)
      throw invalidField(`${at}${other}`, 'conflict', 'Give either labels or what to add and to remove.');
    return [...resolve('labels', labels), ...unseenLabels(ctx, issue)].sort();
  }
  if (!addLabels && !removeLabels) return undefined;
  const added = resolve('addLabels', addLabels);
  const removed = new Set(resolve('removeLabels', removeLabels));
  if (added.some((id) => removed.has(id)))
    throw invalidField(`${at}removeLabels`, 'conflict', {
      why: 'It names a label that addLabels names as well.',
      fix: 'Name each label in one of the two.',
    });
  const after = new Set([...(issue?.labelIds ?? []), ...added].filter((id) => !removed.has(id)));
  if (after.size > labelsMax)
    throw invalidField(`${at}addLabels`, 'too_long', {
      why: `An issue has at most ${labelsMax} labels.`,
      fix: 'Remove others in the same request.',
    });
  return [...after].sort();
}

/**
 * Names match without regard to case; the team's own label goes before the workspace's.
 * @param teamId null: only labels of the workspace
 */
export function resolveLabels(
  ctx: Context,
  teamId: string | null,
  labels: readonly string[],
  at: string,
): string[] {
  const ids = labels.map((wanted, index) => {
    const folded = foldName(wanted);
    let found: string | undefined;
    for (const label of ctx.directory.labels.values()) {
      if (label.teamId !== null && label.teamId !== teamId) continue;
      if (label.id !== wanted && foldName(label.name) !== folded) continue;
      if (found === undefined || label.teamId !== null || label.id === wanted) found = label.id;
    }
    if (found === undefined)
      throw invalidField(`${at}.${index}`, 'not_found', {
        why: `There is no label ${wanted} for ${teamId === null ? 'all teams' : 'this team'}.`,
        ...(at.endsWith('removeLabels') ? {} : { fix: 'Create it first.' }),
      });
    return found;
  });
  return [...new Set(ids)];
}

/** A label that was just deleted may still be on an issue: it goes with the event that tells it. */
function unseenLabels(ctx: Context, issue: Issue | null): string[] {
  return issue?.labelIds.filter((id) => !ctx.directory.labels.has(id)) ?? [];
}
