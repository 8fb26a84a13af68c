// Which labels an issue has after a request: those that it names, or those that it had with some added and removed. What is added is
// added to what the issue has when the change is committed, because a plan that lost a race is made anew.
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { idOfName, type Among } from '../../resource/names.ts';
import { label } from '../labels/contract.ts';
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
  const among = labelsIn(teamId);
  const ids = labels.map((wanted, index) => {
    const id = idOfName(ctx, label, wanted, `${at}.${index}`, among);
    const known = ctx.directory.labels.get(id);
    if (known && among.has(known)) return id;
    throw invalidField(`${at}.${index}`, 'not_found', {
      why: `There is no label ${wanted}${among.words}.`,
      ...(at.endsWith('removeLabels') ? {} : { fix: 'Create it first.' }),
    });
  });
  return [...new Set(ids)];
}

/** The labels of a team and of the workspace, those of the team first; without a team, those of the workspace. */
function labelsIn(teamId: string | null): Among {
  return {
    has: (entry) => entry.teamId === null || entry.teamId === teamId,
    words: teamId === null ? ' for all teams' : ' for this team',
    rank: (entry) => (entry.teamId === null ? 1 : 0),
    isOpen: true,
  };
}

/** A label that was just deleted may still be on an issue: it goes with the event that tells it. */
function unseenLabels(ctx: Context, issue: Issue | null): string[] {
  return issue?.labelIds.filter((id) => !ctx.directory.labels.has(id)) ?? [];
}
