// docs/spec/durability.md › Graceful shutdown: every sent request is answered, clients with open connections are asked
// to close them, and the shutdown time is bounded.
import { expect, test } from 'bun:test';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { seededRandom } from './server.ts';
import { serveTatami, temporary, type Served } from '../cli/tatami.ts';

const rounds = process.env.TATAMI_LONG ? 25 : 1;
const clients = 32;

const begin = (dataDir: string): Promise<Served> =>
  serveTatami(['--data-dir', dataDir, '--rate-limit', 'off', '--first-start', '--json']);

interface ConnectionCounter {
  answered: number;
  /** Requests without a response on a connection that the server had not announced to close. */
  reset: number;
  closeRequested: number;
}

/**
 * Sends sequential requests on a keep-alive connection, and on a new one after `Connection: close`, until the
 * connection is refused.
 */
async function requestRepeatedly(port: number, counter: ConnectionCounter, ask: () => string): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const connected = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    if (!connected) return;
    await askOn(socket, counter, ask);
    socket.destroy();
  }
}

/** Resolves once the connection is closed, or the server announces its close. */
function askOn(socket: Socket, counter: ConnectionCounter, ask: () => string): Promise<void> {
  return new Promise((resolve) => {
    let text = '';
    let isPending = true;
    const over = (): void => {
      if (isPending) counter.reset++;
      isPending = false;
      resolve();
    };
    socket.on('error', over).on('end', over).on('close', over);
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? Number.NaN);
      if (head < 0 || text.length < head + 4 + length) return;
      const closes = /connection: close/i.test(text);
      text = '';
      isPending = false;
      counter.answered++;
      if (closes) {
        counter.closeRequested++;
        return resolve();
      }
      isPending = true;
      socket.write(ask());
    });
    socket.write(ask());
  });
}

const body = '{"team":"ENG","title":"Asked while it stops"}';

/** Requests with a key. */
function requestsOf(key: string) {
  const head = `Host: localhost\r\nAuthorization: Bearer ${key}\r\n`;
  const json = `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return {
    read: `GET /api/v1/issues?limit=5 HTTP/1.1\r\n${head}\r\n`,
    write: `POST /api/v1/issues HTTP/1.1\r\n${json}${body}`,
    stream: `GET /api/v1/events/stream HTTP/1.1\r\n${head}\r\n`,
  };
}

test.concurrent(
  `a shutdown resets no request of ${clients} busy clients, at any moment`,
  async () => {
    using dir = temporary();
    const random = seededRandom(7);
    let key = '';
    for (let round = 0; round < rounds; round++) {
      const { child, url, start } = await begin(dir.path('data'));
      key ||= JSON.parse(start).apiKey;
      const { read, write } = requestsOf(key);
      const counter: ConnectionCounter = { answered: 0, reset: 0, closeRequested: 0 };
      const asking = Array.from({ length: clients }, (_, index) =>
        requestRepeatedly(Number(new URL(url).port), counter, () => (index % 4 === 0 ? write : read)),
      );
      while (counter.answered < clients * 4) await Bun.sleep(5);
      await Bun.sleep(random() * 100);
      child.kill('SIGTERM');
      expect(await child.exited).toBe(0);
      await Promise.all(asking);
      expect(counter.reset).toBe(0);
      expect(counter.closeRequested).toBeGreaterThanOrEqual(clients / 2);
    }
  },
  240_000,
);

test.concurrent(
  'a hundred requests in flight are answered, and open connections do not delay the shutdown',
  async () => {
    using dir = temporary();
    const { child, url, start, said } = await begin(dir.path('data'));
    const { read, write, stream } = requestsOf(JSON.parse(start).apiKey);
    const port = Number(new URL(url).port);
    const open = (first: string): { socket: Socket; text: () => string; closed: Promise<unknown> } => {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.on('data', (bytes) => (text += bytes.toString('latin1'))).on('error', () => undefined);
      if (first !== '') socket.write(first);
      return { socket, text: () => text, closed: once(socket, 'close') };
    };
    const others = [
      ...Array.from({ length: 50 }, () => open(read)),
      open(''),
      open('GET /api/v1/issues HTTP/1.1\r\nHost: localh'),
      open(stream),
      open(write.slice(0, -body.length)),
    ];
    const dripper = others.at(-1)!;
    const dripping = setInterval(() => dripper.socket.write(' '), 250);
    const inFlight = Array.from({ length: 100 }, () => open(write.slice(0, -5)));
    await fetch(`${url}/healthz`);
    while (others.slice(0, 50).some(({ text }) => text() === '')) await Bun.sleep(10);
    child.kill('SIGTERM');
    const signaledMs = performance.now();
    await said('stopping');
    for (const { socket } of inFlight) socket.write(write.slice(-5));
    const code = await child.exited;
    clearInterval(dripping);
    expect([code, performance.now() - signaledMs < 10_000]).toEqual([0, true]);
    await Promise.all([...others, ...inFlight].map(({ closed }) => closed));
    const answers = inFlight.map(({ text }) => `${text().slice(0, 12)} ${/connection: close/i.test(text())}`);
    expect(answers).toEqual(inFlight.map(() => 'HTTP/1.1 201 true'));
  },
  30_000,
);

test('a server that only reads, because its database is damaged, stops on request', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  const first = await begin(dataDir);
  first.child.kill('SIGTERM');
  await first.child.exited;
  const path = join(dataDir, 'tatami.db');
  const bytes = readFileSync(path);
  const at = bytes.lastIndexOf('auto-triage');
  bytes[at] = bytes[at]! ^ 1;
  writeFileSync(path, bytes);
  const damaged = await serveTatami(['--data-dir', dataDir, '--json']);
  expect((await fetch(`${damaged.url}/readyz`)).status).toBe(503);
  damaged.child.kill('SIGTERM');
  expect(await damaged.child.exited).toBe(0);
});
