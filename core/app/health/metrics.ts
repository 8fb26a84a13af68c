// Prometheus metrics on a separate listener, so that only operators can reach them. Gauges are computed at
// each scrape. No label identifies a workspace, an object or an address.
import { readdirSync } from 'node:fs';
import { Counter, Gauge, Registry } from 'prom-client';
import type { Progress } from '../../kernel/events/consumers/consumer-positions.ts';
import { problemKinds, type Problems, errorForLog } from '../../platform/lib/errors/failures.ts';
import type { OutcomeCounter } from '../../platform/lib/outcome-counter.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import type { Store } from '../../platform/store/store.ts';
import { databaseBytes, diskSpaceOf } from './watch.ts';
import type { Metric, LabelledValues } from '../../kernel/feature.ts';
import type { Traffic } from '../../kernel/http/app.ts';
import type { Log } from '../../platform/lib/log.ts';

export interface Metrics {
  readonly url: string;
  readonly traffic: Traffic;
  stop(): Promise<void>;
}

export interface MetricsOptions extends Measured {
  readonly host: string;
  readonly port: number;
  readonly log: Log;
}

/** @throws Error if the address cannot be used */
export function serveMetrics(options: MetricsOptions): Metrics {
  const { host, port, log } = options;
  const registry = new Registry();
  const lag = watchLoopLag();
  const { traffic, text } = countTraffic();
  defineGauges(registry, options, lag);
  const server = listenOn(host, port, async (request) => {
    if (new URL(request.url).pathname !== '/metrics') return new Response('See /metrics.\n', { status: 404 });
    try {
      return new Response(`${await registry.metrics()}\n${text()}\n`, {
        headers: { 'content-type': registry.contentType },
      });
    } catch (error) {
      log('error', 'the metrics could not be read', { error: errorForLog(error) });
      return new Response(null, { status: 500 });
    }
  });
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${server.port}/metrics`,
    traffic,
    stop() {
      lag.stop();
      return server.stop(true);
    },
  };
}

/**
 * Upper limit of the count, so that counting a long backlog costs the event loop no more than a short one.
 */
const countedMax = 20_000;

const openWork = systemStatement<{ waiting: number }>(
  'metrics.open_work',
  'the metrics report the pending work of all workspaces',
  `SELECT count(*) AS waiting FROM (SELECT 1 FROM due_work WHERE kind = :kind AND lease_owner IS NULL AND due_at < 8640000000000000 LIMIT ${countedMax})`,
);
const workTypes = ['run', 'delivery', 'schedule', 'catch-up', 'replay', 'once'] as const;

interface Measured {
  readonly store: Store;
  readonly problems: Problems;
  readonly outcomeCounter: OutcomeCounter;
  /** Metrics of features. */
  readonly metrics: readonly Metric[];
  readonly dataDir: string;
  readonly version: string;
  nowMs(): number;
  progress(): readonly Progress[];
  sandboxState(): string;
}

function defineGauges(registry: Registry, measured: Measured, lag: LoopLag): void {
  const gauge = gauges(registry);
  gauge('tatami_info', 'Version of the server.', 'version', () => [[measured.version, 1]]);
  defineWork(registry, measured);
  defineState(registry, measured);
  for (const { type, name, help, label, read } of measured.metrics)
    (type === 'gauge' ? gauge : counters(registry))(name, help, label, () => read(measured));
  gauge(
    'tatami_event_loop_lag_seconds',
    'Longest delay of the event loop since the last scrape.',
    null,
    () => [['', lag.longestMs() / 1_000]],
  );
  gauge('process_resident_memory_bytes', 'Resident memory of the process.', null, () => [
    ['', process.memoryUsage.rss()],
  ]);
  gauge('process_open_fds', 'Open file descriptors.', null, () => [['', openFiles()]]);
  gauge('process_start_time_seconds', 'Start time of the process since the epoch.', null, () => [
    ['', Math.floor(measured.nowMs() / 1_000 - process.uptime())],
  ]);
}

/** Defines metrics of background work. */
function defineWork(registry: Registry, { store, progress }: Measured): void {
  const gauge = gauges(registry);
  const counter = counters(registry);
  counter('tatami_store_batches_total', 'Batches committed.', null, () => [['', store.counts().batches]]);
  counter('tatami_store_groups_total', 'Groups of batches committed, each with one sync.', null, () => [
    ['', store.counts().groups],
  ]);
  gauge(
    'tatami_consumer_events_behind',
    'Events that the consumer has not processed or queued yet.',
    'consumer',
    () => progress().map(({ consumer, behind }) => [consumer, behind]),
  );
  gauge(
    'tatami_consumer_stalled_seconds',
    'Time since the last progress of a consumer with pending events.',
    'consumer',
    () => progress().map(({ consumer, stalledMs }) => [consumer, stalledMs / 1_000]),
  );
  gauge(
    'tatami_work_waiting',
    `Queued jobs that are not due or wait for a worker; at most ${countedMax}.`,
    'kind',
    () =>
      Promise.all(
        workTypes.map(
          async (kind) => [kind, (await store.readSystem(openWork, { kind }))[0]?.waiting ?? 0] as const,
        ),
      ),
  );
}

/** Defines metrics of disk, sandbox and problems. */
function defineState(registry: Registry, { problems, dataDir, nowMs, sandboxState }: Measured): void {
  const gauge = gauges(registry);
  gauge('tatami_database_bytes', 'Size of the database files.', 'file', () => {
    const { database, log } = databaseBytes(dataDir);
    return [
      ['database', database],
      ['log', log],
    ];
  });
  gauge('tatami_disk_free_bytes', 'Free space on the disk of the data directory.', null, () => [
    ['', diskSpaceOf(dataDir).free],
  ]);
  gauge('tatami_disk_total_bytes', 'Size of the disk of the data directory.', null, () => [
    ['', diskSpaceOf(dataDir).total],
  ]);
  gauge('tatami_sandbox_state', '1 for the current state of the plugin sandbox.', 'state', () =>
    ['unused', 'starting', 'ready', 'down'].map((state) => [state, sandboxState() === state ? 1 : 0]),
  );
  const ages = (): ReadonlyMap<string, number> =>
    new Map(problems.list().map(({ kind, sinceMs }) => [kind, Math.max(0, nowMs() - sinceMs) / 1_000]));
  gauge('tatami_problem', '1 while there is a problem of this type.', 'kind', () => {
    const raised = ages();
    return problemKinds.map((kind) => [kind, raised.has(kind) ? 1 : 0]);
  });
  gauge('tatami_problem_seconds', 'Age of the problem of this type; 0 if there is none.', 'kind', () => {
    const raised = ages();
    return problemKinds.map((kind) => [kind, raised.get(kind) ?? 0]);
  });
}

/** @param label null for a single value, whose label is ignored */
type Define = (
  name: string,
  help: string,
  label: string | null,
  read: () => LabelledValues | Promise<LabelledValues>,
) => void;

function gauges(registry: Registry): Define {
  return (name, help, label, read) => {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: label === null ? [] : [label],
      registers: [registry],
      async collect() {
        gauge.reset();
        for (const [value, number] of await read())
          if (label === null) gauge.set(number);
          else gauge.set({ [label]: value }, number);
      },
    });
  };
}

function counters(registry: Registry): Define {
  return (name, help, label, read) => {
    const counter: Counter = new Counter({
      name,
      help,
      labelNames: label === null ? [] : [label],
      registers: [registry],
      async collect() {
        counter.reset();
        for (const [value, number] of await read())
          if (label === null) counter.inc(number);
          else counter.inc({ [label]: value }, number);
      },
    });
  };
}

/** Returns the number of open files; 0 if the system does not report it. */
function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}

const boundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500];

interface RouteTraffic {
  /** Prometheus labels `method` and `route`. */
  readonly labels: string;
  readonly byStatus: Map<number, number>;
  /** Number of requests per duration bucket; the last bucket counts those above all bounds. */
  readonly took: number[];
  tookMs: number;
}

interface CountedTraffic {
  readonly traffic: Traffic;
  /** Returns Prometheus text format, without the final newline. */
  text(): string;
}

/**
 * Counts HTTP requests and their durations by route and status. A route is identified by its pattern, never by the ids
 * in a path. Uses plain counters that are rendered at each scrape, because the library takes 4 µs per request, a sixth
 * of the cheapest request.
 */
function countTraffic(): CountedTraffic {
  const routes: RouteTraffic[] = [];
  return {
    traffic(method, route) {
      const counted: RouteTraffic = {
        labels: `method="${method}",route="${route}"`,
        byStatus: new Map(),
        took: boundsMs.map(() => 0).concat(0),
        tookMs: 0,
      };
      routes.push(counted);
      const { byStatus, took } = counted;
      return (status, ms) => {
        byStatus.set(status, (byStatus.get(status) ?? 0) + 1);
        let bucket = 0;
        while (bucket < boundsMs.length && ms > boundsMs[bucket]!) bucket++;
        took[bucket]!++;
        counted.tookMs += ms;
      };
    },
    text() {
      const used = routes.filter(({ byStatus }) => byStatus.size > 0);
      return [
        '# HELP tatami_http_requests_total HTTP requests with a response.',
        '# TYPE tatami_http_requests_total counter',
        ...used.flatMap(requestLines),
        '# HELP tatami_http_request_duration_seconds Time from the request to its response; for a stream, to its start.',
        '# TYPE tatami_http_request_duration_seconds histogram',
        ...used.flatMap(durationLines),
      ].join('\n');
    },
  };
}

function requestLines({ labels, byStatus }: RouteTraffic): string[] {
  return [...byStatus].map(
    ([status, requests]) => `tatami_http_requests_total{${labels},status="${status}"} ${requests}`,
  );
}

function durationLines({ labels, took, tookMs }: RouteTraffic): string[] {
  const name = 'tatami_http_request_duration_seconds';
  let requests = 0;
  const buckets = took.map((count, index) => {
    const bound = boundsMs[index];
    requests += count;
    return `${name}_bucket{le="${bound === undefined ? '+Inf' : bound / 1_000}",${labels}} ${requests}`;
  });
  return [...buckets, `${name}_sum{${labels}} ${tookMs / 1_000}`, `${name}_count{${labels}} ${requests}`];
}

function listenOn(
  hostname: string,
  port: number,
  answer: (request: Request) => Promise<Response>,
): Bun.Server<undefined> {
  try {
    return Bun.serve({ hostname, port, reusePort: false, fetch: (request) => answer(request) });
  } catch (cause) {
    throw new Error(
      `Metrics cannot be served on ${hostname} port ${port}. Choose another address with --metrics-host and --metrics-port.`,
      { cause },
    );
  }
}

const lagCheckEveryMs = 500;

export interface LoopLag {
  /** Returns the longest delay since the last call (milliseconds). */
  longestMs(): number;
  stop(): void;
}

export function watchLoopLag(): LoopLag {
  let dueMs = performance.now() + lagCheckEveryMs;
  let longest = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longest = Math.max(longest, nowMs - dueMs);
    dueMs = nowMs + lagCheckEveryMs;
  }, lagCheckEveryMs);
  timer.unref();
  return {
    longestMs() {
      const reported = longest;
      longest = 0;
      return reported;
    },
    stop: () => clearInterval(timer),
  };
}
