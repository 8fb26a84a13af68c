// Storage of templates, and the values that a template gives a new issue.
import { modelOf } from '../../kernel/resource/model.ts';
import { toFieldsResponse, type FieldValues, stillTaken } from '../fields/index.ts';
import { template } from './contract.ts';
import type { Context } from '../../kernel/context.ts';
import { invalidField } from '../../platform/lib/errors/errors.ts';
import { idOfName, isIdOf } from '../../kernel/resource/names/names.ts';
import { templateTable } from './tables.ts';
import { namedInTeam } from '../teams/index.ts';

/** Deleted labels and fields are left out. */
export const templateModel = modelOf(template, {
  shows: {
    fields: ({ fields }, { directory }) => toFieldsResponse(fields as FieldValues, directory),
    labels: ({ labels }, { directory }) =>
      labels.flatMap((id) => {
        const label = directory.labels.get(id);
        return label ? { id, name: label.name } : [];
      }),
  },
});

const all = templateTable.select('all', ['id', 'name', 'team_id'], [], 'AND deleted_at IS NULL');

/**
 * Templates are not in the directory, so resolving a name needs a read.
 * @throws ApiError validation_failed
 */
async function templateIdByName(ctx: Context, name: string, teamId: string, path: string): Promise<string> {
  const rows = await all.all(ctx.store, ctx.scope, {});
  const entries = new Map(rows.map((row) => [row.id, { id: row.id, name: row.name, teamId: row.team_id }]));
  return idOfName(ctx, template, name, path, {
    ...namedInTeam(teamId),
    entries,
  });
}

/**
 * Deleted references are omitted instead of rejected, because the creator of the issue did not give them.
 * @param path path of the template in the request
 * @throws ApiError validation_failed
 */
export async function readTemplate(ctx: Context, requested: string, teamId: string, path: string) {
  const id = isIdOf(template, requested) ? requested : await templateIdByName(ctx, requested, teamId, path);
  const current = await templateModel.find(ctx, id);
  if (!current || current.deletedAt !== null)
    throw invalidField(path, 'not_found', {
      why: `There is no template ${id}.`,
      fix: 'Use a template that GET /api/v1/templates lists.',
    });
  if (current.teamId !== null && current.teamId !== teamId)
    throw invalidField(path, 'conflict', {
      why: 'The template is for issues of another team.',
      fix: 'Use a template that GET /api/v1/templates?team=KEY lists.',
    });
  const { members, projects, labels } = ctx.directory;
  const { description, priority, estimate, assigneeId, projectId, subIssues } = current;
  const isMember = assigneeId !== null && members.get(assigneeId)?.removed === false;
  return {
    defaults: {
      description,
      priority,
      estimate,
      assigneeId: isMember ? assigneeId : null,
      projectId: projectId !== null && projects.get(projectId)?.removed === false ? projectId : null,
      labels: current.labels.filter((label) => labels.has(label)),
      fields: stillTaken(ctx, teamId, current.fields as FieldValues),
    },
    subIssues,
  };
}
