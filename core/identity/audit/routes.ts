import { Type } from 'typebox';
import { envelope, eventType } from '../../events/schema.ts';
import { defineRoute } from '../../http/route.ts';
import { Closed, described, named, nullable, pageOf, pageQuery, time } from '../../lib/schema.ts';
import { listAudit } from './audit.ts';

const AuditEntry = named(
  'AuditEntry',
  Closed({
    id: envelope.id,
    at: described(time, 'When it was done.'),
    sequence: envelope.sequence,
    action: described(eventType, 'What was done: the type of its event.'),
    actor: envelope.actor,
    target: Closed(
      {
        kind: Type.String({ description: 'Such as `issue`.' }),
        id: Type.String({ description: 'Its id.' }),
      },
      { description: 'What it was done to.' },
    ),
    details: nullable(
      Closed(
        {
          changed: Type.Array(Type.String(), { description: 'The fields that moved.' }),
          previousSecretExpiresAt: Type.Optional(
            nullable(described(time, 'Until when the secret that was rotated out signs as well.')),
          ),
          previousSecretLastSucceededAt: Type.Optional(
            nullable({
              ...time,
              description: 'When the secret that was rotated out had last signed a delivery that succeeded.',
            }),
          ),
        },
        { description: 'More of what was done.' },
      ),
    ),
    requestId: nullable(Type.String({ description: 'The request that it was done by.' })),
    cause: envelope.cause,
  }),
);

export const auditRoutes = [
  defineRoute({
    method: 'GET',
    path: '/api/v1/audit-log',
    name: 'audit-log.list',
    summary: 'Who did what, newest first',
    scope: 'audit:read',
    limit: 'read',
    query: Closed({
      ...pageQuery,
      actor: Type.Optional(
        Type.String({ maxLength: 40, description: 'The id of a key, member or plugin install.' }),
      ),
      target: Type.Optional(Type.String({ maxLength: 40, description: 'The id of what was changed.' })),
      action: Type.Optional(described(eventType, 'Only entries of this type of event.')),
    }),
    responses: { 200: pageOf(AuditEntry) },
    errors: ['invalid_cursor'],
    read: (ctx, { query }) => listAudit(ctx, query),
  }),
];
