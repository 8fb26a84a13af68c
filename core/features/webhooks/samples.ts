// Sample data of webhooks: an endpoint is disabled after failures, and its secret is rotated.
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { sampleId, timeAfter, type Samples } from '../../kernel/samples.ts';
import type { webhook } from './endpoints/contract.ts';

export const webhookSamples: Samples = ({ nowMs }) => {
  const why = { enabled: false, disabledReason: 'All deliveries have failed for 120 hours.' };
  const [before, now] = [timeAfter(nowMs, -2), timeAfter(nowMs, 0)];
  return {
    objects: {
      webhook: {
        id: sampleId('whe'),
        url: 'https://hooks.acme.example/tatami',
        description: 'Notifies the person on call.',
        events: ['issue.created', 'comment.*'],
        filter: { priority: ['high', 'urgent'] },
        ordering: 'none',
        enabled: true,
        disabledReason: null,
        secretSince: timeAfter(nowMs, -30),
        previousSecretExpiresAt: null,
        previousSecretLastSucceededAt: null,
      } satisfies Partial<EntityResponse<typeof webhook>>,
    },
    moments: {
      'webhook.updated': { previous: { events: ['issue.created'] } },
      'webhook.disabled': { now: why, previous: { enabled: true, disabledReason: null } },
      'webhook.secret_rotated': {
        now: {
          secretSince: now,
          previousSecretExpiresAt: timeAfter(nowMs, 1),
          previousSecretLastSucceededAt: before,
        },
        previous: {
          secretSince: timeAfter(nowMs, -30),
          previousSecretExpiresAt: null,
          previousSecretLastSucceededAt: null,
        },
      },
    },
  };
};
