/**
 * Opens the socket of one outgoing request: to exactly the address that was checked, with no name look-up in between, and TLS
 * verified against the name in the URL. Connections are pooled per (address, port, TLS name), so a reused one can
 * only lead to an address that the request at hand was allowed to dial.
 */
import net from 'node:net';
import tls from 'node:tls';
import ipaddr from 'ipaddr.js';
import { Connection } from './connection.ts';
import type { Target } from './target.ts';

/** Opens a TCP connection to a literal address. */
export type Connect = (address: string, port: number) => net.Socket;

export interface Pool {
  /** An idle connection, or a new one; its user gives it back by seeing its answer through. */
  take: (target: Target, address: string) => Connection;
  /** Ends all connections, idle or not. */
  close: () => void;
}

/** Below the idle timeout of common servers (gunicorn 2 s, Node 5 s), so that we rarely write into a connection just closed. */
const IDLE_TIMEOUT_MS = 1_000;
/** Many endpoints may share one host; idle connections live for a second only. */
const IDLE_SOCKETS_PER_ADDRESS_MAX = 256;

export function createPool(options: { connect: Connect; extraRoots: readonly string[] }): Pool {
  const secureOptions: tls.ConnectionOptions = {
    // Said outright, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise switch verification off.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    ...(options.extraRoots.length === 0 ? {} : { ca: [...tls.rootCertificates, ...options.extraRoots] }),
  };
  const open = new Set<Connection>();
  /** Newest last: the newest is reused first, so that those too many grow old. */
  const idle = new Map<string, Connection[]>();
  let sweep: NodeJS.Timeout | null = null;

  const dial = (target: Target, address: string): net.Socket => {
    const socket = options.connect(address, target.port);
    if (!target.secure) return socket;
    // A literal address is no TLS server name (RFC 6066 §3); it is then verified as an address.
    const servername = target.isLiteral ? '' : target.host;
    return tls.connect({ ...secureOptions, host: address, port: target.port, servername, socket });
  };

  const sweepSoon = (): void => {
    if (sweep) return;
    sweep = setTimeout(() => {
      sweep = null;
      const agedMs = performance.now() - IDLE_TIMEOUT_MS;
      for (const connections of idle.values())
        while (connections[0] && connections[0].idleSinceMs <= agedMs) connections[0].destroy();
      if (idle.size > 0) sweepSoon();
    }, IDLE_TIMEOUT_MS / 2);
    sweep.unref();
  };

  const unlist = (key: string, connection: Connection): void => {
    const connections = idle.get(key);
    const at = connections?.lastIndexOf(connection) ?? -1;
    if (at >= 0) connections?.splice(at, 1);
    if (connections?.length === 0) idle.delete(key);
  };

  const keep = (key: string, connection: Connection): void => {
    const connections = idle.get(key) ?? [];
    if (connections.length >= IDLE_SOCKETS_PER_ADDRESS_MAX) return connection.destroy();
    connection.idleSinceMs = performance.now();
    connections.push(connection);
    idle.set(key, connections);
    sweepSoon();
  };

  return {
    take: (target, address) => {
      const key = `${target.secure ? target.host : ''} ${address} ${target.port}`;
      const known = idle.get(key)?.at(-1);
      if (known) unlist(key, known);
      if (known && known.idleSinceMs > performance.now() - IDLE_TIMEOUT_MS) return known;
      known?.destroy();
      const made = new Connection(dial(target, address), target.secure ? 'secureConnect' : 'connect', {
        idle: (connection) => keep(key, connection),
        gone: (connection) => {
          open.delete(connection);
          unlist(key, connection);
        },
      });
      open.add(made);
      return made;
    },
    close: () => {
      if (sweep) clearTimeout(sweep);
      sweep = null;
      for (const connection of [...open]) connection.abort();
    },
  };
}

/** Connects and then asks the socket where it really ended up, so that a platform change cannot silently undo the check. */
export function connectChecked(address: string, port: number): net.Socket {
  const socket = net.connect({ host: address, port });
  socket.once('connect', () => {
    const remote = socket.remoteAddress ?? '';
    if (ipaddr.isValid(remote) && ipaddr.parse(remote).toString() === address) return;
    socket.destroy(new Error(`connected to ${remote} instead of ${address}`));
  });
  return socket;
}
