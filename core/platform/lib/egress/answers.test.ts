/**
 * Responses are framed correctly regardless of packet boundaries, and bytes beyond a response are never taken for the next one on
 * the same connection.
 */
import { afterEach, expect, test } from 'bun:test';
import net from 'node:net';
import { createEgress, type Egress, type EgressRequest } from './egress.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Answers the n-th request over all connections with the n-th reply; the last one repeats. */
async function serve(...replies: ((socket: net.Socket) => void)[]) {
  const counts = { connections: 0, requests: 0, closed: 0 };
  const server = net.createServer((socket) => {
    counts.connections += 1;
    closers.push(() => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => (counts.closed += 1));
    socket.on('data', () => {
      const reply = replies[Math.min(counts.requests, replies.length - 1)];
      counts.requests += 1;
      reply?.(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/in`, counts };
}

function build(): Egress {
  const egress = createEgress({ allow: ['127.0.0.0/8'], ownPort: () => undefined, resolve: async () => [] });
  closers.push(egress.close);
  return egress;
}

function ask(url: string, more: Partial<EgressRequest> = {}): EgressRequest {
  const limits = { connectTimeoutMs: 5_000, totalTimeoutMs: 15_000, responseBytesMax: 65_536 };
  return { url, method: 'POST', headers: {}, body: '{}', ...limits, ...more };
}

const say =
  (text: string) =>
  (socket: net.Socket): void =>
    void socket.write(text, 'latin1');
const textOf = (body: Uint8Array): string => Buffer.from(body).toString('latin1');
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

const framings: [string, string, { status?: number; body: string; reused: boolean; closes?: boolean }][] = [
  ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', { body: 'hello', reused: true }],
  [
    'chunks with an extension and trailers',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nX-After: 1\r\n\r\n',
    { body: 'hello', reused: true },
  ],
  [
    'until the connection ends',
    'HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nhello',
    { body: 'hello', reused: false, closes: true },
  ],
  ['no content', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, body: '', reused: true }],
  [
    'not modified',
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n',
    { status: 304, body: '', reused: true },
  ],
  [
    'two interim answers first',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n${ok}`,
    { body: 'ok', reused: true },
  ],
  [
    'a request to close',
    'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
    { body: 'ok', reused: false },
  ],
  ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', { body: 'ok', reused: false }],
  [
    'a connection that stays open for one second',
    'HTTP/1.1 200 OK\r\nKeep-Alive: max=9, timeout=1\r\nContent-Length: 2\r\n\r\nok',
    { body: 'ok', reused: false },
  ],
  [
    'a connection that stays open for longer',
    'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=15\r\nContent-Length: 2\r\n\r\nok',
    { body: 'ok', reused: true },
  ],
];

for (const [name, reply, expected] of framings)
  test(`${name}: the response is read, in one piece or byte by byte`, async () => {
    const end = (socket: net.Socket): void => void (expected.closes && socket.end());
    const whole = (socket: net.Socket): void => {
      socket.write(reply, 'latin1', () => end(socket));
    };
    const bytewise = async (socket: net.Socket): Promise<void> => {
      for (const character of reply) {
        await new Promise((resolve) => socket.write(character, 'latin1', resolve));
        await new Promise(setImmediate);
      }
      end(socket);
    };
    for (const send of [whole, bytewise]) {
      const server = await serve((socket) => void send(socket), say(ok));
      const egress = build();
      const response = await egress.send(ask(server.url));
      expect([response.status, textOf(response.body), response.truncated]).toEqual([
        expected.status ?? 200,
        expected.body,
        false,
      ]);
      expect(response.headers).not.toHaveProperty('x-after');
      expect(response.headers).not.toHaveProperty('link');
      await egress.send(ask(server.url));
      expect(server.counts.connections).toBe(expected.reused ? 1 : 2);
    }
  });

test('a response to HEAD has no body, regardless of its declared length', async () => {
  const server = await serve(say('HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n'), say(ok));
  const egress = build();
  const { body: _, ...head } = ask(server.url, { method: 'HEAD' });
  expect((await egress.send(head)).body.byteLength).toBe(0);
  expect(textOf((await egress.send(ask(server.url))).body)).toBe('ok');
  expect(server.counts.connections).toBe(1);
});

test('a hundred headers are read, repeated ones are joined, and none appears in the next response', async () => {
  const lines = Array.from({ length: 100 }, (_, n) => `X-${n}: ${n}\r\nX-Same: ${n}\r\n`).join('');
  const server = await serve(say(`HTTP/1.1 200 OK\r\n${lines}Content-Length: 2\r\n\r\nok`), say(ok));
  const egress = build();
  const { headers } = await egress.send(ask(server.url));
  expect([headers['x-0'], headers['x-99'], headers['x-same']?.split(', ').length]).toEqual(['0', '99', 100]);
  expect(Object.keys((await egress.send(ask(server.url))).headers)).toEqual(['content-length']);
});

const smuggled = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled';
const beyond: [string, string, string][] = [
  ['a second response in the same packet', ok + smuggled, ''],
  ['the beginning of a second response', `${ok}HTTP/1.1 200`, ''],
  ['more body than declared', `${ok}okokok`, ''],
  ['a second response a moment later', ok, smuggled],
];
for (const [name, reply, later] of beyond)
  test(`${name} is not read as the response to the next request`, async () => {
    const sockets: net.Socket[] = [];
    const server = await serve((socket) => {
      sockets.push(socket);
      socket.write(reply);
    }, say(ok));
    const egress = build();
    expect(textOf((await egress.send(ask(server.url))).body)).toBe('ok');
    if (later !== '') sockets[0]?.write(later);
    // The extra bytes arrive within some event loop iterations; the connection would be closed for its age only after a second.
    for (let iteration = 0; iteration < 100 && server.counts.closed === 0; iteration += 1)
      await new Promise(setImmediate);
    expect(server.counts.closed).toBe(1);
    expect(textOf((await egress.send(ask(server.url))).body)).toBe('ok');
    expect(server.counts.connections).toBe(2);
  });

test('a body over the cap is cut, and its connection is not reused', async () => {
  const server = await serve(say('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello'), say(ok));
  const egress = build();
  const first = await egress.send(ask(server.url, { responseBytesMax: 3 }));
  expect([textOf(first.body), first.truncated]).toEqual(['hel', true]);
  await egress.send(ask(server.url));
  expect(server.counts.connections).toBe(2);
});

test('concurrent requests use one connection each, and each receives its own response', async () => {
  const server = net.createServer((socket) => {
    closers.push(() => socket.destroy());
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const name = /x-name: (\d+)/i.exec(chunk.toString('latin1'))?.[1] ?? '';
      setTimeout(
        () => socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`),
        Number(name) % 7,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => server.close());
  const { port } = server.address() as net.AddressInfo;
  const egress = build();
  for (let round = 0; round < 3; round += 1) {
    const names = Array.from({ length: 50 }, (_, n) => String(round * 100 + n));
    const bodies = await Promise.all(
      names.map(async (name) =>
        textOf((await egress.send(ask(`http://127.0.0.1:${port}/`, { headers: { 'x-name': name } }))).body),
      ),
    );
    expect(bodies).toEqual(names);
  }
});
