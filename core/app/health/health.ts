// Health for operators: readiness, the watch that updates it, alerts, and optional metrics.
import type { Committer } from '../../kernel/changes/commit.ts';
import type { Config } from '../config/config.ts';
import type { Directory, Services } from '../../kernel/context.ts';
import type { Progress } from '../../kernel/events/consumers/consumer-positions.ts';
import type { Traffic } from '../../kernel/http/app.ts';
import type { Route } from '../../kernel/http/route.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { createAlerts } from './alerts.ts';
import { healthRoutes } from './readiness.ts';
import { createHealthWatch } from './watch.ts';
import type { Scope } from '../../platform/store/store.ts';
import { features } from '../features.ts';

export interface Health {
  readonly routes: readonly Route[];
  /** Null if metrics are off. */
  readonly traffic: Traffic | null;
  /** Null if metrics are off. */
  readonly metricsUrl: string | null;
  start(): Promise<void>;
  stop(): Promise<void>;
}

interface HealthOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly services: Services;
  readonly committer: Committer;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
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
  const { clock, committer, directoryOf } = options;
  const alerts = createAlerts({ ...services, clock, committer, directoryOf });
  const watch = createHealthWatch({ ...measured, clock: options.clock, diskReserveMb });
  // Loads the metrics library only if metrics are on.
  const served = listen && (await import('./metrics/metrics.ts')).serveMetrics({ ...measured, ...listen });
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
