// Liveness and readiness, for supervisors and load balancers. Public; they say nothing about what is stored.
import { Type } from 'typebox';
import { defineRoute, type Route } from './http/route.ts';
import { Closed } from './lib/schema.ts';

export interface Readiness {
  (): { store: boolean; sandbox: string };
}

export function healthRoutes(readiness: Readiness): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/healthz',
      name: 'health.live',
      summary: 'The process answers',
      scope: null,
      limit: 'none',
      responses: { 200: Closed({ status: Type.Enum(['ok']) }) },
      raw: () => ({ contentType: 'application/json', body: '{"status":"ok"}' }),
    }),
    defineRoute({
      method: 'GET',
      path: '/readyz',
      name: 'health.ready',
      summary: 'The database can be written and the sandbox runs',
      scope: null,
      limit: 'none',
      responses: {
        200: Closed({
          status: Type.Enum(['ready', 'degraded']),
          store: Type.Boolean(),
          sandbox: Type.String(),
        }),
      },
      raw: () => {
        const { store, sandbox } = readiness();
        const ready = store && sandbox !== 'down';
        return {
          contentType: 'application/json',
          status: ready ? 200 : 503,
          body: JSON.stringify({ status: ready ? 'ready' : 'degraded', store, sandbox }),
        };
      },
    }),
  ];
}
