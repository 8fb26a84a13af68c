// `tatami webhooks listen` forwards events to a local program without a tunnel, each once, signed with a stable secret,
// across restarts of the server and beside other listeners.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { verify } from '@tatami/sdk/webhooks';
import { createSystemClock } from '../app.ts';
import { startHooks, startReceiver, type Hooks, type Receiver } from '../features/webhooks/receiver.ts';
import { collect, spawnTatami, tatami, temporary } from './tatami.ts';

const dir = temporary();
const state = dir.path('state');
let hooks: Hooks;
let receiver: Receiver;

beforeAll(async () => {
  // The command signs with its own clock.
  hooks = await startHooks({ clock: createSystemClock() });
  receiver = startReceiver();
});
afterAll(async () => {
  await hooks.app.stop();
  await receiver.stop();
  dir[Symbol.dispose]();
});

const env = (server = hooks.app.url, token = hooks.app.workspace.apiKey) => ({
  TATAMI_SERVER: server,
  TATAMI_TOKEN: token,
  XDG_STATE_HOME: state,
});

interface Listening {
  readonly secret: string;
  lines(): string[];
  /** Resolves once the output has that many lines. */
  until(lines: number): Promise<void>;
  said(text: string): Promise<void>;
  stop(): Promise<{ code: number; err: string }>;
}

async function listen(url: string, more: string[] = [], at = env()): Promise<Listening> {
  const child = spawnTatami(['webhooks', 'listen', '--forward-to', url, ...more], at);
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  await out.until((text) => text.includes('\n'));
  const lines = (): string[] => out.text().trimEnd().split('\n');
  return {
    secret: /whsec_\S+/.exec(out.text())![0],
    lines,
    until: (count) => out.until((text) => text.split('\n').length > count),
    said: (wanted) => err.until((text) => text.includes(wanted)),
    async stop() {
      child.kill('SIGINT');
      return { code: await child.exited, err: err.text() };
    },
  };
}

test('two concurrent listeners each forward every event once, signed like deliveries with a stable secret', async () => {
  receiver.received.length = 0;
  const urls = [`${receiver.url}/one`, `${receiver.url}/two`];
  const both = await Promise.all(urls.map((url) => listen(url, ['--events', 'issue.*'])));
  const { secret } = both[0]!;
  expect(both[1]!.secret).toBe(secret);
  for (let n = 0; n < 5; n++) await hooks.file(`Issue ${n}`);
  await hooks.call('POST', '/api/v1/labels', { name: 'not asked for' });
  await receiver.arrived(10);
  const { json: feed } = await hooks.call('GET', '/api/v1/events?types=issue.*&limit=100');
  for (const url of urls) {
    const got = receiver.received.filter(({ path }) => path === new URL(url).pathname);
    expect(got.map(({ body }) => body)).toEqual(
      feed.data.slice(-5).map((event: object) => JSON.stringify(event)),
    );
    for (const { body, headers } of got) {
      expect((await verify(body, headers.get('x-webhook-signature')!, secret)).type).toBe('issue.created');
      expect(headers.get('user-agent')).toMatch(/^Tatami-Webhooks\/\d/);
      expect(headers.get('x-webhook-delivery')).toMatch(/^dlv_/);
    }
  }
  await Promise.all(both.map((listener) => listener.until(6)));
  expect(both[0]!.lines()[1]).toMatch(/^\d\d:\d\d:\d\d {2}issue\.created {2}evt_\w{26} {2}→ 200 {2}\d+ ms$/);
  for (const listener of both)
    expect(await listener.stop()).toEqual({
      code: 130,
      err: expect.stringContaining('Stopped: 5 forwarded, 0 of them failed.'),
    });
  const env = dir.path('.env.local');
  writeFileSync(env, 'OTHER=1\nTATAMI_WEBHOOK_SECRET=old\n', { mode: 0o600 });
  const again = await listen(urls[0]!, ['--write-env', env]);
  expect(again.secret).toBe(secret);
  expect(readFileSync(env, 'utf8')).toBe(`OTHER=1\nTATAMI_WEBHOOK_SECRET=${secret}\n`);
  expect(statSync(env).mode & 0o077).toBe(0);
  await again.stop();
  // No webhook remains on the server.
  expect((await hooks.call('GET', '/api/v1/webhooks')).json.data).toEqual([]);
}, 60_000);

