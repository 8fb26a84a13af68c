/**
 * Opens the socket of one outgoing request: to exactly the checked address, without another name lookup, and with TLS verified
 * against the name in the URL. Connections are pooled per address, port and TLS name, so a reused one leads only to an address that
 * the request was allowed to connect to.
 */
import net from 'node:net';
import tls from 'node:tls';
import ipaddr from 'ipaddr.js';
import { EgressConnection } from './connection.ts';
import { createIdle } from './idle.ts';
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
