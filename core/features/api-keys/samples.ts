// Sample data of API keys: a key is rolled and revoked.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { ana, sampleId, timeAfter, type Samples } from '../../kernel/samples.ts';
import type { apiKey } from './contract.ts';

export const apiKeySamples: Samples = ({ nowMs }) => {
  const [before, now] = [timeAfter(nowMs, -2), timeAfter(nowMs, 0)];
  return {
    objects: {
      api_key: {
        id: sampleId('key'),
        name: 'Nightly import',
        prefix: 'HVR1PNbdHs',
        scopes: ['issues:read', 'issues:write'],
        member: ana,
        expiresAt: timeAfter(nowMs, 90),
        revokedAt: null,
        lastUsedAt: timeAfter(nowMs, -1),
        replacedBy: null,
      } satisfies Partial<EntityResponse<typeof apiKey>>,
    },
    moments: {
      'api_key.created': { now: { lastUsedAt: null, replacedBy: null } },
      'api_key.rolled': {
        now: { expiresAt: timeAfter(nowMs, 1), lastUsedAt: before, replacedBy: sampleId('key', 2) },
        previous: { expiresAt: timeAfter(nowMs, 90), replacedBy: null },
      },
      'api_key.revoked': {
        now: { revokedAt: now, lastUsedAt: before, replacedBy: null },
        previous: { revokedAt: null },
      },
    },
  };
};
