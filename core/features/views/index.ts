import { equal } from '../../kernel/checks.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ana, sampleId, timeAfter } from '../../kernel/samples.ts';
import { resource } from './operations.ts';
import type { view } from './contract.ts';

export const views = defineFeature({
  name: 'views',
  resources: [resource],
  samples: ({ nowMs }) => ({
    objects: {
      view: {
        id: sampleId('viw'),
        name: 'Crashes',
        description: 'Crashes that lose work.',
        filter: { label: 'crash' },
        sort: '-priority',
        layout: 'list',
        groupBy: null,
        visibility: 'shared',
        owner: { kind: 'user', ...ana },
      } satisfies Partial<EntityResponse<typeof view>>,
    },
    moments: {
      'view.updated': { previous: { sort: null } },
      'view.deleted': { now: { deletedAt: timeAfter(nowMs, 0) }, previous: { deletedAt: null } },
      'view.restored': { previous: { deletedAt: timeAfter(nowMs, -2) } },
    },
  }),
  facts: {
    // Events of a personal view omit its contents.
    view: () =>
      ['name', 'description', 'sort', 'layout', 'group_by', 'filter_json'].map((column) => {
        const name = { group_by: 'groupBy', filter_json: 'filter' }[column] ?? column;
        return equal(name, column, (data) => (data.visibility === 'shared' ? data[name] : undefined));
      }),
  },
});

export { isVisibleView, viewModel } from './operations.ts';
