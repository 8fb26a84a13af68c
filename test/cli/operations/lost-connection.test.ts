// Writes over connections that drop: a TCP proxy in front of the server forwards a write and closes the connection before the
// response. The write takes effect once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Socket } from 'bun';
import { basename } from 'node:path';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami, type CliResult } from '../tatami.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

interface Proxy extends Disposable {
  readonly url: string;
  /** Number of writes that reached the server through this proxy. */
  writes(): number;
}

interface Line {
  upstream: Promise<Socket<undefined>>;
  /** True once the response must not reach the client. */
  isCut: boolean;
}

/** @param drops number of writes whose response is lost */
function openProxy(drops: number): Proxy {
  let writes = 0;
  const { hostname, port } = new URL(app.url);
  const listener = Bun.listen<Line>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open(client) {
        const upstream = Bun.connect({
          hostname,
          port: Number(port),
          socket: {
            data(_, chunk) {
              if (client.data.isCut) client.terminate();
              else client.write(chunk);
            },
            close: () => void client.end(),
          },
        });
        client.data = { upstream, isCut: false };
      },
      async data(client, chunk) {
        const isWrite = /^(POST|PUT|PATCH|DELETE) /.test(chunk.toString('latin1', 0, 8));
        if (isWrite) client.data.isCut = ++writes <= drops;
        (await client.data.upstream).write(chunk);
      },
      close: async (client) => void (await client.data.upstream).end(),
    },
  });
  return {
    url: `http://127.0.0.1:${listener.port}`,
    writes: () => writes,
    [Symbol.dispose]: () => listener.stop(true),
  };
}

const run = (server: string, ...args: string[]): Promise<CliResult> =>
  tatami([...args, '--server', server, '--json'], { TATAMI_TOKEN: app.workspace.apiKey });

/** Returns the titles of all issues that begin with a text. */
async function titles(start: string): Promise<string[]> {
  const { data } = (await app.call('GET', '/api/v1/issues?limit=100')).json;
  return data.map(({ title }: Json) => title).filter((title: string) => title.startsWith(start));
}

test('a write whose connection drops is repeated, says so, and takes effect once', async () => {
  using proxy = openProxy(1);
  const since = await app.lastSequence();
  const { code, json, err } = await run(proxy.url, 'issues', 'create', '--team', 'ENG', '--title', 'Dropped');
  expect([code, json.title]).toEqual([0, 'Dropped']);
  expect(err).toContain('Repeating it with the same idempotency key.');
  expect(err).toContain('the write took effect once.');
  expect(proxy.writes()).toBe(2);
  expect(await titles('Dropped')).toEqual(['Dropped']);
  expect(await app.eventTypes(since)).toEqual(['issue.created']);
});

test('an upload whose connection drops takes effect once', async () => {
  using proxy = openProxy(1);
  const upload = ['attachments', 'upload', 'ENG-1', import.meta.path];
  const { code, json, err } = await run(proxy.url, ...upload);
  expect([code, json.title]).toEqual([0, basename(import.meta.path)]);
  expect(err).toContain('the write took effect once.');
  expect((await app.call('GET', '/api/v1/issues/ENG-1/attachments')).json.data).toHaveLength(1);
});

/** Attempts of a write before the command gives up. */
const attempts = 4;

test('a write without a response exits with 75 and a key; repeated with the key, it takes effect once', async () => {
  using proxy = openProxy(Infinity);
  using other = openProxy(Infinity);
  const since = await app.lastSequence();
  const create = ['issues', 'create', '--team', 'ENG', '--title', 'Unknown'];
  const [lost, afterRead] = await Promise.all([
    run(proxy.url, ...create),
    // The name is read first, so this server has answered before.
    run(other.url, 'labels', 'update', 'bug', '--color', '#123456'),
  ]);
  expect([proxy.writes(), other.writes()]).toEqual([attempts, attempts]);
  for (const { code, json, err } of [lost, afterRead]) {
    expect([code, json.error.code]).toEqual([75, 'unavailable']);
    expect(err).toMatch(/Run the command again with --idempotency-key [0-9a-f-]{36}:/);
  }
  const [, key = ''] = /--idempotency-key (\S+):/.exec(lost.json.error.message) ?? [];
  const again = await run(app.url, ...create, '--idempotency-key', key);
  expect([again.code, again.json.title]).toEqual([0, 'Unknown']);
  expect(await titles('Unknown')).toEqual(['Unknown']);
  expect((await app.eventTypes(since)).toSorted()).toEqual(['issue.created', 'label.updated']);
}, 120_000);

test('a dry run whose connection drops is not repeated, because nothing is unknown', async () => {
  using proxy = openProxy(Infinity);
  const since = await app.lastSequence();
  const tried = await run(proxy.url, 'issues', 'create', '--team', 'ENG', '--title', 'Tried', '--dry-run');
  expect([tried.code, tried.json.error.code, proxy.writes()]).toEqual([75, 'unreachable', 1]);
  expect(await app.eventTypes(since)).toEqual([]);
});

test('a write to a host that does not exist is not repeated, because nothing was sent', async () => {
  const { code, json, err } = await run('http://tatami.invalid', 'labels', 'create', '--name', 'Unsent');
  expect([code, json.error.code]).toEqual([75, 'unreachable']);
  expect(err).not.toContain('Repeating');
});

test('a write to which a proxy never gets a response exits with 75 and a key', async () => {
  let writes = 0;
  using gateway = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      writes++;
      const { pathname } = new URL(request.url);
      await fetch(app.url + pathname, {
        method: 'POST',
        headers: request.headers,
        body: await request.text(),
      });
      return new Response('', { status: 504, headers: { 'retry-after': '0' } });
    },
  });
  const create = ['issues', 'create', '--team', 'ENG', '--title', 'Behind a gateway'];
  const { code, json } = await run(gateway.url.origin, ...create);
  expect([code, json.error.message]).toEqual([75, expect.stringContaining('--idempotency-key')]);
  expect(writes).toBeGreaterThan(1);
  expect(await titles('Behind a gateway')).toEqual(['Behind a gateway']);
});
