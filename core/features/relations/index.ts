import { defineFeature } from '../../kernel/feature.ts';
import { sampleId } from '../../kernel/samples.ts';
import { fact, idOf } from '../../kernel/checks.ts';
import { inverse, type RelationType, resource } from './operations.ts';

const relation = {
  id: sampleId('rln'),
  type: 'blocks',
  issue: { id: sampleId('iss', 2), identifier: 'ENG-43' },
};

export const relations = defineFeature({
  name: 'relations',
  resources: [resource],
  facts: {
    relation: () => [
      // The last event shows the relation from the side of one of its issues.
      fact('type', ['from_id', 'type', 'issue_id'], (row, { data }) => {
        const shown = [data.of, data.type, idOf(data.issue)].join(' ');
        const { from_id: from, type, issue_id: to } = row;
        return [
          [from, type, to],
          [to, inverse[type as RelationType], from],
        ].some((side) => side.join(' ') === shown);
      }),
      fact('issue', [], () => true),
      fact(
        'deleted',
        ['deleted_at'],
        (row, { type }) => (row.deleted_at === null) === (type === 'issue.relation_added'),
      ),
    ],
  },
  samples: () => ({
    moments: {
      'issue.relation_added': { now: { relation } },
      'issue.relation_removed': { now: { relation } },
    },
  }),
});
