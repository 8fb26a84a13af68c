// Lists, shows, creates and cancels deliveries.
import type { ChangeSet } from '../../../kernel/changes/change.ts';
import { contentParameters, cursorOf, type PageParameters } from '../../../kernel/changes/list.ts';
import { getEntity, isoTime } from '../../../kernel/changes/operations.ts';
import type { Context } from '../../../kernel/context.ts';
import type { EventType } from '../../../kernel/events/catalogue.ts';
import { mayRead } from '../../../kernel/events/feed/feed.ts';
import { findEvent } from '../../../kernel/events/log/log.ts';
import type { WorkQueue } from '../../../kernel/events/work/queue.ts';
import { ApiError, notFound } from '../../../platform/lib/errors/errors.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { limitDefault } from '../../../platform/lib/schema.ts';
import { readTime } from '../../../platform/lib/time/time.ts';
import { readPage, type Condition } from '../../../platform/store/page.ts';
import type { Value } from '../../../platform/store/statement.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { endpointModel, type Endpoint } from '../endpoints/model.ts';
import type { WebhookMessage } from '../payload.ts';
import { messageOfDelivery } from './message.ts';
import { freeNextOp, isOrdered, queueDeliveryOps } from './queue.ts';
import { unpackHeaders } from './sent-headers.ts';
import {
  attemptsOf,
  cancelDeliveryOp,
  deliveryColumns,
  findDelivery,
  newDelivery,
  type DeliveryRow,
} from './rows.ts';

export interface DeliveryWork {
  noteCanceled(id: string, queue: WorkQueue): void;
  /** Deliveries with a running attempt. Only the worker tracks them. */
  active(): ReadonlySet<string>;
  /**
   * Enabled endpoints. Open deliveries of other endpoints count as canceled, even if their rows are not
   * updated yet.
   */
  enabled(scope: Scope): Promise<ReadonlySet<string>>;
  /** Stores deliveries that have no row yet: all of a workspace, or those of one endpoint. */
  storeWork(scope: Scope, endpointId?: string): Promise<void>;
  readonly queue: WorkQueue;
}

interface DeliveryQuery extends PageParameters {
  readonly webhook?: string;
  readonly status?: string;
  readonly eventType?: string;
  readonly eventId?: string;
  readonly origin?: string;
  readonly since?: string;
  readonly until?: string;
}

/** Returns deliveries, newest first. @throws ApiError invalid_cursor */
export async function listDeliveries(ctx: Context, query: DeliveryQuery, work: DeliveryWork) {
  await work.storeWork(ctx.scope, query.webhook);
  const now = await momentOf(ctx, work);
  const { data, pageInfo } = await readPage(ctx.store, ctx.sealing, ctx.scope, {
    table: 'deliveries',
    select: deliveryColumns.join(', '),
    where: [
      ...where('endpoint_id = :endpointId', 'endpointId', query.webhook),
      ...where('event_type = :eventType', 'eventType', query.eventType),
      ...where('event_id = :eventId', 'eventId', query.eventId),
      ...where('origin = :origin', 'origin', query.origin),
      ...where('created_at >= :since', 'since', query.since && readTime(query.since, 'since')),
      ...where('created_at < :until', 'until', query.until && readTime(query.until, 'until')),
      ...(query.status === undefined ? [] : [hasStatus(query.status, now)]),
    ],
    order: [{ sql: 'created_at', direction: 'desc' }],
    limit: query.limit ?? limitDefault,
    after: cursorOf(query),
    parameters: contentParameters(query),
  });
  return { data: data.map((row) => showDelivery(ctx, row as DeliveryRow, now)), pageInfo };
}

/** @throws ApiError not_found, invalid_cursor */
export async function listDeliveriesTo(
  ctx: Context,
  endpointId: string,
  query: DeliveryQuery,
  work: DeliveryWork,
) {
  await getEntity(ctx, endpointModel, endpointId);
  return listDeliveries(ctx, { ...query, webhook: endpointId }, work);
}

