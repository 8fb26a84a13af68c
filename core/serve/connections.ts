// Decides after each response whether its connection stays open for the next request. docs/decisions/0027.
import { announcesBody } from '../http/body.ts';
import type { ExemptConnection } from '../http/outflow.ts';

/** Timeout after which a dropped connection is closed even if its peer reads nothing. */
const hangUpSeconds = 1;
/** Interval of the check for idle connections. */
const lookMs = 20;

export interface Patience {
  /** Connections are closed once no request has arrived on any for this long; 0 does not wait. */
  readonly quietMs: number;
  /** Time after which connections are closed unconditionally, once pending requests are answered. */
  readonly quietByMs: number;
}

type Server = Pick<Bun.Server<undefined>, 'timeout' | 'pendingRequests'>;

export interface Connections {
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
export function createConnections(idleSeconds: number): Connections {
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
