// Receivers that hang, respond slowly, flood, send invalid HTTP or disconnect (docs/spec/webhooks.md › Delivery),
// against a real core process: each attempt ends in time with the reason, no redirect is followed, stored responses are
// limited, and a healthy endpoint is not affected.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server as TcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createSystemClock, startApp, type Json } from '../../app.ts';
import { clientOf, startServer, type Server } from '../../faults/server.ts';
import { watchSlowness } from '../../slow-machine.ts';
import { startReceiver, type Receiver } from './receiver.ts';

const attemptMs = 15_000;
const head = 'HTTP/1.1 200 OK\r\n';
const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024), { level: 9 });

/** Handlers of a connection once its request has begun. */
const misdeeds: Readonly<Record<string, (socket: Socket, canary: string) => void>> = {
  hangs: () => undefined,
  'drips its head': (socket) => drip(socket, `${head}X-Slow: ${'y'.repeat(10_000)}`),
  'drips its body': (socket) => {
    socket.write(`${head}Content-Length: 1000\r\n\r\n`);
    drip(socket, 'z'.repeat(1_000));
  },
  'never ends its body': (socket) => {
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n`);
    const flood = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    };
    socket.on('drain', flood);
    flood();
  },
  'sends a gzip bomb': (socket) => {
    socket.write(`${head}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`);
    socket.write(bomb);
  },
  'sends garbage': (socket) => socket.write(Buffer.from('\u0000\u0001garbage\r\n\r\nmore')),
  'sends a huge head': (socket) => {
    socket.write(head);
    for (let n = 0; n < 200; n++) socket.write(`X-Filler-${n}: ${'f'.repeat(8_000)}\r\n`);
  },
  'floods interim answers': (socket) => {
    const flood = (): void => {
      while (!socket.destroyed && socket.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(100)));
    };
    socket.on('drain', flood);
    flood();
  },
  'closes at once': (socket) => socket.destroy(),
  'closes within its head': (socket) => socket.end(head),
  'closes within its body': (socket) => socket.end(`${head}Content-Length: 1000\r\n\r\nnot all`),
  'answers 301': (socket, canary) =>
    socket.end(`HTTP/1.1 301 Moved\r\nLocation: ${canary}\r\nContent-Length: 0\r\n\r\n`),
  'answers 307': (socket, canary) =>
    socket.end(`HTTP/1.1 307 Other\r\nLocation: ${canary}\r\nContent-Length: 0\r\n\r\n`),
  'speaks no TLS': (socket) => socket.end(`${head}Content-Length: 0\r\n\r\n`),
};
/** These count as success: a 200 response whose stored part is limited. */
const accepted = ['never ends its body', 'sends a gzip bomb'];

function drip(socket: Socket, text: string): void {
  let sent = 0;
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else socket.write(text[sent++ % text.length]!);
  }, 1_000);
}

let core: Server;
let receiver: Receiver;
let canary: Receiver;
let dir: string;
let call: ReturnType<typeof clientOf>;
const listeners: TcpServer[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'tatami-bad-receivers-'));
  const first = await startApp({ dataDir: dir, clock: createSystemClock() });
  const { apiKey } = first.workspace;
  await first.stop();
  core = await startServer(dir, { flags: ['--egress-allow', '127.0.0.0/8'] });
  call = clientOf(core.url, apiKey);
  receiver = startReceiver();
  canary = startReceiver();
});
afterAll(async () => {
  core.child.kill('SIGKILL');
  await core.child.exited;
  for (const listener of listeners) listener.close();
  await receiver.stop();
  await canary.stop();
  rmSync(dir, { recursive: true });
});

async function misbehaving(name: string): Promise<Json> {
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => misdeeds[name]!(socket, canary.url));
  });
  listeners.push(listener);
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve));
  const { port } = listener.address() as { port: number };
  const url = `${name === 'speaks no TLS' ? 'https' : 'http'}://127.0.0.1:${port}/`;
  const { status, json } = await call('POST', '/api/v1/webhooks', { url, events: ['label.created'] });
  expect([name, status]).toEqual([name, 201]);
  return json;
}

const residentMb = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${core.child.pid}/status`, 'utf8'))![1]) / 1024;

/** Creates issues in sequence and returns the time until each was received, in ms, ascending. */
async function receipts(count: number): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < count; n++) {
    const before = receiver.received.length;
    const started = performance.now();
    await call('POST', '/api/v1/issues', { team: 'ENG', title: `Issue ${n}` });
    await receiver.arrived(before + 1);
    took.push(performance.now() - started);
  }
  return took.toSorted((a, b) => a - b);
}

test('each attempt ends in time with its reason, and a healthy endpoint is not affected', async () => {
  await call('POST', '/api/v1/webhooks', { url: receiver.url, events: ['issue.created'] });
  await receipts(100);
  const alone = await receipts(100);
  const endpoints = new Map<string, Json>();
  for (const name of Object.keys(misdeeds)) endpoints.set(name, await misbehaving(name));
  const before = residentMb();
  const started = performance.now();
  const slowness = watchSlowness();
  await call('POST', '/api/v1/labels', { name: 'to all of them' });
  const beside = await receipts(100);
  const attempts = new Map<string, Json>();
  let grown = 0;
  while (attempts.size < endpoints.size) {
    grown = Math.max(grown, residentMb() - before);
    for (const [name, { id }] of endpoints) {
      if (attempts.has(name)) continue;
      const [delivery] = (await call('GET', `/api/v1/webhooks/${id}/deliveries`)).json.data;
      if (!delivery || delivery.attempts === 0) continue;
      attempts.set(name, (await call('GET', `/api/v1/deliveries/${delivery.id}`)).json.attemptList[0]);
    }
    expect([
      [...endpoints.keys()].filter((name) => !attempts.has(name)),
      performance.now() - started < attemptMs + 10_000,
    ]).toEqual([expect.anything(), true]);
    await Bun.sleep(100);
  }
  for (const [name, attempt] of attempts) {
    expect([name, attempt.latencyMs <= attemptMs + 1_000 * slowness()]).toEqual([name, true]);
    expect([name, (attempt.responseBody ?? '').length <= 64 * 1024 * 1.4]).toEqual([name, true]);
    if (accepted.includes(name)) expect([name, attempt.statusCode, attempt.error]).toEqual([name, 200, null]);
    else expect([name, attempt.error]).toEqual([name, expect.stringMatching(/^[A-Z].{10,}\.$/)]);
  }
  expect(attempts.get('never ends its body')!.truncated).toBe(true);
  expect(attempts.get('answers 301')!.error).toContain('redirects are not followed');
  expect(canary.received.length).toBe(0);
  const again = await receipts(100);
  console.log('grown', grown, alone[98], beside[98], again[98]);
  // At most twice as long as alone, before or after, because the load of the machine changes.
  expect(beside[98]!).toBeLessThan(2 * Math.max(alone[98]!, again[98]!, 50 * slowness()));
  // Megabytes. The allocator retains freed memory in tests; an endless response that is stored would take gigabytes.
  expect(grown).toBeLessThan(60);
}, 60_000);
