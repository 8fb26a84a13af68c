/**
 * Opens the socket of one outgoing request: to exactly the address that was checked, with no name look-up in between, and TLS
 * verified against the name in the URL. Connections are pooled per (address, port, TLS name), so a reused one can
 * only lead to an address that the request at hand was allowed to dial.
 */
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';
import ipaddr from 'ipaddr.js';

/** Opens a TCP connection to a literal address. */
export type Connect = (address: string, port: number) => net.Socket;

export interface Pool {
  agentFor: (secure: boolean) => http.Agent;
  close: () => void;
}

/** Below the idle timeout of common servers (gunicorn 2 s, Node 5 s), so that we rarely write into a connection just closed. */
const IDLE_TIMEOUT_MS = 1_000;
/** Many endpoints may share one host; idle connections live for a second only. */
const IDLE_SOCKETS_PER_ADDRESS_MAX = 64;

/** Node's own agents keep everything but the connecting; `host` in their options is the checked address. */
export function createPool(options: { connect: Connect; extraRoots: readonly string[] }): Pool {
  const agentOptions: http.AgentOptions = {
    keepAlive: true,
    maxFreeSockets: IDLE_SOCKETS_PER_ADDRESS_MAX,
    timeout: IDLE_TIMEOUT_MS,
  };

  class PlainAgent extends http.Agent {
    override createConnection(to: http.ClientRequestArgs): net.Socket {
      return options.connect(String(to.host), Number(to.port));
    }
  }

  class SecureAgent extends https.Agent {
    override createConnection(to: https.RequestOptions): net.Socket {
      const socket = options.connect(String(to.host), Number(to.port));
      return tls.connect({ ...(to as tls.ConnectionOptions), socket });
    }
  }

  const plain = new PlainAgent(agentOptions);
  const secure = new SecureAgent({
    ...agentOptions,
    // Said outright, because NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment would otherwise switch verification off.
    rejectUnauthorized: true,
    minVersion: 'TLSv1.2',
    ...(options.extraRoots.length === 0 ? {} : { ca: [...tls.rootCertificates, ...options.extraRoots] }),
  });
  return {
    agentFor: (isSecure) => (isSecure ? secure : plain),
    close: () => {
      plain.destroy();
      secure.destroy();
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
