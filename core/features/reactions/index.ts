import { equal, idOf, issueOfFact } from '../../kernel/checks.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ben, sampleId, sampleIssue } from '../../kernel/samples.ts';
import { resource } from './operations.ts';
import type { reaction } from './contract.ts';

export const reactions = defineFeature({
  name: 'reactions',
  resources: [resource],
  samples: () => ({
    objects: {
      reaction: {
        id: sampleId('rct'),
        issue: sampleIssue,
        commentId: sampleId('cmt'),
        emoji: '👀',
        actor: { kind: 'user', ...ben },
      } satisfies Partial<EntityResponse<typeof reaction>>,
    },
  }),
  facts: {
    reaction: () => [
      issueOfFact(),
      equal('commentId', 'subject_id', ({ commentId, issue }) => commentId ?? idOf(issue)),
    ],
  },
});
