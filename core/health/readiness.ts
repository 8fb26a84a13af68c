// Liveness and readiness, for supervisors and load balancers. Public; they say nothing about what is stored.
import { Type } from 'typebox';
import { isoTime } from '../changes/operations.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { problemKinds, type Problem, type ProblemKind } from '../lib/problems.ts';
import { Closed, described, enumeration, named, time } from '../lib/schema.ts';

export interface Readiness {
  (): { readonly store: boolean; readonly sandbox: string; readonly problems: readonly Problem[] };
}

/** With one of these the service is not what it promises: whoever can send requests elsewhere should. The others are warnings. */
const blocking: ReadonlySet<ProblemKind> = new Set(['damage', 'read_only', 'key', 'files_moved', 'plugins']);

const LivenessShown = named(
  'Liveness',
  Closed({ status: Type.Enum(['ok'], { description: 'Says that the process answers.' }) }),
);

const ProblemShown = named(
  'Problem',
  Closed({
    kind: enumeration('ProblemKind', problemKinds, 'What is wrong.'),
    since: described(time, 'When it began.'),
    message: Type.String({ description: 'What is wrong, in words.' }),
  }),
);

const ReadinessShown = named(
  'Readiness',
  Closed({
    status: enumeration('ReadinessStatus', ['ready', 'degraded'], 'Whether anything is wrong.'),
    store: Type.Boolean({ description: 'The database can be written.' }),
    sandbox: Type.String({ description: 'How the sandbox of plugins is.' }),
    problems: Type.Array(ProblemShown, { description: 'What is wrong now.' }),
  }),
);

export function healthRoutes(readiness: Readiness): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/healthz',
      name: 'health.live',
      summary: 'The process answers',
      scope: null,
      limit: 'none',
      responses: { 200: LivenessShown },
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
      responses: { 200: ReadinessShown, 503: ReadinessShown },
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
