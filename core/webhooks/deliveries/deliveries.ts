// Reads deliveries (what was sent, what came back, when the next attempt is due) and replays them.
import type { ChangeSet } from '../../changes/change.ts';
import { cursorOf, type PageParameters } from '../../changes/list.ts';
import { getEntity, isoTime } from '../../changes/operations.ts';
import type { Context } from '../../context.ts';
import type { EventRow } from '../../events/event.ts';
import { mayRead } from '../../events/feed.ts';
import { findEvent } from '../../events/log.ts';
import type { WorkQueue } from '../../events/work.ts';
import { ApiError, notFound } from '../../lib/errors.ts';
import { limitDefault } from '../../lib/schema.ts';
import { readPage, type Condition } from '../../store/page.ts';
import { endpointKind } from '../endpoints/schema.ts';
import { payloadOf } from '../payload.ts';
import {
  attemptsOf,
  deliveryColumns,
  findDelivery,
  newDelivery,
  queueDeliveryOps,
  type DeliveryRow,
} from './rows.ts';

export interface DeliveryWork {
  /** Those being attempted, which only their worker knows. */
  active(): ReadonlySet<string>;
  readonly queue: WorkQueue;
}

export async function listDeliveries(
  ctx: Context,
  endpointId: string,
  query: PageParameters & { status?: string; eventType?: string },
  { active }: DeliveryWork,
) {
  await getEntity(ctx, endpointKind, endpointId);
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'deliveries',
    select: deliveryColumns,
    where: [
      { sql: 'endpoint_id = :endpointId', params: { endpointId } },
      ...(query.status === undefined ? [] : [hasStatus(query.status, active())]),
      ...(query.eventType === undefined
        ? []
        : [{ sql: 'event_type = :eventType', params: { eventType: query.eventType } }]),
    ],
    order: [{ sql: 'created_at', direction: 'desc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
  });
  return { data: data.map((row) => showDelivery(row as unknown as DeliveryRow, active())), pageInfo };
}

/** @throws ApiError not_found, also where the token may not read the event: its payload is in here. */
export async function getDelivery(ctx: Context, id: string, { active }: DeliveryWork) {
  const { row, event } = await readDelivery(ctx, id);
  const attempts = await ctx.store.read(ctx.scope, attemptsOf, { deliveryId: id });
  return {
    ...showDelivery(row, active()),
    payload: payloadOf(event, ctx.baseUrl),
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

/** A new delivery of the same event, signed afresh when it is made. @throws ApiError not_found, conflict */
export async function replayDelivery(
  ctx: Context,
  id: string,
  { active, queue }: DeliveryWork,
): Promise<ChangeSet> {
  const { row, event } = await readDelivery(ctx, id);
  const endpoint = await endpointKind.find(ctx, row.endpoint_id);
  if (!endpoint || endpoint.deletedAt !== null)
    throw new ApiError(
      'conflict',
      'The endpoint of this delivery was deleted. Register another, then read the events from the feed.',
    );
  if (!endpoint.enabled)
    throw new ApiError(
      'conflict',
      'The endpoint of this delivery is switched off. Switch it on, then replay.',
    );
  const delivery = newDelivery(ctx.ids.next('delivery'), endpoint.id, event, ctx.nowMs(), 'replay');
  return {
    changes: [],
    ops: queueDeliveryOps(queue, ctx.scope, delivery, false),
    adopt: (rows) => queue.adopt(ctx.scope, rows[1] ?? []),
    body: showDelivery(delivery, active()),
    status: 201,
    location: `${ctx.baseUrl}/api/v1/deliveries/${delivery.id}`,
  };
}

async function readDelivery(ctx: Context, id: string): Promise<{ row: DeliveryRow; event: EventRow }> {
  const row = await ctx.store.readOne(ctx.scope, findDelivery, { id });
  const event = row && (await findEvent(ctx.store, ctx.scope, row.event_id));
  if (!event || !mayRead(ctx.scopes, event.type)) throw notFound();
  return { row, event };
}

/** As `showDelivery` shows it: the row does not say what is being attempted. */
function hasStatus(status: string, active: ReadonlySet<string>): Condition {
  const ids = JSON.stringify([...active]);
  switch (status) {
    case 'delivering':
      return { sql: 'id IN (SELECT value FROM json_each(:active))', params: { active: ids } };
    case 'pending':
    case 'retrying':
      return {
        sql: 'status = :status AND id NOT IN (SELECT value FROM json_each(:active))',
        params: { status, active: ids },
      };
    default:
      return { sql: 'status = :status', params: { status } };
  }
}

function showDelivery(row: DeliveryRow, active: ReadonlySet<string>) {
  return {
    id: row.id,
    webhookId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    origin: row.origin,
    status: active.has(row.id) ? 'delivering' : row.status,
    attempts: row.attempts,
    createdAt: isoTime(row.created_at),
    firstAttemptAt: isoTime(row.first_attempt_at),
    nextAttemptAt: isoTime(row.next_attempt_at),
    finishedAt: isoTime(row.finished_at),
  };
}
