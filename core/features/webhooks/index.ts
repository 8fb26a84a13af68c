import { endpointCheck } from './checks.ts';
import { equal } from '../../kernel/checks.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { webhook } from './endpoints/contract.ts';
import { endpointDelegation } from './endpoints/disable.ts';
import { endpointModel } from './endpoints/model.ts';
import { webhookSamples } from './samples.ts';

export const webhooks = defineFeature({
  name: 'webhooks',
  contracts: [webhook],
  models: [endpointModel],
  delegation: endpointDelegation,
  tagGroup: 'Events',
  tags: [
    {
      name: 'deliveries',
      title: 'Deliveries',
      doc: 'Delivery attempts to webhooks with the exact bytes sent; each delivery can be sent again or canceled.',
    },
    {
      name: 'replays',
      title: 'Replays',
      doc: 'Redeliveries of past events to a webhook, from a time or a sequence in the log.',
    },
  ],
  samples: webhookSamples,
  facts: {
    webhook: () => [equal('events', 'events_json', ({ events }) => events)],
  },
  checks: [endpointCheck],
  metrics: [
    {
      type: 'counter',
      name: 'tatami_deliveries_total',
      help: 'Attempts of webhook deliveries, by outcome.',
      label: 'outcome',
      read: ({ outcomeCounter }) => outcomeCounter.of('deliveries'),
    },
  ],
});

export { endpointModel } from './endpoints/model.ts';
export { createWebhooks } from './runtime.ts';
export { createSecretOpener, openAddress, opensSecret } from './endpoints/secrets.ts';
