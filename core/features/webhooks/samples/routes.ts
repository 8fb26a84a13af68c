import type { Streams } from '../../../kernel/events/stream/streams.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { Closed, idOf } from '../../../platform/lib/schema.ts';
import type { DeliveryWork } from '../deliveries/deliveries.ts';
import { DeliveryResponse } from '../deliveries/schema.ts';
import { deliverSample, sendSample, SampleCreate, SampleSent, type Samples } from './samples.ts';
import { webhook } from '../endpoints/contract.ts';

export function sampleRoutes(samples: Samples, work: DeliveryWork, streams: Streams): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/events/samples',
      name: 'events.sample',
      summary: 'Send a sample of any event type to open event streams',
      description:
        "Sends a made-up event to the streams of this workspace that request samples. It is not stored in the log and changes nothing. Also needs the read scope of the type's namespace.",
      scope: 'webhooks:write',
      limit: 'write',
      body: SampleCreate,
      example: { type: 'issue.created', data: { priority: 'urgent' } },
      responses: { 200: SampleSent },
      write: (ctx, { body }) => sendSample(ctx, body, samples, streams),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/webhooks/{id}/samples',
      name: 'webhooks.sample',
      summary: 'Deliver a sample of any event type to an endpoint',
      description:
        "Delivers a made-up event with sequence 0. It is not stored in the log and changes nothing. Also needs the read scope of the type's namespace.",
      scope: 'webhooks:write',
      limit: 'write',
      params: Closed({ id: idOf(webhook.id) }),
      body: SampleCreate,
      example: { type: 'issue.created', data: { priority: 'urgent' } },
      responses: { 201: DeliveryResponse },
      errors: ['conflict'],
      write: (ctx, { params, body }) => deliverSample(ctx, params.id, body, samples, work),
    }),
  ];
}
