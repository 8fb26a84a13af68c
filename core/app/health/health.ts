// Health for operators: readiness, the watch that updates it, alerts, and optional metrics.
import type { Config } from '../config/config.ts';
import type { Progress } from '../../kernel/events/consumers/consumer-positions.ts';
import type { Traffic } from '../../kernel/http/app.ts';
import { type Route, defineRoute } from '../../kernel/http/route.ts';
import type { WorkerDeps } from '../../kernel/feature.ts';
import { createAlerts } from './alerts.ts';
import { createHealthWatch } from './watch.ts';
import { features } from '../features.ts';
import { Type } from 'typebox';
import { isoTime } from '../../kernel/changes/operations.ts';
import { problemKinds, type Problem, type ProblemKind } from '../../platform/lib/errors/failures.ts';
import { Closed, described, enumeration, namedSchema, time } from '../../platform/lib/schema.ts';

export interface Health {
  readonly routes: readonly Route[];
  /** Null if metrics are off. */
  readonly traffic: Traffic | null;
  /** Null if metrics are off. */
  readonly metricsUrl: string | null;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface HealthOptions extends WorkerDeps {
  readonly config: Config;
  readonly version: string;
  progress(): readonly Progress[];
  sandboxState(): string;
}

/** @throws Error if the metrics listener cannot be opened */
export async function createHealth(options: HealthOptions): Promise<Health> {
  const { config, services, version, progress, sandboxState } = options;
  const { store, log, problems } = services;
  const { dataDir, diskReserveMb, metrics: listen } = config;
  const metrics = features.flatMap((feature) => feature.metrics ?? []);
  const measured = { ...services, metrics, dataDir, version, progress, sandboxState };
  problems.onChange((kind, problem) => {
    if (problem) log('warn', 'a problem was raised', { kind, message: problem.message });
    else log('info', 'a problem was resolved', { kind });
  });
  const { clock } = options;
  const alerts = createAlerts(options);
  const watch = createHealthWatch({ ...measured, clock, diskReserveMb });
  // Loads the metrics library only if metrics are on.
  const served = listen && (await import('./metrics.ts')).serveMetrics({ ...measured, ...listen });
  return {
    routes: healthRoutes(() => {
      watch.look();
      return { store: store.status().writable, sandbox: sandboxState(), problems: problems.list() };
    }),
    traffic: served?.traffic ?? null,
    metricsUrl: served?.url ?? null,
    async start() {
      watch.start();
      await alerts.start();
    },
    async stop() {
      watch.stop();
      await alerts.stop();
      await served?.stop();
    },
  };
}

type Readiness = () => {
  readonly store: boolean;
  readonly sandbox: string;
  readonly problems: readonly Problem[];
};

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

/**
 * Liveness and readiness for supervisors and load balancers. They are public and reveal nothing about stored data.
 */
function healthRoutes(readiness: Readiness): Route[] {
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
