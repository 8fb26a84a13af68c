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

export const templates = defineResource(template, templateModel, {
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
