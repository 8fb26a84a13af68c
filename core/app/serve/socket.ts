// Binds the socket before the rest is built, because its port is needed to build it. It responds 503 until a handler is set.
// Connection lifetimes and shutdown: docs/decisions/0027.
import type { Config } from '../config/config.ts';
import type { ExemptConnection } from '../../kernel/http/response/outflow.ts';
import { createPeerNames } from '../../kernel/http/request/request.ts';
import type { Log } from '../../platform/lib/log.ts';
import { takeNoMore } from './listener.ts';
import { announcesBody } from '../../kernel/http/request/body.ts';

/** Timeout for receiving a request. Bun counts in steps of 4 s and does not restart the timeout per byte. */
const requestSeconds = 10;
/** Bun's own limit, above all limits of Tatami, so that oversized bodies get Tatami's error response. */
const socketBodyBytesMax = 24 * 1024 * 1024;

// Decides after each response whether its connection stays open for the next request. docs/decisions/0027.

/** Timeout after which a dropped connection is closed even if its peer reads nothing. */
const hangUpSeconds = 1;
/** Interval of the check for idle connections. */
const lookMs = 20;

interface Patience {
  /** Connections are closed once no request has arrived on any for this long; 0 does not wait. */
  readonly quietMs: number;
  /** Time after which connections are closed unconditionally, once pending requests are answered. */
  readonly quietByMs: number;
}

type Server = Pick<Bun.Server<undefined>, 'timeout' | 'pendingRequests'>;

interface Connections {
  /** Sets the connection headers and timeouts with a response. */
  answer(server: Server, request: Request, response: Response): Response;
  /** Keeps a request's connection open regardless of inactivity. */
  hold(server: Server, request: Request): ExemptConnection;
  /** Closes every connection after its next response. */
  closeAnswered(): void;
  /** Resolves once no request is pending and none was answered for `quietMs`, or after `quietByMs`. */
  grownQuiet(server: Server, patience: Patience): Promise<void>;
}

/** @param idleSeconds keep-alive timeout of idle connections; 0 closes each after its response */
function createConnections(idleSeconds: number): Connections {
  const announced = new WeakSet<Request>();
  const keepAlive = `timeout=${idleSeconds}`;
  let closes = idleSeconds === 0;
  let answeredMs = 0;
  return {
    answer(server, request, response) {
      if (closes) {
        response.headers.set('connection', 'close');
        answeredMs = performance.now();
      } else if (announced.has(request)) {
        // An aborted upload closes its connection itself.
        if (response.headers.get('connection') !== 'close') response.headers.set('keep-alive', keepAlive);
      } else if (request.bodyUsed || !announcesBody(request)) {
        // The request timeout applies to a body that was not read, because part of it may still be in
        // transit.
        response.headers.set('keep-alive', keepAlive);
        // Applies until the next request on the connection, which starts the server's own timeout.
        server.timeout(request, idleSeconds);
      }
      return response;
    },
    hold(server, request) {
      announced.add(request);
      server.timeout(request, 0);
      return {
        letGo: () => server.timeout(request, idleSeconds),
        hangUp: () => server.timeout(request, hangUpSeconds),
      };
    },
    closeAnswered: () => void (closes = true),
    async grownQuiet(server, { quietMs, quietByMs }) {
      const byMs = performance.now() + quietByMs;
      answeredMs = performance.now();
      for (let nowMs = answeredMs; nowMs < byMs; nowMs = performance.now()) {
        if (server.pendingRequests === 0 && nowMs - answeredMs >= quietMs) return;
        await Bun.sleep(lookMs);
      }
    },
  };
}

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
