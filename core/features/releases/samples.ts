// Sample data of releases: the next version of the editor is released and rolled back.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { dayAfter, sampleId, timeAfter, type Samples } from '../../kernel/samples.ts';
import type { release } from './contract.ts';

export const releaseSamples: Samples = ({ nowMs }) => {
  const published = { status: 'published', stage: 'released', publishedAt: timeAfter(nowMs, 0) };
  const reason = 'Saving loses comments.';
  const back = { status: 'rolled_back', rolledBackAt: timeAfter(nowMs, 0), rollbackReason: reason };
  return {
    objects: {
      release: {
        id: sampleId('rel'),
        name: 'Spring',
        tag: '2.5.0',
        pipeline: { id: sampleId('pip'), name: 'Editor' },
        stage: 'staging',
        status: 'in_progress',
        targetDate: dayAfter(nowMs, 40),
        notes: '## Fixes\n\n- The editor says so when the disk is full.\n',
        issueIds: [sampleId('iss')],
        publishedAt: null,
        rolledBackAt: null,
        rollbackReason: null,
      } satisfies Partial<EntityResponse<typeof release>>,
    },
    moments: {
      'release.updated': { previous: { stage: 'in_progress' } },
      'release.published': {
        now: published,
        previous: { status: 'in_progress', stage: 'staging', publishedAt: null },
      },
      'release.rolled_back': {
        now: { ...published, publishedAt: timeAfter(nowMs, -2), ...back },
        previous: { status: 'published', rolledBackAt: null, rollbackReason: null },
      },
    },
  };
};
