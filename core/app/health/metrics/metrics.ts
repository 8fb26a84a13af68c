// Prometheus metrics on a separate listener, so that only operators can reach them.
import { Registry } from 'prom-client';
import type { Traffic } from '../../../kernel/http/app.ts';
import { errorForLog } from '../../../platform/lib/errors/failures.ts';
import type { Log } from '../../../platform/lib/log.ts';
import { defineGauges, type Measured } from './gauges.ts';

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

// Counts HTTP requests and their durations by route and status. A route is identified by its pattern, never by the ids in a path. Uses
// plain counters that are rendered at each scrape, because the library takes 4 µs per request, a sixth of the cheapest request.

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
