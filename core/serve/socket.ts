// The socket: taken before anything is built on it, because its port is part of what is built. Until there is something to hand
// requests to, it answers 503. How long its connections live, and how it is closed: docs/decisions/0027.
import type { Config } from '../config.ts';
import type { Held } from '../http/outflow.ts';
import { createPeerNames } from '../http/peer.ts';
import type { Log } from '../lib/log.ts';
import { createConnections, type Patience } from './connections.ts';
import { takeNoMore } from './listener.ts';

/** A request has to be there within this time. Bun counts in steps of 4 s, and not anew for each byte. */
const requestSeconds = 10;
/** Bun's own cap, above every cap of ours, so that oversized bodies get our answer and not its bare one. */
const socketBodyBytesMax = 24 * 1024 * 1024;
export interface Socket {
  readonly port: number;
  /** Without a trailing slash. */
  readonly url: string;
  /** Hands requests on from now on. */
  serve(handle: Handle): void;
  /** Holds a request's connection open however long it is silent. */
  holdOpen(request: Request): Held;
  /** The name of whoever is at the other end, for buckets of requests without a token. */
  peerOf(request: Request): string;
  /** Takes no more connections, closes those there are after what they were asked, and resolves once that is done. */
  drain(patience: Patience): Promise<void>;
  /** Closes the socket and breaks off what is under way. */
  close(): Promise<void>;
}

type Handle = (request: Request) => Response | Promise<Response>;

/** @throws Error with the system's `code` where the address cannot be listened on */
export function listen(
  { host, port: wanted, trustedProxy, keepAliveSeconds, files }: Config,
  log: Log,
): Socket {
  const peerName = createPeerNames(trustedProxy, (address) =>
    log('warn', 'requests carry X-Forwarded-For of a peer that is not trusted', {
      peer: address,
      fix: `Add --trusted-proxy ${address}/${address.includes(':') ? 128 : 32} if it is your proxy: until then all strangers behind it count as one.`,
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
