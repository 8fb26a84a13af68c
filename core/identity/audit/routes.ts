import { Type } from 'typebox';
import { envelope, eventType } from '../../events/schema.ts';
import { defineRoute } from '../../http/route.ts';
import { Closed, described, namedSchema, nullable, pageOf, pageQuery, time } from '../../lib/schema.ts';
import { listAudit } from './audit.ts';

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
    }),
    responses: { 200: pageOf(AuditEntry) },
    errors: ['invalid_cursor'],
    read: (ctx, { query }) => listAudit(ctx, query),
  }),
];
