// Liveness and readiness, for supervisors and load balancers. Public; they say nothing about what is stored.
import { Type } from 'typebox';
import { isoTime } from '../changes/operations.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { problemKinds, type Problem, type ProblemKind } from '../lib/problems.ts';
import { Closed, time } from '../lib/schema.ts';

export interface Readiness {
  (): { readonly store: boolean; readonly sandbox: string; readonly problems: readonly Problem[] };
}

/** With one of these the service is not what it promises: whoever can send requests elsewhere should. The others are warnings. */
const blocking: ReadonlySet<ProblemKind> = new Set(['damage', 'read_only', 'key', 'files_moved', 'plugins']);

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
      summary:
        'Whether everything works, and what does not since when; 503 where requests should go elsewhere',
      scope: null,
      limit: 'none',
      responses: {
        200: Closed({
          status: Type.Enum(['ready', 'degraded']),
          store: Type.Boolean({ description: 'The database can be written.' }),
          sandbox: Type.String(),
          problems: Type.Array(
            Closed({ kind: Type.Enum([...problemKinds]), since: time, message: Type.String() }),
          ),
        }),
      },
      raw: () => {
        const { problems, ...state } = readiness();
        const shown = problems.map(({ kind, sinceMs, message }) => ({
          kind,
          since: isoTime(sinceMs),
          message,
        }));
        return {
          contentType: 'application/json',
          status: problems.some(({ kind }) => blocking.has(kind)) ? 503 : 200,
          body: JSON.stringify({
            status: problems.length === 0 ? 'ready' : 'degraded',
            ...state,
            problems: shown,
          }),
        };
      },
    }),
  ];
}
