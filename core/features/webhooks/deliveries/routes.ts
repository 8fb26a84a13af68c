import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Type } from 'typebox';
import { eventType } from '../../../kernel/events/feed/schema.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { Closed, idOf, pageOf, pageQuery } from '../../../platform/lib/schema.ts';
import {
  cancelDelivery,
  getDelivery,
  listDeliveries,
  listDeliveriesTo,
  replayDelivery,
  type DeliveryWork,
  makeDelivery,
} from './operations.ts';
import { DeliveryDetail, DeliveryResponse, deliveryOrigin, deliveryStatus } from './schema.ts';
import { webhook } from '../endpoints/contract.ts';
import { announce, type ChangeSet } from '../../../kernel/changes/change.ts';
import { getEntity } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import { endpointModel } from '../endpoints/model.ts';

const filters = {
  status: Type.Optional(deliveryStatus),
  eventType: Type.Optional(eventType),
  eventId: Type.Optional(idOf(idPrefixes.event)),
  origin: Type.Optional(deliveryOrigin),
  since: Type.Optional(
    Type.String({ maxLength: 40, description: 'Only deliveries created at or after this time, RFC 3339.' }),
  ),
  until: Type.Optional(
    Type.String({ maxLength: 40, description: 'Only deliveries created before this time, RFC 3339.' }),
  ),
};

const listOfEndpoint = (work: DeliveryWork): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v1/webhooks/{id}/deliveries',
    name: 'webhooks.deliveries',
    summary: 'List the deliveries to an endpoint, newest first',
    scope: 'webhooks:read',
    limit: 'read',
    params: Closed({ id: idOf(webhook.id) }),
    query: Closed({ ...pageQuery, ...filters }),
    responses: { 200: pageOf(DeliveryResponse) },
    errors: ['invalid_cursor'],
    read: (ctx, { params, query }) => listDeliveriesTo(ctx, params.id, query, work),
  });

const list = (work: DeliveryWork): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v1/deliveries',
    name: 'deliveries.list',
    summary: 'List deliveries to all endpoints, newest first',
    scope: 'webhooks:read',
    limit: 'read',
    query: Closed({ ...pageQuery, webhook: Type.Optional(idOf(webhook.id)), ...filters }),
    responses: { 200: pageOf(DeliveryResponse) },
    errors: ['invalid_cursor'],
    read: (ctx, { query }) => listDeliveries(ctx, query, work),
  });

/** @throws ApiError not_found, conflict if the endpoint is disabled */
async function pingEndpoint(ctx: Context, id: string, work: DeliveryWork): Promise<ChangeSet> {
  const endpoint = await getEntity(ctx, endpointModel, id);
  const target = { kind: endpointModel.name, id };
  const event = {
    id: ctx.ids.next(idPrefixes.event),
    type: 'webhook.ping' as const,
    sequence: null,
    subjectId: null,
    entityId: id,
  };
  return {
    ...makeDelivery(ctx, endpoint, event, 'ping', work),
    changes: [announce(target, event.type, endpointModel.toResponse(endpoint, ctx), event.id)],
  };
}

const ping = (work: DeliveryWork): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/v1/webhooks/{id}/ping',
    name: 'webhooks.ping',
    summary: 'Send a webhook.ping event to an endpoint',
    description:
      'The endpoint receives the event regardless of its subscription. Returns the delivery; get it again to see the result.',
    scope: 'webhooks:write',
    limit: 'write',
    params: Closed({ id: idOf(webhook.id) }),
    responses: { 201: DeliveryResponse },
    errors: ['conflict'],
    write: (ctx, { params }) => pingEndpoint(ctx, params.id, work),
  });

const get = (work: DeliveryWork): Route =>
  defineRoute({
    method: 'GET',
    path: '/api/v1/deliveries/{id}',
    name: 'deliveries.get',
    summary: 'Get a delivery with its payload and every attempt',
    description: "Returns 404 without the read scope of the event's namespace.",
    scope: 'webhooks:read',
    limit: 'read',
    params: Closed({ id: idOf(idPrefixes.delivery) }),
    responses: { 200: DeliveryDetail },
    read: (ctx, { params }) => getDelivery(ctx, params.id, work),
  });

const replay = (work: DeliveryWork): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/v1/deliveries/{id}/replay',
    name: 'deliveries.replay',
    summary: 'Redeliver an event',
    description:
      'Creates a new delivery of the same event with a new signature. The endpoint must be enabled.',
    scope: 'webhooks:write',
    limit: 'write',
    params: Closed({ id: idOf(idPrefixes.delivery) }),
    responses: { 201: DeliveryResponse },
    errors: ['conflict'],
    write: (ctx, { params }) => replayDelivery(ctx, params.id, work),
  });

const cancel = (work: DeliveryWork): Route =>
  defineRoute({
    method: 'POST',
    path: '/api/v1/deliveries/{id}/cancel',
    name: 'deliveries.cancel',
    summary: 'Cancel a delivery',
    description: 'A running attempt is not interrupted; if it succeeds, the delivery ends as delivered.',
    scope: 'webhooks:write',
    limit: 'write',
    params: Closed({ id: idOf(idPrefixes.delivery) }),
    responses: { 200: DeliveryResponse },
    errors: ['conflict'],
    write: (ctx, { params }) => cancelDelivery(ctx, params.id, work),
  });

export function deliveryRoutes(work: DeliveryWork): Route[] {
  return [listOfEndpoint, list, ping, get, replay, cancel].map((route) => route(work));
}
