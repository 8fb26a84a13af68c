// Requests of a plugin to other servers reach only declared hosts, once for all attempts of a run. The test plugin
// sends the requests that an issue contains.
import { describe, expect, test } from 'bun:test';
import type { PluginPackage } from '../../../sdk/plugin/manifest.ts';
import type { Json } from '../../app.ts';
import { listen, type Listener } from '../webhooks/canary.ts';
import { sidecarPids } from '../../sandbox/harness.ts';
import { codesOf, definitionOf, outsideOfFile, type FetchArguments } from './outside.ts';
import { install, packSource } from './pack.ts';

const outside = outsideOfFile();
const { origin, other, seen, answers } = outside;
const { port } = new URL(origin);

test('a run that only sent a request shows how often it got a response', async () => {
  const from = await outside.app.lastSequence();
  answers['/v1/silent'] = () => new Response(null, { status: 204 });
  const answered = await outside.ask([[`${origin}/v1/silent`], [`${other}/v1/silent`]]);
  expect(codesOf(answered)).toEqual([204, 'egress_denied']);
  const { json } = await outside.app.call('GET', `/api/v1/events?after=${from}&types=automation.run`);
  expect(json.data.map(({ data }: Json) => [data.changed, data.fetches])).toEqual([[0, 1]]);
});

describe('the manifest', () => {
  const packed = async (change: (manifest: Json) => void): Promise<PluginPackage> => {
    const document = await packSource(outside.definition);
    change(document.manifest);
    return document;
  };
  const refused = async (change: (manifest: Json) => void): Promise<string> => {
    const { status, json } = await outside.app.call('POST', '/api/v1/plugins', {
      package: await packed(change),
      grant: [],
    });
    expect(status).toBe(422);
    return json.error.details[0].path;
  };

  test('shows its hosts and its secrets', async () => {
    expect(outside.plugin.net[0]).toEqual({ origin, methods: ['GET', 'POST'], path: '/v1/', why: 'test' });
    expect(outside.plugin.secrets).toEqual([
      { name: 'ACME_KEY', hosts: [origin], header: 'Authorization', setAt: null },
    ]);
  });

  const origins = [
    'http://example.com',
    'https://user@api.acme.dev',
    'https://api.acme.dev.',
    'https://api.acme.dev/',
    'https://API.acme.dev',
    'https://2130706433',
    'https://0177.0.0.1',
    'https://127.0.0.2',
    'https://0.0.0.0',
    'https://[::1]',
    'https://[::ffff:127.0.0.1]',
    'https://[64:ff9b::7f00:1]',
    'https://169.254.169.254',
    'https://bücher.example',
    'ftp://api.acme.dev',
    'unix:///run/docker.sock',
  ];
  test('accepts only unambiguous origins that this server may send to', async () => {
    for (const origin of origins)
      expect([
        origin,
        await refused((manifest) => ((manifest.net = [{ origin, why: 'x' }]), delete manifest.secrets)),
      ]).toEqual([origin, expect.stringContaining('package.manifest.net.0')]);
    expect(
      await refused(
        (manifest) => (
          (manifest.net = [{ origin: new URL(outside.app.url).origin, why: 'x' }]),
          delete manifest.secrets
        ),
      ),
    ).toBe('package.manifest.net.0.origin');
  });

  test('allows a secret only at its own hosts, and in no routing or framing header', async () => {
    const hosts = await refused((manifest) => (manifest.secrets.ACME_KEY.hosts = [other]));
    expect(hosts).toBe('package.manifest.secrets.ACME_KEY.hosts.0');
    for (const header of [
      'host',
      'Transfer-Encoding',
      'cookie',
      'connection',
      'content-length',
      'a b',
      'idempotency-key',
    ])
      expect(await refused((manifest) => (manifest.secrets.ACME_KEY.header = header))).toBe(
        'package.manifest.secrets.ACME_KEY.header',
      );
    for (const path of ['/v1/../', '/v1/%2e%2e/', '/a//b', '/v1/%2f'])
      expect(await refused((manifest) => (manifest.net[0].path = path))).toBe('package.manifest.net.0.path');
  });
});

Object.assign(answers, {
  '/v1/moved': () => new Response('elsewhere', { status: 307, headers: { location: `${other}/v1/` } }),
  '/v1/large': () => new Response('x'.repeat(1024 * 1024 + 1)),
  '/v1/packed': () =>
    new Response(Bun.gzipSync('0'.repeat(100_000)), { headers: { 'content-encoding': 'gzip' } }),
});

