// Changes or deletes many issues in one transaction. The response lists the changes of each, also in a
// simulation.
import type { Static } from 'typebox';
import { sameValue, type ChangeSet } from '../../kernel/changes/change.ts';
import type { Context, View } from '../../kernel/context.ts';
import { ApiError, wordsOfField, type ErrorDetail } from '../../platform/lib/errors/errors.ts';
import type { IssueChanges, IssuePatch, IssueSelectionInput } from './bodies.ts';
import { issueModel, type Issue } from './model.ts';
import { resolvePatch } from './references/references.ts';
import { requireBytes, selectIssues, type Selected } from './query/select.ts';

type Changes = Static<typeof IssueChanges>;
type Answer = { data: Changes[] };

/** @throws ApiError with one detail per issue that cannot be changed */
export async function updateIssues(
  ctx: Context,
  { set, ...selection }: IssueSelectionInput & { set: IssuePatch },
): Promise<ChangeSet<Answer>> {
  const selected = await selectIssues(ctx, selection);
  requireBytes(selected.length * Buffer.byteLength(set.description ?? ''));
  const patches: Partial<Issue>[] = [];
  const refused: Refused[] = [];
  for (const one of selected)
    try {
      patches.push(await resolvePatch(ctx, one.issue.teamId, one.issue, set, 'set.'));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      refused.push({ ...one, error });
    }
  if (refused.length > 0) throw refusalOf(ctx, refused, selected.length);
  return changed(ctx, selected, (index) => patches[index]!);
}

export async function deleteIssues(ctx: Context, selection: IssueSelectionInput): Promise<ChangeSet<Answer>> {
  const deletedAt = ctx.nowMs();
  return changed(ctx, await selectIssues(ctx, selection), () => ({ deletedAt }));
}

function changed(
  ctx: Context,
  selected: readonly Selected[],
  patchOf: (index: number) => Partial<Issue>,
): ChangeSet<Answer> {
  const now = ctx.nowMs();
  const all = selected.map(({ issue }, index) => ({
    issue,
    change: issueModel.update(issue, patchOf(index), now),
  }));
  return {
    changes: all.flatMap(({ change }) => change ?? []),
    body: { data: all.map(({ issue, change }) => changesOf(issue, change?.after ?? issue, ctx)) },
  };
}

function changesOf(before: Issue, after: Issue, view: View): Changes {
  const { id, identifier, version, ...to } = issueModel.wire(after, view);
  const from: Readonly<Record<string, unknown>> = before === after ? to : issueModel.wire(before, view);
  const changes: Changes['changes'] = {};
  for (const [name, value] of Object.entries(to))
    if (name !== 'updatedAt' && !sameValue(from[name], value))
      changes[name] = { from: from[name], to: value };
  return { id, identifier, version, changes };
}

interface Refused extends Selected {
  readonly error: ApiError;
}

/**
 * If all issues fail in the same way, the request itself is wrong; otherwise each failing issue is listed.
 */
function refusalOf(view: View, refused: readonly Refused[], of: number): ApiError {
  const [{ error: first }] = refused as [Refused];
  if (refused.length === of && refused.every(({ error }) => error.message === first.message)) return first;
  const details = refused.map(({ issue, at, error }): ErrorDetail => {
    const [detail] = error.details;
    const words = detail ? wordsOfField(error, detail) : error.message;
    return {
      path: at,
      issue: detail?.issue ?? 'conflict',
      fix: `${issueModel.wire(issue, view).identifier}: ${words}`,
    };
  });
  return new ApiError(
    first.code,
    `${refused.length} of ${of} issues cannot be changed in this way, so none was changed. Correct the request, or leave out the issues in the details.`,
    {
      details,
    },
  );
}
