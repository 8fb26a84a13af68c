// What becomes of a connection once a request on it has been answered: it is kept for the next one, as long as the setting says, or
// the answer says that it closes. docs/decisions/0027.
import { announcesBody } from '../http/body.ts';
import type { Held } from '../http/outflow.ts';

/** A connection that is hung up on is closed after this long, although its peer takes nothing. */
const hangUpSeconds = 1;
/** How often it is looked whether connections have grown quiet. */
const lookMs = 20;

export interface Patience {
  /** Connections are closed once nothing has been asked on any for so long. 0 waits for nobody. */
  readonly quietMs: number;
  /** After so long they are closed in any case, as soon as what is under way on them has been answered. */
  readonly quietByMs: number;
}

type Server = Pick<Bun.Server<undefined>, 'timeout' | 'pendingRequests'>;

export interface Connections {
  /** Says with an answer what becomes of its connection. */
  answer(server: Server, request: Request, response: Response): Response;
  /** Keeps a request's connection open however long it is silent. */
  hold(server: Server, request: Request): Held;
  /** From now on every answer closes its connection. */
  closeAnswered(): void;
  /** Resolves once nothing is asked any more. */
  grownQuiet(server: Server, patience: Patience): Promise<void>;
}

/** @param idleSeconds how long an idle connection is kept; 0 closes each after its answer */
export function createConnections(idleSeconds: number): Connections {
  const held = new WeakSet<Request>();
  const keepAlive = `timeout=${idleSeconds}`;
  let closes = idleSeconds === 0;
  let answeredMs = 0;
  return {
    answer(server, request, response) {
      if (closes) {
        response.headers.set('connection', 'close');
        answeredMs = performance.now();
      } else if (held.has(request)) {
        // An upload that was cut off closes its connection by itself.
        if (response.headers.get('connection') !== 'close') response.headers.set('keep-alive', keepAlive);
      } else if (request.bodyUsed || !announcesBody(request)) {
        // Some of a body that nobody read may still be under way: that has to be there as soon as any other request.
        response.headers.set('keep-alive', keepAlive);
        // Holds until the next request on the connection, for which the server's own time begins.
        server.timeout(request, idleSeconds);
      }
      return response;
    },
    hold(server, request) {
      held.add(request);
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
