import { equal, idsOf, issueOfFact } from '../../kernel/checks.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { ana, ben, sampleId, sampleIssue, timeAfter } from '../../kernel/samples.ts';
import { resource } from './operations.ts';
import type { comment } from './contract.ts';

export const comments = defineFeature({
  name: 'comments',
  resources: [resource],
  samples: ({ nowMs }) => ({
    objects: {
      comment: {
        id: sampleId('cmt'),
        issue: sampleIssue,
        parentId: null,
        body: 'Seen on 2.4 as well, @Ben. The log says `ENOSPC`, and then nothing.',
        mentions: [ben],
        editedAt: null,
        author: { kind: 'user', ...ana },
        resolvedAt: null,
        resolvedBy: null,
      } satisfies Partial<EntityResponse<typeof comment>>,
    },
    moments: {
      'comment.updated': {
        now: { editedAt: timeAfter(nowMs, 0) },
        previous: { body: 'Seen on 2.4 as well.', mentions: [], editedAt: null },
      },
      'comment.resolved': {
        now: { resolvedAt: timeAfter(nowMs, 0), resolvedBy: { kind: 'user', ...ben } },
        previous: { resolvedAt: null, resolvedBy: null },
      },
      'comment.unresolved': {
        previous: { resolvedAt: timeAfter(nowMs, -2), resolvedBy: { kind: 'user', ...ben } },
      },
    },
  }),
  facts: {
    comment: () => [issueOfFact(), equal('mentions', 'mention_ids_json', ({ mentions }) => idsOf(mentions))],
  },
});

export { findComment } from './operations.ts';
export { commentIdsIn, commentIdsQuery } from './ids.ts';
export { mentionsIn } from './mentions.ts';
export { commentModel } from './model.ts';
