// Prometheus metrics on a separate listener, so that only operators can reach them.
import { Registry } from 'prom-client';
import type { Traffic } from '../../http/app.ts';
import { errorForLog } from '../../lib/failures.ts';
import type { Log } from '../../lib/log.ts';
import { defineGauges, type Measured } from './gauges.ts';
import { watchLoopLag } from './loop-lag.ts';
import { countTraffic } from './traffic.ts';

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
