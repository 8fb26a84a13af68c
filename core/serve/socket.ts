// The socket: taken before anything is built on it, because its port is part of what is built. Until there is something to hand
// requests to, it answers 503.
import type { Config } from '../config.ts';
import { peerName } from '../http/peer.ts';

/** Idle or dripping connections are closed after this long. */
const idleTimeoutSeconds = 10;
/** A connection that is hung up on is closed after this long, although its peer takes nothing. */
const hangUpSeconds = 1;
/** Bun's own cap, above every cap of ours, so that oversized bodies get our answer and not its bare one. */
const socketBodyBytesMax = 24 * 1024 * 1024;

export interface Socket {
  readonly port: number;
  /** Without a trailing slash. */
  readonly url: string;
  /** Hands requests on from now on. */
  serve(handle: (request: Request) => Response | Promise<Response>): void;
  /** Holds a request's connection open however long it is silent; the answer closes it. */
  holdOpen(request: Request): () => void;
  /** The name of whoever is at the other end, for buckets of requests without a token. */
  peerOf(request: Request): string;
  /** Takes no more connections, and waits for the answers under way. */
  drain(): Promise<void>;
  /** Closes the socket and breaks off what is under way. */
  close(): Promise<void>;
}

/** @throws Error with the system's `code` where the address cannot be listened on */
export function listen({ host, port: wanted, trustedProxy }: Config): Socket {
  let handle: (request: Request) => Response | Promise<Response> = () => new Response(null, { status: 503 });
  const server: Bun.Server<undefined> = Bun.serve({
    port: wanted,
    hostname: host,
    reusePort: false,
    idleTimeout: idleTimeoutSeconds,
    maxRequestBodySize: socketBodyBytesMax,
    fetch: (request) => handle(request),
  });
  const port = server.port ?? wanted;
  return {
    port,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}`,
    serve: (to) => void (handle = to),
    holdOpen(request) {
      server.timeout(request, 0);
      return () => server.timeout(request, hangUpSeconds);
    },
    peerOf: (request) =>
      peerName(
        server.requestIP(request)?.address ?? 'local',
        request.headers.get('x-forwarded-for'),
        trustedProxy,
      ),
    drain: () => server.stop(),
    close: () => server.stop(true),
  };
}
