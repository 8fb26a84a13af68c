// `fields=` and `expand=`: fewer fields, or whole objects in place of references. Both are closed lists.
import type { Context } from '../../context.ts';
import { memberKind } from '../../identity/members/schema.ts';
import { invalidField } from '../../lib/errors.ts';
import { projectKind } from '../projects/schema.ts';
import { IssueShown, issueKind, type ShownIssue } from './schema.ts';

const shownFields = Object.keys(IssueShown.properties);
const expandable = ['assignee', 'project', 'parent'] as const;

/** The named fields, and always the id. @throws ApiError validation_failed */
export function chooseFields(
  issue: Readonly<Record<string, unknown>>,
  fields: string | undefined,
): Readonly<Record<string, unknown>> {
  if (fields === undefined) return issue;
  const chosen: Record<string, unknown> = { id: issue.id };
  for (const name of fields.split(',')) {
    if (!shownFields.includes(name))
      throw invalidField('fields', 'invalid_enum', `Choose from ${shownFields.join(', ')}.`);
    chosen[name] = issue[name];
  }
  return chosen;
}

/** @throws ApiError validation_failed */
export async function expandReferences(
  ctx: Context,
  issues: readonly ShownIssue[],
  expand: string | undefined,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (expand === undefined) return issues;
  const names = expand.split(',');
  for (const name of names)
    if (!(expandable as readonly string[]).includes(name))
      throw invalidField('expand', 'invalid_enum', `Expand ${expandable.join(', ')}.`);
  const finders = {
    assignee: async (id: string) =>
      shownOr(await memberKind.find(ctx, id), (found) => memberKind.wire(found, ctx)),
    project: async (id: string) =>
      shownOr(await projectKind.find(ctx, id), (found) => projectKind.wire(found, ctx)),
    parent: async (id: string) =>
      shownOr(await issueKind.find(ctx, id), (found) => issueKind.wire(found, ctx)),
  };
  return Promise.all(
    issues.map(async (issue) => {
      const expanded: Record<string, unknown> = { ...issue };
      for (const name of expandable)
        if (names.includes(name) && issue[name] !== null)
          expanded[name] = (await finders[name](issue[name].id)) ?? issue[name];
      return expanded;
    }),
  );
}

function shownOr<E, W>(found: E | undefined, show: (found: E) => W): W | undefined {
  return found === undefined ? undefined : show(found);
}
