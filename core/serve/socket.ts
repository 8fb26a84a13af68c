// Binds the socket before the rest is built, because its port is needed to build it. It responds 503 until a handler is set.
// Connection lifetimes and shutdown: docs/decisions/0027.
import type { Config } from '../config.ts';
import type { ExemptConnection } from '../http/outflow.ts';
import { createPeerNames } from '../http/peer.ts';
import type { Log } from '../lib/log.ts';
import { createConnections, type Patience } from './connections.ts';
import { takeNoMore } from './listener.ts';

/** Timeout for receiving a request. Bun counts in steps of 4 s and does not restart the timeout per byte. */
const requestSeconds = 10;
/** Bun's own limit, above all limits of Tatami, so that oversized bodies get Tatami's error response. */
const socketBodyBytesMax = 24 * 1024 * 1024;
export interface Socket {
  readonly port: number;
  /** Base URL without a trailing slash. */
  readonly url: string;
  /** Passes requests to the handler from now on. */
  serve(handle: Handle): void;
  /** Keeps a request's connection open regardless of inactivity. */
  holdOpen(request: Request): ExemptConnection;
  /** Name of the peer, for rate limits of requests without a token. */
  peerOf(request: Request): string;
  /** Accepts no more connections, closes existing ones after their requests, and resolves when done. */
  drain(patience: Patience): Promise<void>;
  /** Closes the socket and aborts requests in flight. */
  close(): Promise<void>;
}

type Handle = (request: Request) => Response | Promise<Response>;

/** @throws Error with the system's `code` if the address cannot be bound */
export function listen(
  { host, port: wanted, trustedProxy, keepAliveSeconds, files }: Config,
  log: Log,
): Socket {
  const peerName = createPeerNames(trustedProxy, (address) =>
    log('warn', 'requests with X-Forwarded-For come from an untrusted peer', {
      peer: address,
      fix: `Add --trusted-proxy ${address}/${address.includes(':') ? 128 : 32} if it is your proxy; until then, all anonymous clients behind it share one rate limit.`,
    }),
  );
  let handle: Handle = () => new Response(null, { status: 503 });
  const connections = createConnections(keepAliveSeconds);
  const server: Bun.Server<undefined> = Bun.serve({
    port: wanted,
    hostname: host,
    reusePort: false,
    idleTimeout: requestSeconds,
    maxRequestBodySize: Math.max(socketBodyBytesMax, 2 * files.fileBytesMax),
    fetch: (request) => {
      const answer = handle(request);
      return answer instanceof Promise
        ? answer.then((response) => connections.answer(server, request, response))
        : connections.answer(server, request, answer);
    },
  });
  const port = server.port ?? wanted;
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    serve: (to) => void (handle = to),
    holdOpen: (request) => connections.hold(server, request),
    peerOf: (request) =>
      peerName(server.requestIP(request)?.address ?? 'local', request.headers.get('x-forwarded-for')),
    async drain(patience) {
      connections.closeAnswered();
      if (patience.quietMs > 0) {
        takeNoMore(port);
        await connections.grownQuiet(server, patience);
      }
      await server.stop();
    },
    close: () => server.stop(true),
  };
}