/** @throws ApiError not_found, also if the token may not read the event, because the result contains its payload */
export async function getDelivery(ctx: Context, id: string, work: DeliveryWork) {
  const { row, message } = await readDelivery(ctx, id, work);
  const attempts = await attemptsOf.all(ctx.store, ctx.scope, { delivery_id: id });
  return {
    ...showDelivery(ctx, row, await momentOf(ctx, work)),
    payload: message.payload,
    attemptList: attempts.map((attempt) => ({
      number: attempt.number,
      at: isoTime(attempt.at),
      latencyMs: attempt.latency_ms,
      statusCode: attempt.status_code,
      error: attempt.error,
      requestHeaders: unpackHeaders(attempt.request_headers_json, { delivery: row, at: attempt.at }),
      responseHeaders:
        attempt.response_headers_json === null ? null : JSON.parse(attempt.response_headers_json),
      ...toResponseBody(attempt.response_body),
      truncated: attempt.truncated === 1,
    })),
  };
}

/** Creates a new delivery of the same event with a new signature. @throws ApiError not_found, conflict */
export async function replayDelivery(ctx: Context, id: string, work: DeliveryWork): Promise<ChangeSet> {
  const { row, message } = await readDelivery(ctx, id, work);
  const endpoint = await endpointModel.find(ctx, row.endpoint_id);
  if (!endpoint || endpoint.deletedAt !== null)
    throw new ApiError(
      'conflict',
      'The endpoint of this delivery was deleted. Create another endpoint, and read past events from the feed.',
    );
  const event = await findEvent(ctx.store, ctx.scope, row.event_id);
  return event
    ? makeDelivery(ctx, endpoint, event, 'replay', work)
    : makeSampleDelivery(ctx, endpoint, message, work);
}

interface SampleMessage {
  readonly eventId: string;
  readonly type: string;
  readonly payload: WebhookMessage['payload'];
}

/** Returns the change set of a delivery of a sample event. @throws ApiError conflict */
export function makeSampleDelivery(
  ctx: Context,
  endpoint: Endpoint,
  { eventId, type, payload }: SampleMessage,
  work: DeliveryWork,
): ChangeSet {
  // A sample concerns no stored entity, so its own id is its order key.
  const event = { id: eventId, type: type as EventType, sequence: 0, subjectId: null, entityId: eventId };
  return makeDelivery(ctx, endpoint, event, 'sample', work, payload);
}

/**
 * Returns the change set of one delivery that is due at once.
 * @throws ApiError conflict if the endpoint is disabled
 */
export function makeDelivery(
  ctx: Context,
  endpoint: Endpoint,
  event: Parameters<typeof newDelivery>[2],
  origin: DeliveryRow['origin'],
  { queue }: DeliveryWork,
  sample: string | null = null,
): ChangeSet {
  if (!endpoint.enabled) throw new ApiError('conflict', 'The endpoint is disabled. Enable it, then retry.');
  const delivery = newDelivery(ctx.ids.next(idPrefixes.delivery), endpoint, event, ctx.nowMs(), origin);
  return {
    changes: [],
    ops: queueDeliveryOps(queue, ctx.scope, delivery, sample),
    body: showDelivery(ctx, delivery, ofEnabled(endpoint)),
    status: 201,
    location: `${ctx.baseUrl}/api/v1/deliveries/${delivery.id}`,
  };
}

/**
 * Cancels further attempts. A running attempt is not interrupted, and is recorded.
 * @throws ApiError not_found, conflict
 */
export async function cancelDelivery(ctx: Context, id: string, work: DeliveryWork): Promise<ChangeSet> {
  const row = await findRow(ctx, id, work);
  if (!row) throw notFound();
  const { status } = statusOf(row, { ...(await momentOf(ctx, work)), active: new Set() });
  if (status !== 'pending' && status !== 'retrying')
    throw new ApiError(
      'conflict',
      `This delivery is ${status}. Only pending and retrying deliveries can be canceled.`,
    );
  const now = ctx.nowMs();
  const ops = [cancelDeliveryOp(ctx.scope, id, now), work.queue.remove(ctx.scope, id)];
  return {
    changes: [],
    ops: isOrdered(row) ? [...ops, freeNextOp(work.queue, ctx.scope, row, now)] : ops,
    afterCommit: () => work.noteCanceled(id, work.queue),
    body: showDelivery(
      ctx,
      { ...row, status: 'canceled', next_attempt_at: null, finished_at: now },
      { active: new Set(), enabled: new Set() },
    ),
  };
}

