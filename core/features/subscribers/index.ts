import { equal, issueOfFact } from '../../kernel/checks.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ben, sampleId, sampleIssue } from '../../kernel/samples.ts';
import { resource } from './operations.ts';
import type { subscriber } from './contract.ts';

export const subscribers = defineFeature({
  name: 'subscribers',
  resources: [resource],
  samples: () => ({
    objects: {
      subscriber: {
        id: sampleId('sub'),
        issue: sampleIssue,
        member: ben,
        reason: 'mentioned',
      } satisfies Partial<EntityResponse<typeof subscriber>>,
    },
  }),
  facts: {
    subscriber: () => [
      issueOfFact(),
      equal('muted', 'muted', (_, type) => Number(type === 'issue.unsubscribed')),
    ],
  },
});

export { rowsOf, rowOf, subscriptionChange } from './model.ts';
