// What a template says of a new issue. What it refers to and is gone meanwhile is left out: whoever makes the issue did not ask for it.
import type { Context } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import type { FieldValue } from '../fields/contract.ts';
import { stillTaken, type FieldValues } from '../fields/values.ts';
import type { IssueInput } from '../issues/bodies.ts';
import { templateKind } from './kind.ts';

export interface FromTemplate {
  readonly defaults: Partial<IssueInput> & { readonly fields: Readonly<Record<string, FieldValue>> };
  readonly subIssues: readonly string[];
}

/** @param path of the template in the request @throws ApiError validation_failed */
export async function readTemplate(
  ctx: Context,
  id: string,
  teamId: string,
  path: string,
): Promise<FromTemplate> {
  const found = await templateKind.find(ctx, id);
  if (!found || found.deletedAt !== null)
    throw invalidField(path, 'not_found', { why: `There is no template ${id}.` });
  if (found.teamId !== null && found.teamId !== teamId)
    throw invalidField(path, 'conflict', {
      why: 'The template is for issues of another team.',
      fix: 'Use one of this team or of the workspace, as GET /api/v1/templates?team=KEY lists them.',
    });
  const { members, projects, labels } = ctx.directory;
  const { description, priority, estimate, assigneeId, projectId, subIssues } = found;
  const isMember = assigneeId !== null && members.get(assigneeId)?.removed === false;
  return {
    defaults: {
      description,
      priority,
      estimate,
      assigneeId: isMember ? assigneeId : null,
      projectId: projectId !== null && projects.get(projectId)?.removed === false ? projectId : null,
      labels: found.labels.filter((label) => labels.has(label)),
      fields: stillTaken(ctx.directory, teamId, found.fields as FieldValues),
    },
    subIssues,
  };
}