async function findRow(ctx: Context, id: string, work: DeliveryWork): Promise<DeliveryRow | undefined> {
  const row = await findDelivery.one(ctx.store, ctx.scope, { id });
  if (row) return row;
  await work.storeWork(ctx.scope);
  return findDelivery.one(ctx.store, ctx.scope, { id });
}

async function readDelivery(
  ctx: Context,
  id: string,
  work: DeliveryWork,
): Promise<{ row: DeliveryRow; message: WebhookMessage }> {
  const row = await findRow(ctx, id, work);
  const message = row && (await messageOfDelivery(ctx.store, ctx.scope, row, ctx.baseUrl));
  if (!message || !mayRead(ctx.scopes, row.event_type as EventType)) throw notFound();
  return { row, message };
}

function where(sql: string, name: string, value: Value | undefined): Condition[] {
  return value === undefined ? [] : [{ sql, params: { [name]: value } }];
}

/** Returns the raw body, as text if it is UTF-8, otherwise as base64. */
function toResponseBody(body: Uint8Array | ArrayBuffer | null) {
  if (body === null) return { responseBody: null, responseBodyEncoding: null };
  try {
    // A byte order mark is part of the body.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    return { responseBody: text, responseBodyEncoding: 'utf8' };
  } catch {
    return {
      responseBody: Buffer.from(new Uint8Array(body)).toString('base64'),
      responseBodyEncoding: 'base64',
    };
  }
}

/** Delivery state that is not in the rows. */
interface Moment {
  readonly active: ReadonlySet<string>;
  /** Ids of enabled endpoints. */
  readonly enabled: ReadonlySet<string>;
}

async function momentOf({ scope }: Context, work: DeliveryWork): Promise<Moment> {
  return { active: work.active(), enabled: await work.enabled(scope) };
}

const ofEnabled = ({ id }: Endpoint): Moment => ({ active: new Set(), enabled: new Set([id]) });

/** Returns the condition for a status as shown by `showDelivery`. */
function hasStatus(status: string, now: Moment): Condition {
  const active = JSON.stringify([...now.active]);
  const enabled = JSON.stringify([...now.enabled]);
  const isActive = 'id IN (SELECT value FROM json_each(:active))';
  const isOff = 'endpoint_id NOT IN (SELECT value FROM json_each(:enabled))';
  switch (status) {
    case 'delivering':
      return { sql: isActive, params: { active } };
    case 'pending':
    case 'retrying':
      return {
        sql: `status = :status AND NOT ${isActive} AND NOT (${isOff})`,
        params: { status, active, enabled },
      };
    case 'canceled':
      return {
        sql: `(status = :status OR status IN ('pending', 'retrying') AND ${isOff}) AND NOT ${isActive}`,
        params: { status, active, enabled },
      };
    default:
      return { sql: 'status = :status', params: { status } };
  }
}

function statusOf(row: DeliveryRow, { active, enabled }: Moment) {
  if (active.has(row.id)) return { status: 'delivering', nextAttemptAt: row.next_attempt_at };
  const isOpen = row.status === 'pending' || row.status === 'retrying';
  if (isOpen && !enabled.has(row.endpoint_id)) return { status: 'canceled', nextAttemptAt: null };
  return { status: row.status, nextAttemptAt: row.next_attempt_at };
}

function showDelivery({ baseUrl }: Context, row: DeliveryRow, now: Moment) {
  const { status, nextAttemptAt } = statusOf(row, now);
  return {
    id: row.id,
    webhookId: row.endpoint_id,
    eventId: row.event_id,
    eventType: row.event_type,
    origin: row.origin,
    status,
    attempts: row.attempts,
    createdAt: isoTime(row.created_at),
    firstAttemptAt: isoTime(row.first_attempt_at),
    nextAttemptAt: isoTime(nextAttemptAt),
    finishedAt: isoTime(row.finished_at),
    pageUrl: `${baseUrl}/deliveries/${row.id}`,
  };
}
