// Liveness and readiness endpoints for supervisors and load balancers. They are public and reveal nothing about stored data.
import { Type } from 'typebox';
import { isoTime } from '../../kernel/changes/operations.ts';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { problemKinds, type Problem, type ProblemKind } from '../../platform/lib/errors/failures.ts';
import { Closed, described, enumeration, namedSchema, time } from '../../platform/lib/schema.ts';

export interface Readiness {
  (): { readonly store: boolean; readonly sandbox: string; readonly problems: readonly Problem[] };
}

/** Problems that make the service unready (503), so that traffic should go elsewhere. All others are warnings. */
const blocking: ReadonlySet<ProblemKind> = new Set(['damage', 'read_only', 'key', 'files_moved', 'plugins']);

const LivenessResponse = namedSchema(
  'Liveness',
  Closed({ status: Type.Enum(['ok'], { description: 'Liveness of the process, always `ok`.' }) }),
);

const ProblemResponse = namedSchema(
  'Problem',
  Closed({
    kind: enumeration('ProblemKind', problemKinds, 'Type of the problem.'),
    since: described(time, 'Time at which the problem began.'),
    message: Type.String({ description: 'Explanation of the problem.' }),
  }),
);

const ReadinessResponse = namedSchema(
  'Readiness',
  Closed({
    status: enumeration(
      'ReadinessStatus',
      ['ready', 'degraded'],
      'Overall status; `degraded` while there is any problem.',
    ),
    store: Type.Boolean({ description: 'True if the database can be written.' }),
    sandbox: Type.String({
      description: 'State of the plugin sandbox: `unused`, `starting`, `ready` or `down`.',
    }),
    problems: Type.Array(ProblemResponse, { description: 'Current problems.' }),
  }),
);

export function healthRoutes(readiness: Readiness): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/healthz',
      name: 'health.live',
      summary: 'Check that the process responds',
      scope: null,
      limit: 'none',
      responses: { 200: LivenessResponse },
      raw: () => ({ contentType: 'application/json', body: '{"status":"ok"}' }),
    }),
    defineRoute({
      method: 'GET',
      path: '/readyz',
      name: 'health.ready',
      summary: 'Get readiness and current problems; 503 if requests should go elsewhere',
      scope: null,
      limit: 'none',
      responses: { 200: ReadinessResponse, 503: ReadinessResponse },
      raw: () => {
        const { problems, ...state } = readiness();
        const listed = problems.map(({ kind, sinceMs, message }) => ({
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
            problems: listed,
          }),
        };
      },
    }),
  ];
}
