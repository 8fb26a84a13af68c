// Reads deliveries: what was sent, what came back, and when the next attempt is due.
import { cursorOf, type PageParameters } from '../../changes/list.ts';
import { getEntity, isoTime } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import { findEvent } from '../../events/log.ts';
import { notFound } from '../../lib/errors.ts';
import { limitDefault } from '../../lib/schema.ts';
import { readPage } from '../../store/page.ts';
import { endpointKind } from '../endpoints/schema.ts';
import { payloadOf } from '../payload.ts';
import { attemptsOf, deliveryColumns, findDelivery, type DeliveryRow } from './rows.ts';

/** Whether an attempt is under way, which only its worker knows. */
export interface DeliveryActivity {
  isActive(deliveryId: string): boolean;
}

export async function listDeliveries(
  ctx: Context,
  endpointId: string,
  query: PageParameters & { status?: string; eventType?: string },
  activity: DeliveryActivity,
) {
  await getEntity(ctx, endpointKind, endpointId);
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'deliveries',
    select: deliveryColumns,
    where: [
      { sql: 'endpoint_id = :endpointId', params: { endpointId } },
      ...(query.status === undefined ? [] : [{ sql: 'status = :status', params: { status: query.status } }]),
      ...(query.eventType === undefined
        ? []
        : [{ sql: 'event_type = :eventType', params: { eventType: query.eventType } }]),
    ],
    order: [{ sql: 'created_at', direction: 'desc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
  });
  return { data: data.map((row) => showDelivery(row as unknown as DeliveryRow, activity)), pageInfo };
}

export async function getDelivery(ctx: Context, id: string, activity: DeliveryActivity) {
  const row = await ctx.store.readOne(ctx.scope, findDelivery, { id });
  if (!row) throw notFound();
  const event = await findEvent(ctx.store, ctx.scope, row.event_id);
  const attempts = await ctx.store.read(ctx.scope, attemptsOf, { deliveryId: id });
  return {
    ...showDelivery(row, activity),
    payload: event ? payloadOf(event, ctx.baseUrl) : null,
    attemptList: attempts.map((attempt) => ({
      number: attempt.number,
      at: isoTime(attempt.at),
      latencyMs: attempt.latency_ms,
      statusCode: attempt.status_code,
      error: attempt.error,
      requestHeaders: JSON.parse(attempt.request_headers_json),
      responseHeaders:
        attempt.response_headers_json === null ? null : JSON.parse(attempt.response_headers_json),
      responseBody: attempt.response_body === null ? null : new TextDecoder().decode(attempt.response_body),
      truncated: attempt.truncated === 1,
    })),
  };
}

function showDelivery(row: DeliveryRow, activity: DeliveryActivity) {
  return {
    id: row.id,
    webhookId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    status: activity.isActive(row.id) ? 'delivering' : row.status,
    attempts: row.attempts,
    createdAt: isoTime(row.created_at),
    firstAttemptAt: isoTime(row.first_attempt_at),
    nextAttemptAt: isoTime(row.next_attempt_at),
    finishedAt: isoTime(row.finished_at),
  };
}