describe('a request', () => {
  test('to a declared host is sent and gets its response', async () => {
    const before = seen.length;
    const [first, moved] = await outside.ask([
      [`${origin}/v1/classify`, { method: 'POST', headers: { 'x-a': '1' }, body: 'hello' }],
      [`${origin}/v1/moved`],
    ]);
    expect(first).toMatchObject({ status: 200, body: expect.stringContaining('hello') });
    // A redirect is returned and not followed.
    expect(moved).toMatchObject({ status: 307, body: 'elsewhere' });
    expect(seen.slice(before).map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /v1/classify',
      'GET /v1/moved',
    ]);
    const { headers } = seen[before]!;
    expect(headers.get('idempotency-key')).toMatch(/^[0-9a-f]{64}$/);
    expect(headers.get('x-a')).toBe('1');
    expect(seen[before + 1]!.headers.get('idempotency-key')).toBeNull();
  });

  test('to an undeclared host is not sent', async () => {
    const before = seen.length;
    const at = origin.replace('http://', '');
    const hostile: FetchArguments[] = [
      [`${other}/v1/`],
      [`http://user@${at}/v1/`],
      [`http://${at}@evil.example/v1/`],
      [`http://127.0.0.1.:${port}/v1/`],
      [`http://${at}.evil.example/v1/`],
      [`http://2130706433:${port}/v1/`],
      [`http://0177.0.0.1:${port}/v1/`],
      [`http://0.0.0.0:${port}/v1/`],
      [`http://[::1]:${port}/v1/`],
      [`http://[::ffff:127.0.0.1]:${port}/v1/`],
      [`http://[64:ff9b::7f00:1]:${port}/v1/`],
      ['http://169.254.169.254/latest/meta-data/'],
      ['http://ⓛocalhost/v1/'],
      [`${outside.app.url}/api/v1/me`],
      ['unix:///run/docker.sock'],
      ['file:///etc/passwd'],
      ['data:text/plain,hello'],
      [`https://${at}/v1/`],
      [`${origin}/v1`],
      [`${origin}/v2/`],
      [`${origin}/v1/../admin`],
      [`${origin}/v1/%2e%2e/admin`],
      [`${origin}/v1/..%2fadmin`],
      [`${origin}/v1/..%252fadmin`],
      [`${origin}/v1/x\\..\\..\\admin`],
      [`${origin}//v1/`],
      [`${origin}/v1/`, { method: 'DELETE' }],
      [`${origin}/v1/`, { headers: { host: 'evil.example' } }],
      [
        `${origin}/v1/`,
        { headers: { 'Transfer-Encoding': 'chunked' }, method: 'POST', body: '0\r\n\r\nGET / HTTP/1.1' },
      ],
      [`${origin}/v1/`, { headers: { connection: 'upgrade' } }],
      [`${origin}/v1/`, { headers: { Cookie: 'a=b' } }],
      [`${origin}/v1/`, { headers: { 'content-length': '3' } }],
      [`${origin}/v1/`, { headers: { 'idempotency-key': 'mine' } }],
      [`${origin}/v1/`, { headers: { 'x-a': 'é' } }],
    ];
    const codes: unknown[] = [];
    for (let from = 0; from < hostile.length; from += 9)
      codes.push(...codesOf(await outside.ask(hostile.slice(from, from + 9))));
    expect(hostile.map(([url, init], index) => [url, init, codes[index]])).toEqual(
      hostile.map(([url, init]) => [url, init, 'egress_denied']),
    );
    expect(seen.length).toBe(before);
  });

  test('is not sent if its host resolves to the network of the server', async () => {
    const codes: unknown[] = [];
    for (outside.resolved of ['127.0.0.2', '10.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1'])
      codes.push(...codesOf(await outside.ask([['https://rebind.example/']])));
    expect(codes).toEqual(Array(5).fill('egress_denied'));
    outside.resolved = '8.8.8.8';
  });

  test('is limited in number, size and response', async () => {
    const before = seen.length;
    const results = await outside.ask([
      [`${origin}/v1/`, { method: 'POST', body: 'x'.repeat(100) }],
      [`${origin}/v1/large`],
      [`${origin}/v1/packed`],
      ...Array.from({ length: 8 }, (_, index): FetchArguments => [`${origin}/v1/${index}`]),
    ]);
    expect(codesOf(results)).toEqual([
      ...[200, 'quota_exceeded', 'egress_denied'],
      ...Array(7).fill(200),
      'quota_exceeded',
    ]);
    expect(seen.length - before).toBe(10);
  });

  test('to a receiver that is slow or disconnects ends in an error', async () => {
    const drips: Listener[] = [];
    const open = async (text: string): Promise<string> => {
      const listener = await listen('127.0.0.1', (socket) => {
        socket.write(text);
        socket.end();
      });
      drips.push(listener);
      return `http://127.0.0.1:${listener.port}`;
    };
    const origins = [
      await open('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
      await open('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
      await open('not http\r\n\r\n'),
    ];
    const net = origins.map((origin) => ({ origin, why: 'test' }));
    const document = await packSource(
      definitionOf(`net: ${JSON.stringify(net)},`).replace('test.outside', 'test.broken'),
    );
    const first = outside.plugin;
    outside.plugin = await install(outside.app.call, document);
    expect(codesOf(await outside.ask(origins.map((origin): FetchArguments => [`${origin}/`])))).toEqual(
      Array(3).fill('unreachable'),
    );
    await outside.app.call('DELETE', `/api/v1/plugins/${outside.plugin.id}`);
    outside.plugin = first;
    for (const drip of drips) await drip.stop();
  });
});

test.skipIf(!process.env.TATAMI_LONG)(
  'to a receiver that never ends is aborted after five seconds',
  async () => {
    answers['/v1/endless'] = () =>
      new Response(
        new ReadableStream({
          async pull(controller) {
            await Bun.sleep(50);
            controller.enqueue(new Uint8Array([120]));
          },
        }),
      );
    expect(codesOf(await outside.ask([[`${origin}/v1/endless`]]))).toEqual(['deadline_exceeded']);
  },
);

describe('the journal', () => {
  test('gives a retried run the stored responses without sending again', async () => {
    const before = seen.length;
    const requests: FetchArguments[] = [
      [`${origin}/v1/a`, { method: 'POST', body: 'one' }],
      [`${origin}/v1/a`, { method: 'POST', body: 'one' }],
      [`${origin}/v1/b`],
    ];
    let answered = 0;
    answers['/v1/b'] = () => new Response(`answer ${++answered}`);
    const issue = await outside.file(requests, { fails: 2 });
    await outside.app.settled();
    expect((await outside.latestRun()).status).toBe('retrying');
    // The journal survives a restart.
    outside.app = await outside.app.restart();
    for (let tries = 0; tries < 2; tries++) {
      outside.app.clock.advance(60_000);
      await outside.app.settled();
    }
    const run = await outside.latestRun();
    expect([run.status, run.attempt]).toEqual(['succeeded', 3]);
    const value = await outside.storedResult(issue);
    expect(value[2].body).toBe('answer 1');
    expect(seen.length - before).toBe(3);
    // Two equal requests are separate entries.
    const keys = seen.slice(before, before + 2).map(({ headers }) => headers.get('idempotency-key'));
    expect(new Set(keys).size).toBe(2);
  });

  test('serves the retry after the sandbox is lost during a request', async () => {
    const before = seen.length;
    answers['/v1/lost'] = async () => {
      for (const pid of sidecarPids()) process.kill(pid, 'SIGKILL');
      // The retry sends its request meanwhile; if it were slower, it would find the stored response.
      await Bun.sleep(600);
      return new Response('well');
    };
    const issue = await outside.file([[`${origin}/v1/lost`, { method: 'POST', body: 'pay' }]]);
    for (let tries = 0; tries < 3; tries++) {
      outside.app.clock.advance(60_000);
      await outside.app.settled();
    }
    expect((await outside.storedResult(issue))[0]).toMatchObject({ status: 200, body: 'well' });
    expect(seen.length - before).toBe(1);
  });

  test('does not store failures, so that the next attempt sends again', async () => {
    let times = 0;
    answers['/v1/flaky'] = () => (++times === 1 ? new Response('x'.repeat(2_000_000)) : new Response('well'));
    const issue = await outside.file([[`${origin}/v1/flaky`]], { fails: 1 });
    await outside.app.settled();
    outside.app.clock.advance(60_000);
    await outside.app.settled();
    const value = await outside.storedResult(issue);
    expect([times, value[0].body]).toEqual([2, 'well']);
  });

  test('sends a non-repeatable request once, also if its response is lost', async () => {
    let times = 0;
    answers['/once'] = () => (++times, new Response('x'.repeat(2_000_000)));
    const issue = await outside.file([[`${origin}/once`, { method: 'POST', body: 'pay' }]], { fails: 1 });
    await outside.app.settled();
    outside.app.clock.advance(60_000);
    await outside.app.settled();
    const value = await outside.storedResult(issue);
    expect(times).toBe(1);
    expect(value[0]).toEqual({
      code: 'egress_denied',
      message: `POST ${origin}/once was already sent and its response was lost. The request is not repeated because the manifest sets retry: never. Check at the receiver whether it was processed.`,
    });
  });

  test('is the only source of responses in a simulated run', async () => {
    const before = seen.length;
    await outside.app.call('PATCH', `/api/v1/plugins/${outside.plugin.id}`, { mode: 'simulate' });
    await outside.file([[`${origin}/v1/`], [`${origin}/v1/`, { method: 'POST', body: '' }]]);
    await outside.app.settled();
    expect((await outside.latestRun()).logs[0].message).toContain('sends no requests');
    expect(seen.length).toBe(before);
    await outside.app.call('PATCH', `/api/v1/plugins/${outside.plugin.id}`, { mode: 'apply' });
  });
});

test('serves a backtest with the responses of the installed version for the same event, without sending', async () => {
  outside.app.clock.advance(60_000);
  const since = new Date(outside.app.clock.nowMs()).toISOString();
  const { id } = await outside.file([[`${origin}/v1/known`]]);
  outside.app.clock.advance(60_000);
  const before = seen.length;
  const handler = `on: { 'issue.created': { handle: async (event, ctx) => {
    const statusOf = (path) => fetch('${origin}/v1/' + path).then(({ status }) => status, ({ code }) => code);
    if ((await statusOf('known')) === 200) await ctx.issues.update(event.data.id, { estimate: 3 });
    if ((await statusOf('unknown')) === 'egress_denied') await ctx.issues.update(event.data.id, { priority: 'low' });
  } } },
}`;
  const source = outside.definition.replace('1.0.0', '2.0.0').replace(/on: \{[^]*$/, handler);
  const tried = async (path: string): Promise<Json> => {
    const body = { package: await packSource(source), since };
    const { json } = await outside.app.call('POST', `/api/v1/${path}`, body);
    await outside.app.settled();
    return (await outside.app.call('GET', `/api/v1/backtests/${json.id}`)).json.report;
  };
  const ofInstalled = await tried(`plugins/${outside.plugin.id}/backtests`);
  expect(ofInstalled).toMatchObject({ runs: { succeeded: 1 }, costs: { callsRefused: 1 } });
  const effects = ofInstalled.effects.map(({ issueId, field }: Json) => [issueId, field]);
  expect(effects.toSorted()).toEqual([
    [id, 'estimate'],
    [id, 'priority'],
  ]);
  // Without an installed version there are no stored responses.
  const ofNone = await tried('backtests');
  expect(ofNone).toMatchObject({ runs: { succeeded: 1 }, costs: { callsRefused: 2 } });
  expect(ofNone.effects.map(({ field }: Json) => field)).toEqual(['priority']);
  expect(seen.length).toBe(before);
});

test('request and response bytes count against the daily budget, and a request beyond it is not sent', async () => {
  const path = `/api/v1/plugins/${outside.plugin.id}`;
  const used = async (): Promise<number> =>
    (await outside.app.call('GET', `${path}/usage`)).json.data[0]?.egressBytes ?? 0;
  const before = await used();
  expect(
    codesOf(await outside.ask([[`${origin}/v1/counted`, { method: 'POST', body: 'x'.repeat(100) }]])),
  ).toEqual([200]);
  const after = await used();
  expect(after - before).toBeGreaterThan(100);
  await outside.app.call('PATCH', path, { budget: { egressBytes: after + 50 } });
  const sent = seen.length;
  const tooMuch: FetchArguments = [`${origin}/v1/counted`, { method: 'POST', body: 'y'.repeat(100) }];
  expect(codesOf(await outside.ask([tooMuch]))).toEqual(['quota_exceeded']);
  expect(seen.length).toBe(sent);
  await outside.app.call('PATCH', path, { budget: { egressBytes: after + 10_000 } });
  expect(codesOf(await outside.ask([tooMuch]))).toEqual([200]);
});
