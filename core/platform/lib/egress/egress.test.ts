/**
 * Every exchange is one request, bounded in time and bytes. The tests use real sockets on loopback and fire
 * timers manually, to control timeouts.
 */
import { afterEach, expect, test } from 'bun:test';
import net from 'node:net';
import zlib from 'node:zlib';
import { connectChecked } from './pool.ts';
import { createEgress, type Egress, type EgressOptions, type EgressRequest } from './egress.ts';
import { EgressError } from './error.ts';

type Reply = (socket: net.Socket, request: string) => void;

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(reply: Reply | string, host = '127.0.0.1', port = 0) {
  const requests: string[] = [];
  const counts = { connections: 0, closed: 0 };
  const server = net.createServer((socket) => {
    counts.connections += 1;
    closers.push(() => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => (counts.closed += 1));
    socket.on('data', (chunk) => {
      requests.push(chunk.toString('latin1'));
      if (typeof reply === 'string') socket.write(reply);
      else reply(socket, chunk.toString('latin1'));
    });
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  closers.push(() => server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/in`, port: address.port, requests, counts };
}

function build(options: Partial<EgressOptions> = {}): Egress {
  const egress = createEgress({
    allow: ['127.0.0.0/8'],
    ownPort: () => undefined,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
  });
  closers.push(egress.close);
  return egress;
}

function ask(url: string, more: Partial<EgressRequest> = {}): EgressRequest {
  return {
    url,
    method: 'POST',
    headers: {},
    body: '{}',
    connectTimeoutMs: 5_000,
    totalTimeoutMs: 15_000,
    responseBytesMax: 65_536,
    ...more,
  };
}

async function fail(work: Promise<unknown>): Promise<EgressError> {
  const error: unknown = await work.then(
    () => new Error('The request did not fail.'),
    (caught: unknown) => caught,
  );
  if (error instanceof EgressError) return error;
  throw error;
}

/** Creates timers that fire only on demand, identified by their length. */
function manualTimers() {
  const running = new Map<number, () => void>();
  const startTimer: EgressOptions['startTimer'] = (fire, afterMs) => {
    running.set(afterMs, fire);
    return () => running.delete(afterMs);
  };
  return { running, startTimer, fire: (afterMs: number) => running.get(afterMs)?.() };
}

test('one request is sent with our own framing, and the response is returned complete', async () => {
  const server = await serve(
    'HTTP/1.1 201 Made\r\nX-A: 1\r\nX-A: 2\r\nSet-Cookie: a\r\nSet-Cookie: b\r\nContent-Length: 2\r\n\r\nok',
  );
  let nowMs = 100;
  const egress = build({ nowMs: () => (nowMs += 7) });
  const response = await egress.send(
    ask(`${server.url}?q=a%20b#part`, { headers: { 'X-Event': 'ping' }, body: 'hällo' }),
  );
  const { body, ...rest } = response;
  expect(new TextDecoder().decode(body)).toBe('ok');
  expect(rest).toMatchObject({
    status: 201,
    truncated: false,
    address: '127.0.0.1',
    headers: {
      'x-a': '1, 2',
      'set-cookie': 'a, b',
      'content-length': '2',
    },
  });
  expect(rest.latencyMs).toBeGreaterThan(0);
  const [head = '', sent] = (server.requests[0] ?? '').split('\r\n\r\n');
  expect(head.split('\r\n')[0]).toBe('POST /in?q=a%20b HTTP/1.1');
  expect(head.toLowerCase()).toContain('\r\nx-event: ping');
  expect(head.toLowerCase()).toContain(`\r\nhost: 127.0.0.1:${server.port}`);
  expect(head.toLowerCase()).toContain('\r\naccept-encoding: identity');
  expect(head.toLowerCase()).toContain('\r\ncontent-length: 6');
  expect(Buffer.from(sent ?? '', 'latin1').toString()).toBe('hällo');
});

test('a connection is reused for the same address and closed when idle connections are dropped', async () => {
  const server = await serve(OK);
  const egress = build();
  for (let attempt = 0; attempt < 5; attempt += 1) await egress.send(ask(server.url));
  expect(server.counts.connections).toBe(1);
  egress.close();
  await egress.send(ask(server.url));
  expect(server.counts.connections).toBe(2);
});

test('a reused connection has no connect timeout, and a failure on it counts as sent', async () => {
  const timers = manualTimers();
  let left: number[] = [];
  const server = await serve((socket) => {
    if (server.requests.length === 1) return void socket.write(OK);
    left = [...timers.running.keys()];
    socket.destroy();
  });
  const egress = build({ startTimer: timers.startTimer });
  await egress.send(ask(server.url));
  const error = await fail(egress.send(ask(server.url)));
  expect([error.code, error.sent, server.counts.connections, left]).toEqual(['connect', true, 1, [15_000]]);
});

test('headers that would split, smuggle or reroute a request are rejected before the connection is opened', async () => {
  const server = await serve(OK);
  const hostile: Record<string, string>[] = [
    { 'x-a': 'b\r\nx-c: d' },
    { 'x-a': 'b\nc' },
    { 'x-a': 'b\rc' },
    { 'x-a': '\0' },
    { 'x-a': 'ü' },
    { 'x a': 'b' },
    { 'x-a\r\nb': 'c' },
    { '': 'a' },
    { 'x:': 'a' },
    { 'X-A': '1', 'x-a': '2' },
    ...[
      'Host',
      'Content-Length',
      'Transfer-Encoding',
      'Connection',
      'Upgrade',
      'Expect',
      'TE',
      'Trailer',
    ].map((name) => ({ [name]: '5' })),
    { 'x-big': 'a'.repeat(40_000) },
  ];
  for (const headers of hostile) {
    const error = await fail(build().send(ask(server.url, { headers })));
    expect([error.code, error.sent]).toEqual(['bad_request', false]);
  }
  expect(server.counts.connections).toBe(0);
});

test('a request body over 1 MiB is rejected before the connection is opened', async () => {
  const server = await serve(OK);
  const error = await fail(build().send(ask(server.url, { body: new Uint8Array(1024 * 1024 + 1) })));
  expect(error.code).toBe('too_large');
  expect(server.counts.connections).toBe(0);
});

test('an endless response is cut at the cap and its connection is closed', async () => {
  const server = await serve((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    const pump = (): void => {
      while (!socket.destroyed && socket.write(`4000\r\n${'x'.repeat(0x4000)}\r\n`));
      if (!socket.destroyed) socket.once('drain', pump);
    };
    pump();
  });
  const response = await build().send(ask(server.url, { responseBytesMax: 50_000 }));
  expect([response.status, response.truncated, response.body.byteLength]).toEqual([200, true, 50_000]);
  while (server.counts.closed === 0) await new Promise((resolve) => setImmediate(resolve));
});

test('a response of exactly the cap is complete', async () => {
  const server = await serve(`HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n${'y'.repeat(1000)}`);
  const response = await build().send(ask(server.url, { responseBytesMax: 1000 }));
  expect([response.truncated, response.body.byteLength]).toEqual([false, 1000]);
});

test('a compressed response is returned unmodified, so that no decompression bomb is expanded', async () => {
  const bomb = zlib.gzipSync(Buffer.alloc(10_000_000));
  const server = await serve((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.byteLength}\r\n\r\n`);
    socket.write(bomb);
  });
  const response = await build().send(ask(server.url));
  expect(Buffer.compare(response.body, bomb)).toBe(0);
});

test('a receiver that never responds, or responds endlessly slowly, is cut off at the total timeout', async () => {
  for (const first of ['', 'HTTP/1.1 200 OK\r\nX: ', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na']) {
    const timers = manualTimers();
    const server = await serve((socket) => {
      socket.write(first);
      setImmediate(() => timers.fire(15_000));
    });
    const error = await fail(build({ startTimer: timers.startTimer }).send(ask(server.url)));
    expect([error.code, error.sent]).toEqual(['timeout', true]);
    expect(error.message).toContain('15000 ms');
    while (server.counts.closed === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(timers.running.size).toBe(0);
  }
});

test('a host that never completes the handshake is cut off at the connect timeout, and nothing counts as sent', async () => {
  const timers = manualTimers();
  const server = await serve(() => timers.fire(5_000));
  const egress = build({ startTimer: timers.startTimer, nowMs: () => 0 });
  const error = await fail(egress.send(ask(`https://127.0.0.1:${server.port}/`)));
  expect([error.code, error.sent, error.message]).toEqual([
    'timeout',
    false,
    'The receiver accepted no connection within 5000 ms. Check that it is reachable.',
  ]);
  expect(timers.running.size).toBe(0);
});

test('a name server that never responds is cut off at the connect timeout', async () => {
  const timers = manualTimers();
  const resolve = (): Promise<never> => {
    setImmediate(() => timers.fire(5_000));
    return new Promise(() => {});
  };
  const error = await fail(
    build({ startTimer: timers.startTimer, resolve }).send(ask('http://slow.example/')),
  );
  expect([error.code, error.sent]).toEqual(['timeout', false]);
  expect(error.message).toContain('DNS');
});

test('a request ends during the DNS lookup when it is canceled or its total timeout expires', async () => {
  const timers = manualTimers();
  const controller = new AbortController();
  for (const [end, code] of [
    [() => timers.fire(15_000), 'timeout'],
    [() => controller.abort(), 'aborted'],
  ] as const) {
    const resolve = (): Promise<never> => {
      setImmediate(end);
      return new Promise(() => {});
    };
    const egress = build({ startTimer: timers.startTimer, resolve });
    const error = await fail(egress.send(ask('http://slow.example/', { signal: controller.signal })));
    expect([error.code, error.sent]).toEqual([code, false]);
  }
});

test('a socket that connects to another address is closed before a byte is sent', async () => {
  const server = await serve(OK);
  const connect = (address: string, port: number): net.Socket => {
    const socket = net.connect({ host: address, port });
    socket.once('connect', () => socket.destroy(new Error('elsewhere')));
    return socket;
  };
  const error = await fail(build({ connect }).send(ask(server.url)));
  expect([error.code, error.sent]).toEqual(['connect', false]);
  while (server.counts.closed === 0) await new Promise(setImmediate);
  expect(server.requests).toEqual([]);
});

test('a canceled request ends at once, also before it starts', async () => {
  const controller = new AbortController();
  const server = await serve(() => controller.abort());
  const error = await fail(build().send(ask(server.url, { signal: controller.signal })));
  expect([error.code, error.sent]).toEqual(['aborted', true]);
  const again = await fail(build().send(ask(server.url, { signal: controller.signal })));
  expect([again.code, again.sent]).toEqual(['aborted', false]);
  expect(server.counts.connections).toBe(1);
});

test('a DNS lookup that fails after its request was canceled is no unhandled rejection', async () => {
  const lookUp = Promise.withResolvers<never>();
  const egress = build({ resolve: () => lookUp.promise });
  const error = await fail(egress.send(ask('http://slow.example/', { signal: AbortSignal.abort() })));
  expect(error.code).toBe('aborted');
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  process.on('unhandledRejection', note);
  lookUp.reject(new Error('no such host'));
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  process.off('unhandledRejection', note);
  expect(unhandled).toEqual([]);
});

test('a response that is not one complete HTTP/1.1 response is a failure, not a crash', async () => {
  const cases: [string, Reply | string, string][] = [
    ['another protocol', 'SSH-2.0-OpenSSH\r\n', 'protocol'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab', 'protocol'],
    ['huge headers', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(40_000)}\r\n\r\n`, 'protocol'],
    ['a protocol switch', 'HTTP/1.1 101 Switch\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'protocol'],
    ['closed without a response', (socket) => socket.end(), 'connect'],
    ['cut in the body', (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc'), 'connect'],
    ['reset', (socket) => socket.resetAndDestroy(), 'connect'],
  ];
  for (const [name, reply, code] of cases) {
    const server = await serve(reply);
    const error = await fail(build().send(ask(server.url)));
    expect([name, error.code, error.sent]).toEqual([name, code, true]);
  }
});

test('interim responses before the final one are skipped', async () => {
  const server = await serve(`HTTP/1.1 103 Early Hints\r\n\r\n${OK}`);
  expect((await build().send(ask(server.url))).status).toBe(200);
});

test('the next address of a host is tried only when one refuses the connection', async () => {
  const dials: string[] = [];
  const connect = (address: string, port: number): net.Socket => {
    dials.push(address);
    return connectChecked(address, port);
  };
  const resolve = async () => ['127.0.0.21', '127.0.0.22'].map((address) => ({ address, family: 4 }));
  const second = await serve(OK, '127.0.0.22');
  const response = await build({ resolve, connect }).send(ask(`http://two.example:${second.port}/`));
  expect([response.address, dials]).toEqual(['127.0.0.22', ['127.0.0.21', '127.0.0.22']]);

  const first = await serve((socket) => socket.end(), '127.0.0.21', second.port);
  expect((await fail(build({ resolve, connect }).send(ask(`http://two.example:${first.port}/`)))).code).toBe(
    'connect',
  );
  expect(second.requests).toHaveLength(1);
});

test('a name without addresses fails with code dns; registration accepts it for https', async () => {
  for (const resolve of [async () => [], async () => Promise.reject(new Error('ENOTFOUND'))]) {
    const egress = build({ resolve });
    expect((await fail(egress.send(ask('https://gone.example/')))).code).toBe('dns');
    await egress.checkUrl('https://gone.example/');
    expect((await fail(egress.checkUrl('http://gone.example/'))).code).toBe('dns');
  }
});

test('a refused connection fails with the code connect', async () => {
  const error = await fail(build().send(ask('http://127.0.0.1:1/')));
  expect([error.code, error.sent]).toEqual(['connect', false]);
  expect(error.message).toContain('ECONNREFUSED');
});

test('a receiver is probed without sending it a byte; one that refuses connections, or is forbidden, fails the probe', async () => {
  const { url, requests, counts } = await serve(OK);
  await build().reach(url, 5_000);
  expect(requests).toEqual([]);
  expect(counts.connections).toBe(1);
  const closed = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as net.AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  expect((await fail(build().reach(`http://127.0.0.1:${port}/`, 5_000))).code).toBe('connect');
  expect((await fail(build({ allow: [] }).reach(url.replace('http:', 'https:'), 5_000))).code).toBe(
    'refused_address',
  );
});
