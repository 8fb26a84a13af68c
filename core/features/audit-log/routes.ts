import { Type } from 'typebox';
import { envelope, eventType } from '../../kernel/events/feed/schema.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import {
  Closed,
  described,
  namedSchema,
  nullable,
  pageOf,
  pageQuery,
  time,
  limitDefault,
} from '../../platform/lib/schema.ts';
import { cursorOf, type PageParameters } from '../../kernel/changes/list.ts';
import type { Context } from '../../kernel/context.ts';
import { pageBefore } from '../../kernel/events/log/log.ts';
import { rangeOf, rangeQuery, type RangeQuery } from '../../kernel/events/log/range.ts';
import type { EventFacts, EventRow } from '../../kernel/events/event.ts';
import { decodeCursor, encodeCursor } from '../../platform/lib/cursor.ts';
import { pageBytesMax } from '../../platform/store/page.ts';

const AuditEntry = namedSchema(
  'AuditEntry',
  Closed({
    id: envelope.id,
    at: described(time, 'Time of the action.'),
    sequence: envelope.sequence,
    action: { ...eventType, description: 'Type of the event that the action emitted.' },
    actor: envelope.actor,
    target: Closed(
      {
        kind: Type.String({ description: 'Type of the object, such as `issue`.' }),
        id: Type.String({ description: 'Id of the object.' }),
      },
      { description: 'Object that was changed.' },
    ),
    details: nullable(
      Closed(
        {
          changed: Type.Array(Type.String(), { description: 'Names of the changed fields.' }),
          previousSecretExpiresAt: Type.Optional(
            nullable(
              described(time, 'Time until which deliveries are also signed with the previous secret.'),
            ),
          ),
          previousSecretLastSucceededAt: Type.Optional(
            nullable({
              ...time,
              description: 'Time of the last successful delivery signed with the previous secret.',
            }),
          ),
        },
        { description: 'Details of the action.' },
      ),
    ),
    requestId: nullable(Type.String({ description: 'Id of the request that performed the action.' })),
    cause: envelope.cause,
  }),
);

/** Returns a view of the event log, newest first, without the values of changed fields. */
async function listAudit(
  ctx: Context,
  query: PageParameters & RangeQuery & { actor?: string; target?: string; action?: string },
) {
  const list = `${ctx.workspaceId} audit ${JSON.stringify([query.actor, query.target, query.action, query.since, query.until])}`;
  const range = await rangeOf(ctx, query);
  const after = cursorOf(query);
  const limit = query.limit ?? limitDefault;
  let before =
    after === undefined
      ? Math.min(range.through + 1, Number.MAX_SAFE_INTEGER)
      : Number(decodeCursor(ctx.sealing, list, after)[0]);
  const matches = (event: EventFacts): boolean => range.has(event) && isRequested(query, event);
  const data = [];
  let more = before > range.after + 1;
  for (
    let batches = 0, bytes = 0;
    more && data.length < limit && bytes <= pageBytesMax && batches < 25;
    batches++
  ) {
    const page = await ctx.fairQueue.run(ctx.scope, () =>
      pageBefore(ctx.store, ctx.scope, before, {
        limit: Math.min(200, before - 1 - range.after),
        matches,
        eventsMax: limit - data.length,
        bytesMax: pageBytesMax - bytes,
      }),
    );
    data.push(...page.events.map(showEntry));
    before = page.through;
    bytes += page.bytes;
    more = page.more && before > range.after + 1;
  }
  const endCursor = data.length > 0 || more ? encodeCursor(ctx.sealing, list, [before]) : null;
  return { data, pageInfo: { hasNextPage: more, endCursor } };
}

function isRequested(
  { actor, target, action }: { actor?: string; target?: string; action?: string },
  event: EventFacts,
): boolean {
  return (
    (actor === undefined || actor === event.actor.id || actor === event.actor.memberId) &&
    (target === undefined || target === event.entityId) &&
    (action === undefined || action === event.type)
  );
}

function showEntry(row: EventRow) {
  return {
    id: row.id,
    at: new Date(row.createdAt).toISOString(),
    sequence: row.sequence,
    action: row.type,
    actor: row.actor,
    target: { kind: row.entityType, id: row.entityId },
    details: detailsOf(row),
    requestId: row.requestId,
    cause: row.cause,
  };
}

/**
 * Returns the names of the changed fields, and for a secret rotation also the times that show if the old
 * secret is still in use.
 */
function detailsOf({ type, data }: EventRow) {
  if (!('previous' in data)) return null;
  const changed = Object.keys(data.previous as object);
  if (type !== 'webhook.secret_rotated') return { changed };
  const { previousSecretExpiresAt, previousSecretLastSucceededAt } = data;
  return { changed, previousSecretExpiresAt, previousSecretLastSucceededAt };
}

export const auditRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/audit-log',
    name: 'audit-log.list',
    summary: 'List audit log entries, newest first',
    scope: 'audit:read',
    limit: 'read',
    query: Closed({
      ...pageQuery,
      actor: Type.Optional(
        Type.String({
          maxLength: 40,
          description: 'Only entries of this actor: the id of a key, member or plugin install.',
        }),
      ),
      target: Type.Optional(
        Type.String({ maxLength: 40, description: 'Only entries on the object with this id.' }),
      ),
      action: Type.Optional({ ...eventType, description: 'Only entries with this event type.' }),
      ...rangeQuery,
    }),
    responses: { 200: pageOf(AuditEntry) },
    errors: ['invalid_cursor'],
    read: (ctx, { query }) => listAudit(ctx, query),
  }),
];
