import { defineRoute, type Route } from '../../http/route.ts';
import { Closed, id } from '../../lib/schema.ts';
import type { DeliveryWork } from '../deliveries/deliveries.ts';
import { DeliveryShown } from '../deliveries/schema.ts';
import { deliverSample, type Samples } from './samples.ts';
import { SampleCreate } from './schema.ts';

export function sampleRoutes(samples: Samples, work: DeliveryWork): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/webhooks/{id}/samples',
      name: 'webhooks.sample',
      summary: 'Deliver a sample of any event type to an endpoint',
      description:
        "An event that never happened, with sequence 0 and in no log: it changes nothing. Needs the read scope of the type's namespace as well.",
      scope: 'webhooks:write',
      limit: 'write',
      params: Closed({ id: id('endpoint') }),
      body: SampleCreate,
      example: { type: 'issue.created', data: { priority: 'urgent' } },
      responses: { 201: DeliveryShown },
      errors: ['conflict'],
      write: (ctx, { params, body }) => deliverSample(ctx, params.id, body, samples, work),
    }),
  ];
}
