import { fact, fieldValuesFact, storedIn } from '../../kernel/checks.ts';
import { sameValue } from '../../kernel/changes/change.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { sampleId, sampleLabel } from '../../kernel/samples.ts';
import { templates as resource } from './templates.ts';
import type { template } from './contract.ts';

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

export { readTemplate } from './read.ts';
