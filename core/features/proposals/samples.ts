// Sample data of proposals: a plugin proposes a change of the issue, and Ben decides.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { ben, sampleId, timeAfter, type Samples } from '../../kernel/samples.ts';
import type { proposal } from './contract.ts';

const effect = {
  id: '1',
  operation: 'issues.update',
  kind: 'issue',
  entityId: sampleId('iss'),
  name: 'ENG-42',
  issue: 'ENG-42',
  class: 'update' as const,
  fields: [{ name: 'priority' }],
  baseVersion: 3,
};
const effects = (decision: 'approved' | 'rejected') => [{ ...effect, decision }];

export const proposalSamples: Samples = ({ nowMs }) => {
  const decided = { decidedBy: { kind: 'user', ...ben }, decidedAt: timeAfter(nowMs, 0) } as const;
  return {
    objects: { proposal: openProposal(nowMs) },
    moments: {
      'automation.approved': {
        now: {
          status: 'approved',
          ...decided,
          effects: effects('approved'),
          events: [{ id: sampleId('evt'), type: 'issue.updated' }],
        },
      },
      'automation.rejected': {
        now: {
          status: 'rejected',
          ...decided,
          effects: effects('rejected'),
          reason: 'It is urgent already.',
        },
      },
    },
  };
};

function openProposal(nowMs: number) {
  return {
    id: sampleId('prp'),
    status: 'open',
    source: 'plugin_run',
    through: null,
    title: 'On call: update issue ENG-42: priority',
    author: { kind: 'plugin', id: sampleId('plg'), name: 'On call' },
    installId: sampleId('plg'),
    runId: sampleId('run'),
    effects: [{ ...effect, decision: null }],
    revision: 1,
    expiresAt: timeAfter(nowMs, 7),
    decidedBy: null,
    decidedAt: null,
    reason: null,
    events: [],
    undoneBy: null,
  } satisfies Partial<EntityResponse<typeof proposal>>;
}
