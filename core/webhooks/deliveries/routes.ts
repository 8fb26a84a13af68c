import { Type } from 'typebox';
import { eventTypes } from '../../events/catalogue.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { Closed, id, pageOf, pageQuery } from '../../lib/schema.ts';
import { getDelivery, listDeliveries, type DeliveryActivity } from './deliveries.ts';
import { DeliveryDetail, DeliveryShown, deliveryStatuses } from './schema.ts';

export function deliveryRoutes(activity: DeliveryActivity): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/webhooks/{id}/deliveries',
      name: 'webhooks.deliveries',
      summary: 'List the deliveries to an endpoint, newest first',
      scope: 'webhooks:read',
      limit: 'read',
      params: Closed({ id: id('endpoint') }),
      query: Closed({
        ...pageQuery,
        status: Type.Optional(Type.Enum(deliveryStatuses.filter((status) => status !== 'delivering'))),
        eventType: Type.Optional(Type.Enum([...eventTypes])),
      }),
      responses: { 200: pageOf(DeliveryShown) },
      errors: ['invalid_cursor'],
      read: (ctx, { params, query }) => listDeliveries(ctx, params.id, query, activity),
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/deliveries/{id}',
      name: 'deliveries.get',
      summary: 'Get a delivery with its payload and every attempt',
      scope: 'webhooks:read',
      limit: 'read',
      params: Closed({ id: id('delivery') }),
      responses: { 200: DeliveryDetail },
      read: (ctx, { params }) => getDelivery(ctx, params.id, activity),
    }),
  ];
}
