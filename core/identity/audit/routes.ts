import { Type } from 'typebox';
import { eventTypes } from '../../events/catalogue.ts';
import { envelope } from '../../events/schema.ts';
import { defineRoute } from '../../http/route.ts';
import { Closed, named, nullable, pageOf, pageQuery, time } from '../../lib/schema.ts';
import { listAudit } from './audit.ts';

const AuditEntry = named(
  'AuditEntry',
  Closed({
    id: envelope.id,
    at: time,
    sequence: envelope.sequence,
    action: Type.Enum([...eventTypes]),
    actor: envelope.actor,
    target: Closed({ kind: Type.String(), id: Type.String() }),
    details: nullable(
      Closed({
        changed: Type.Array(Type.String(), { description: 'The fields that moved.' }),
        previousSecretExpiresAt: Type.Optional(nullable(time)),
        previousSecretLastSucceededAt: Type.Optional(
          nullable({
            ...time,
            description: 'When the secret that was rotated out had last signed a delivery that succeeded.',
          }),
        ),
      }),
    ),
    requestId: nullable(Type.String()),
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
      action: Type.Optional(Type.Enum([...eventTypes])),
    }),
    responses: { 200: pageOf(AuditEntry) },
    errors: ['invalid_cursor'],
    read: (ctx, { query }) => listAudit(ctx, query),
  }),
];
