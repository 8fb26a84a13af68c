// Binds the socket before the rest is built, because its port is needed to build it. It responds 503 until
// a handler is set. Connection lifetimes and shutdown: docs/decisions/0027.
import { dlopen, FFIType, ptr } from 'bun:ffi';
import { readdirSync } from 'node:fs';
import type { Config } from '../config/config.ts';
import type { ExemptConnection } from '../../kernel/http/response/outflow.ts';
import { createPeerNames } from '../../kernel/http/request/request.ts';
import type { Log } from '../../platform/lib/log.ts';
import { announcesBody } from '../../kernel/http/request/body.ts';

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

const { i32, ptr: pointer } = FFIType;

/** Constants of socket(7) on x86-64 and arm64. */
const SOL_SOCKET = 1;
const SO_ATTACH_FILTER = 26;
const SO_ACCEPTCONN = 30;
const AF_UNIX = 1;

/** Byte 13 of the TCP header holds the flags; value 2 is SYN, which opens a connection (RFC 9293 §3.1). */
const flagsAt = 13;
const syn = 2;

/** Classic BPF program (Linux Documentation/networking/filter.rst): drops SYN packets and accepts all others. */
const dropsOpenings: readonly (readonly [code: number, yes: number, no: number, k: number])[] = [
  [0x30, 0, 0, flagsAt],
  [0x45, 0, 1, syn],
  [0x06, 0, 0, 0],
  [0x06, 0, 0, 0xffff_ffff],
];

/**
 * Stops accepting new TCP connections while established ones are still served. Closing the listener would reset
 * connections in the accept queue, and Bun also closes idle connections then, which would reset requests in transit on
 * them. This drops new connection attempts: the peer retries a second later and is refused if the listener is closed by then.
 * @returns false if unsupported, on another system or C library
 */
function takeNoMore(port: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const libc = openLibC();
    const fd = readdirSync('/proc/self/fd')
      .map(Number)
      .find((one) => listensOn(libc, one) === port);
    if (fd === undefined) return false;
    const program = programOf(dropsOpenings);
    const filter = new BigUint64Array([BigInt(dropsOpenings.length), BigInt(ptr(program))]);
    return libc.setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, filter, filter.byteLength) === 0;
  } catch {
    return false;
  }
}

function openLibC() {
  return dlopen('libc.so.6', {
    getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
    getsockname: { args: [i32, pointer, pointer], returns: i32 },
    setsockopt: { args: [i32, i32, i32, pointer, i32], returns: i32 },
  }).symbols;
}

/** Returns the port that a descriptor listens on; null for any other descriptor. */
function listensOn(libc: ReturnType<typeof openLibC>, fd: number): number | null {
  const listens = new Int32Array(1);
  if (libc.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, listens, new Uint32Array([4])) !== 0) return null;
  if (listens[0] !== 1) return null;
  const address = new Uint8Array(128);
  if (libc.getsockname(fd, address, new Uint32Array([address.length])) !== 0) return null;
  const view = new DataView(address.buffer);
  if (view.getUint16(0, true) === AF_UNIX) return null;
  // The port follows the family in both IPv4 and IPv6 addresses, in network byte order.
  return view.getUint16(2);
}

function programOf(steps: typeof dropsOpenings): Uint8Array {
  const program = new DataView(new ArrayBuffer(steps.length * 8));
  for (const [index, [code, yes, no, k]] of steps.entries()) {
    program.setUint16(index * 8, code, true);
    program.setUint8(index * 8 + 2, yes);
    program.setUint8(index * 8 + 3, no);
    program.setUint32(index * 8 + 4, k, true);
  }
  return new Uint8Array(program.buffer);
}
