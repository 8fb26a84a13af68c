// One HTTP/1.1 keep-alive connection over a raw socket, because `fetch` costs more than the servers under test. It parses only what
// these servers send: `Content-Length`, no chunks.

export interface Answer {
  readonly status: number;
  readonly bytes: number;
}

export interface Connection {
  /** Sends a request. The previous one must be answered. */
  send(request: Uint8Array): Promise<Answer>;
  close(): void;
}

export async function connect(url: string): Promise<Connection> {
  const { hostname, port } = new URL(url);
  let settle: { resolve(answer: Answer): void; reject(error: Error): void } | null = null;
  let status = 0;
  let missing = -1;
  let bytes = 0;
  let head = '';
  let unsent: Uint8Array | null = null;

  const fail = (message: string): void => {
    const waiting = settle;
    settle = null;
    waiting?.reject(new Error(message));
  };

  const begin = (chunk: Buffer): number => {
    head += chunk.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return -1;
    status = Number(head.slice(9, 12));
    const length = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, end + 2));
    if (!length && status !== 204 && status !== 304) fail('The response has no Content-Length.');
    bytes = Number(length?.[1] ?? 0);
    const rest = head.length - end - 4;
    head = '';
    return bytes - rest;
  };

  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, chunk) {
        missing = missing < 0 ? begin(chunk) : missing - chunk.length;
        if (missing !== 0) return;
        missing = -1;
        const waiting = settle;
        settle = null;
        waiting?.resolve({ status, bytes });
      },
      drain(open) {
        if (!unsent) return;
        const sent = open.write(unsent);
        unsent = sent < unsent.length ? unsent.subarray(sent) : null;
      },
      error: (_, error) => fail(error.message),
      close: () => fail('The server closed the connection.'),
    },
  });
  return {
    send(request) {
      return new Promise((resolve, reject) => {
        settle = { resolve, reject };
        const sent = socket.write(request);
        if (sent < request.length) unsent = request.subarray(Math.max(0, sent));
      });
    },
    close: () => void socket.end(),
  };
}

export function requestBytes(
  url: string,
  request: { method: string; path: string; headers: Readonly<Record<string, string>>; body?: string },
): Uint8Array {
  const { host } = new URL(url);
  const lines = [`${request.method} ${request.path} HTTP/1.1`, `Host: ${host}`];
  for (const [name, value] of Object.entries(request.headers)) lines.push(`${name}: ${value}`);
  const body = Buffer.from(request.body ?? '');
  if (request.body !== undefined)
    lines.push('Content-Type: application/json', `Content-Length: ${body.length}`);
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]);
}