test('a failed forward prints the command that repeats it, and that command works', async () => {
  receiver.answer = () => new Response(null, { status: 500 });
  const listener = await listen(receiver.url);
  const issue = await hooks.file('One');
  await listener.until(2);
  const [, line = ''] = listener.lines();
  expect(line).toContain('→ 500');
  const command = /tatami (webhooks forward evt_\w+ --to \S+)$/.exec(line)![1]!;
  receiver.answer = () => new Response();
  receiver.received.length = 0;
  const { code, json } = await tatami([...command.split(' '), '--json'], env());
  expect([code, json]).toMatchObject([0, { statusCode: 200, eventType: 'issue.created' }]);
  const [{ body, headers, event }] = receiver.received as [(typeof receiver.received)[0]];
  expect(event.data.id).toBe(issue.id);
  expect((await verify(body, headers.get('x-webhook-signature')!, listener.secret)).id).toBe(event.id);
  expect((await listener.stop()).err).toContain('1 forwarded, 1 of them failed');
}, 60_000);

test('a triggered sample reaches listeners, and without listeners the output says what to do', async () => {
  const trigger = (...more: string[]) =>
    tatami(['webhooks', 'trigger', 'issue.created', '--json', ...more], env());
  const alone = await trigger();
  expect([alone.code, alone.err]).toEqual([1, expect.stringContaining('tatami webhooks listen')]);
  receiver.received.length = 0;
  const listener = await listen(receiver.url);
  const from = await hooks.app.lastSequence();
  const { code, json } = await trigger('--set', 'priority=urgent');
  expect([code, json]).toMatchObject([
    0,
    { listeners: 1, event: { sequence: 0, data: { priority: 'urgent' } } },
  ]);
  await receiver.arrived(1);
  expect(receiver.received[0]!.event).toEqual(json.event);
  expect(await hooks.app.eventTypes(from)).toEqual([]);
  await listener.stop();
}, 60_000);

test('a restart of the server loses and repeats no event', async () => {
  receiver.received.length = 0;
  const probe = Bun.serve({ port: 0, fetch: () => new Response() });
  const port = String(probe.port);
  await probe.stop(true);
  const local = await startHooks({ clock: createSystemClock(), flags: { port } });
  const listener = await listen(
    receiver.url,
    ['--events', 'issue.created'],
    env(local.app.url, local.app.workspace.apiKey),
  );
  await local.file('before');
  await receiver.arrived(1);
  const again = await local.app.restart();
  for (const title of ['after', 'and after that'])
    await again.call('POST', '/api/v1/issues', { team: 'ENG', title });
  await receiver.arrived(3);
  expect(receiver.received.map(({ event }) => event.data.title)).toEqual([
    'before',
    'after',
    'and after that',
  ]);
  await listener.said('Reconnected; no events were missed.');
  await listener.stop();
  await again.stop();
}, 60_000);

test('an impossible configuration ends the command at once with the reason', async () => {
  const run = (args: string[], token?: string) =>
    tatami(
      ['webhooks', 'listen', ...args, '--json'],
      env(hooks.app.url, token ?? hooks.app.workspace.apiKey),
    );
  expect((await run(['--forward-to', receiver.url], 'ttm_wrong_key')).code).toBe(4);
  expect((await run([])).code).toBe(2);
  expect((await run(['--forward-to', 'nowhere'])).code).toBe(2);
  expect((await run(['--forward-to', receiver.url, '--secret', 'short'])).code).toBe(2);
  const unknown = await run(['--forward-to', receiver.url, '--events', 'issue.exploded']);
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('issue.exploded')]);
  const narrow = await hooks.app.mintKey(['issues:read']);
  expect((await run(['--forward-to', receiver.url], narrow)).err).toContain('events:read');
}, 60_000);
