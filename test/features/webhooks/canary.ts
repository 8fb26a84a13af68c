/**
 * Listeners that no request may reach: one port on every local IPv4 and IPv6 address, so that any spelling of this
 * machine leads to a canary. A raw receiver beside them sends HTTP responses byte by byte.
 */
import net from 'node:net';

export interface Listener {
  port: number;
  /** Local addresses of the connections received, in order. */
  connections: string[];
  stop: () => Promise<void>;
}

/** Listens on `host`; `answer` gets every connection after its first bytes. */
export async function listen(
  host: string,
  answer: (socket: net.Socket, request: string) => void,
): Promise<Listener> {
  const connections: string[] = [];
  const open = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    connections.push(socket.localAddress ?? 'unknown');
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {});
    let head = '';
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n');
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (end < 0 || head.length < end + 4 + length) return;
      const request = head.slice(0, end + 4 + length);
      head = head.slice(end + 4 + length);
      answer(socket, request);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    connections,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

export const OK_ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** On `::`, which includes IPv4, or on `0.0.0.0` if the machine has no IPv6. */
export async function startCanary(): Promise<Listener> {
  const answer = (socket: net.Socket): void => void socket.write(OK_ANSWER);
  try {
    return await listen('::', answer);
  } catch {
    return await listen('0.0.0.0', answer);
  }
}
