// Templates. Labels and custom fields are stored by id, so that renaming them does not affect templates.
import { getEntity } from '../../kernel/changes/operations.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { plainOperations, type Rules } from '../../kernel/resource/operations.ts';
import type { EntityOf } from '../../kernel/resource/model.ts';
import type { Context } from '../../kernel/context.ts';
import { findTeam } from '../../kernel/resource/names/teams.ts';
import type { FieldValue } from '../fields/contract.ts';
import { fieldsAfter, type FieldValues } from '../fields/index.ts';
import { label } from '../labels/contract.ts';
import { idsInTeam, teamQuery, usableInTeam } from '../teams/index.ts';
import { template } from './contract.ts';
import { templateModel } from './model.ts';
import { fact, fieldValuesFact, storedIn } from '../../kernel/checks.ts';
import { sameValue } from '../../kernel/changes/change.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { sampleId, sampleLabel } from '../../kernel/samples.ts';

const rules: Rules<typeof template, EntityOf<typeof template>> = {
  where: usableInTeam,
};
const plain = plainOperations(template, templateModel, rules);

type TemplateFields = Record<string, FieldValue | null>;

/**
 * Replaces names of labels and keys of custom fields in a body by ids.
 * @param had current field values
 * @throws ApiError validation_failed
 */
function withIds<B extends { readonly labels?: string[]; readonly fields?: TemplateFields }>(
  ctx: Context,
  teamId: string | null,
  body: B,
  had: FieldValues,
): B {
  const { labels, fields } = body;
  const writing = { ctx, teamId: teamId ?? '', before: had, at: '', isDraft: true } as const;
  return {
    ...body,
    ...(labels && {
      labels: idsInTeam(ctx, label, teamId, {
        names: labels,
        path: 'labels',
        fix: 'Create the label first.',
      }),
    }),
    ...(fields && { fields: fieldsAfter(writing, fields) ?? {} }),
  };
}

const resource = defineResource(template, templateModel, {
  ...rules,
  query: teamQuery,
  operations: {
    create(ctx, body, parentId) {
      const team = body.team == null ? undefined : findTeam(ctx.directory, body.team);
      return plain.create(ctx, withIds(ctx, team?.id ?? null, body, {}), parentId);
    },
    async update(ctx, id, body, ifMatch) {
      const { teamId, fields } = await getEntity(ctx, templateModel, id);
      return plain.update(ctx, id, withIds(ctx, teamId, body, fields as FieldValues), ifMatch);
    },
  },
});

export const templates = defineFeature({
  name: 'templates',
  resources: [resource],
  samples: () => ({
    objects: {
      template: {
        id: sampleId('tpl'),
        name: 'Bug report',
        team: 'ENG',
        title: null,
        description: '## Steps\n\n## Expected',
        priority: 'high',
        assignee: null,
        project: null,
        labels: [sampleLabel],
        estimate: null,
        fields: {},
        subIssues: ['Write a failing test', 'Fix it'],
      } satisfies Partial<EntityResponse<typeof template>>,
    },
    moments: {
      'template.updated': { previous: { subIssues: ['Write a failing test'] } },
    },
  }),
  facts: {
    template: (references) => [
      // Deleted labels stay in the row, but events omit them.
      fact('labels', ['labels_json'], (row, { data }) => {
        const present = (ids: readonly string[]) =>
          ids.filter((id) => !references.isGone('label', row.workspace_id, id));
        const logged = (data.labels as readonly { readonly id: string }[]).map(({ id }) => id);
        return sameValue(present(storedIn(row, 'labels_json') as string[]), present(logged));
      }),
      fieldValuesFact(references),
    ],
  },
});

export { readTemplate } from './model.ts';
