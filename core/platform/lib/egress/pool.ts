/**
 * Connections of outgoing requests: to exactly the checked address, without another name lookup, and with TLS verified against the
 * name in the URL. They are pooled per address, port and TLS name, so a reused one leads only to an address that the request was
 * allowed to connect to. Idle ones are limited in time, per key and in total.
 */
import net from 'node:net';
import tls from 'node:tls';
import ipaddr from 'ipaddr.js';
import { EgressConnection } from './connection.ts';
import type { Target } from './target.ts';

/** Opens a TCP connection to a literal address. */
export type Connect = (address: string, port: number) => net.Socket;

export interface Pool {
  /** Returns an idle or new connection, which returns itself to the pool after a complete response. */
  take: (target: Target, address: string) => EgressConnection;
  /** Closes all connections and fails pending requests. */
  close: () => void;
}

export function createPool(options: { connect: Connect; extraRoots: readonly string[] }): Pool {
  const secureOptions: tls.ConnectionOptions = {
    // Set explicitly, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment changes the default.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    ...(options.extraRoots.length === 0 ? {} : { ca: [...tls.rootCertificates, ...options.extraRoots] }),
  };
  /** Connections in use, and idle ones. */
  const open = new Set<EgressConnection>();
  const idle = createIdle<EgressConnection>();

  const dial = (target: Target, address: string): net.Socket => {
    const socket = options.connect(address, target.port);
    if (!target.secure) return socket;
    // A literal address must not be sent as TLS server name (RFC 6066 §3); the certificate is then checked for the address.
    const servername = target.isLiteral ? '' : target.host;
    return tls.connect({ ...secureOptions, host: address, port: target.port, servername, socket });
  };

  return {
    take: (target, address) => {
      const key = `${target.secure ? target.host : ''} ${address} ${target.port}`;
      const known = idle.take(key);
      if (known) return known;
      const created = new EgressConnection(
        dial(target, address),
        target.secure ? 'secureConnect' : 'connect',
        {
          idle: (connection) => idle.add(key, connection),
          gone: (connection) => {
            open.delete(connection);
            idle.remove(key, connection);
          },
        },
      );
      open.add(created);
      return created;
    },
    close: () => {
      idle.stop();
      for (const connection of [...open]) connection.abort();
    },
  };
}

/** Connects and then verifies the remote address of the socket, so that a platform change cannot silently bypass the check. */
export function connectChecked(address: string, port: number): net.Socket {
  const socket = net.connect({ host: address, port });
  socket.once('connect', () => {
    const remote = socket.remoteAddress ?? '';
    if (ipaddr.isValid(remote) && ipaddr.parse(remote).toString() === address) return;
    socket.destroy(new Error(`connected to ${remote} instead of ${address}`));
  });
  return socket;
}

export interface Resting {
  idleSinceMs: number;
  /** Closes the connection; the owner then calls `remove`. */
  destroy(): void;
}

/** Idle connections by key. When the pool is full, the connection that has been idle longest is closed. */
interface Idle<C extends Resting> {
  /** Takes the newest connection of a key, so that surplus ones expire. */
  take(key: string): C | undefined;
  add(key: string, connection: C): void;
  /** Must be called when a connection has closed, idle or not. */
  remove(key: string, connection: C): void;
  /** Stops the sweep for expired connections. */
  stop(): void;
}

/** Below the idle timeout of common servers (gunicorn 2 s, Node 5 s), so that writes rarely hit a connection just closed. */
const IDLE_TIMEOUT_MS = 1_000;
/** Large, because many endpoints may share one host. */
export const IDLE_PER_KEY_MAX = 256;
/** Bounds file descriptors: with one request per host, every connection stays idle until it expires. */
export const IDLE_MAX = 1_024;

export function createIdle<C extends Resting>(): Idle<C> {
  /** Idle connections in the order in which they became idle. */
  const all = new Set<C>();
  /** Idle connections by key, newest last. */
  const byKey = new Map<string, C[]>();
  let sweep: NodeJS.Timeout | null = null;

  const sweepSoon = (): void => {
    if (sweep) return;
    sweep = setTimeout(() => {
      sweep = null;
      const agedMs = performance.now() - IDLE_TIMEOUT_MS;
      for (const connection of all) {
        if (connection.idleSinceMs > agedMs) break;
        connection.destroy();
      }
      if (all.size > 0) sweepSoon();
    }, IDLE_TIMEOUT_MS / 2);
    sweep.unref();
  };

  const remove = (key: string, connection: C): void => {
    if (!all.delete(connection)) return;
    const ofKey = byKey.get(key) ?? [];
    ofKey.splice(ofKey.lastIndexOf(connection), 1);
    if (ofKey.length === 0) byKey.delete(key);
  };

  return {
    take(key) {
      const known = byKey.get(key)?.at(-1);
      if (!known) return undefined;
      remove(key, known);
      if (known.idleSinceMs > performance.now() - IDLE_TIMEOUT_MS) return known;
      known.destroy();
      return undefined;
    },
    add(key, connection) {
      const ofKey = byKey.get(key) ?? [];
      if (ofKey.length >= IDLE_PER_KEY_MAX) return connection.destroy();
      const [oldest] = all;
      if (oldest && all.size >= IDLE_MAX) oldest.destroy();
      connection.idleSinceMs = performance.now();
      ofKey.push(connection);
      byKey.set(key, ofKey);
      all.add(connection);
      sweepSoon();
    },
    remove,
    stop() {
      if (sweep) clearTimeout(sweep);
      sweep = null;
    },
  };
}
