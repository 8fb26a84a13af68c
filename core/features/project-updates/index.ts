// Updates of projects. Posting an update also sets the health of the project.
import { getEntity, removed } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { ApiError } from '../../platform/lib/errors/errors.ts';
import { authorOf } from '../../kernel/resource/input.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { plainOperations, type Rules } from '../../kernel/resource/operations.ts';
import { projectModel, requireProject } from '../projects/index.ts';
import { projectUpdate } from './contract.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ben, sampleId, sampleProject } from '../../kernel/samples.ts';

const updateModel = modelOf(projectUpdate, { table: 'project_updates' });
type Update = NonNullable<Awaited<ReturnType<typeof updateModel.find>>>;

const rules: Rules<typeof projectUpdate, Update> = {
  async where(ctx, _query, projectId) {
    const { id } = await getEntity(ctx, projectModel, projectId ?? '');
    return [{ sql: 'project_id = :projectId', params: { projectId: id } }];
  },
  async sets(ctx, _body, projectId) {
    const { id } = await getEntity(ctx, projectModel, projectId ?? '');
    return { projectId: id, ...authorOf(ctx, 'author') };
  },
  admits: async (ctx, update) => requireProject(ctx, update),
  check(ctx, update, before) {
    if (before) requireAuthor(ctx, update);
  },
};
const plain = plainOperations(projectUpdate, updateModel, rules);

const resource = defineResource(projectUpdate, updateModel, {
  ...rules,
  operations: {
    async create(ctx, body, projectId) {
      const set = await plain.create(ctx, body, projectId);
      const project = await getEntity(ctx, projectModel, projectId ?? '');
      const moved = projectModel.update(project, { health: body.health }, ctx.nowMs());
      return { ...set, changes: moved ? [...set.changes, moved] : set.changes };
    },
    async delete(ctx, id, ifMatch) {
      const current = await getEntity(ctx, updateModel, id);
      requireProject(ctx, current);
      requireAuthor(ctx, current);
      return removed(ctx, updateModel, current, ifMatch);
    },
  },
});

/** @throws ApiError forbidden */
function requireAuthor({ actor }: Context, { authorId }: { readonly authorId: string }): void {
  if (authorId !== (actor.memberId ?? actor.id))
    throw new ApiError(
      'forbidden',
      'Only the author of an update can change or delete it. Post an update of your own instead.',
    );
}

export const projectUpdates = defineFeature({
  name: 'project-updates',
  resources: [resource],
  samples: () => ({
    objects: {
      project_update: {
        id: sampleId('upd'),
        project: sampleProject,
        health: 'at_risk',
        body: 'Full disks take **a week** longer than we thought.',
        author: { kind: 'user', ...ben },
      } satisfies Partial<EntityResponse<typeof projectUpdate>>,
    },
    moments: {
      'project.update_edited': { previous: { body: 'Full disks take longer than we thought.' } },
    },
  }),
});
