// Creates a ping, an event that only tests an endpoint. A ping is stored in the log like any other event, and
// is delivered to its endpoint regardless of the endpoint's subscription.
import { announce } from '../../changes/announcement.ts';
import type { ChangeSet } from '../../changes/change.ts';
import { getEntity } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { endpointModel } from '../endpoints/kind.ts';
import { makeDelivery, type DeliveryWork } from './deliveries.ts';
import { idPrefixes } from '../../lib/ids.ts';

/** @throws ApiError not_found, conflict if the endpoint is disabled */
export async function pingEndpoint(ctx: Context, id: string, work: DeliveryWork): Promise<ChangeSet> {
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
    changes: [announce(target, event.type, endpointModel.wire(endpoint, ctx), event.id)],
  };
}
