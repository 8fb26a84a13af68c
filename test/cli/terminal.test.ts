// Untrusted text reaches a terminal as plain text: no escape sequence, no reordered text, no line that imitates our
// output. The server manipulates every string that it can choose, and so do files and packages.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { printableJson } from '../../core/platform/lib/text/printable.ts';
import { sha256Hex } from '../../sdk/plugin/manifest.ts';
import type { Json } from '../app.ts';
import { collect, ended, spawnTatami, temporary } from './tatami.ts';

/** Sets a title, a color by C1, reverses the line, ends it in every possible way, and then imitates our output. */
const bad = 'x\u001b]0;owned\u0007\u009b31m\u202eback\u2066\u200f\u2028\u0085\u007f\r\nforged line\tend';
const controls = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const dir = temporary();
afterAll(() => dir[Symbol.dispose]());

const at = '2026-11-20T12:00:00.000Z';
const delivery = {
  id: 'dlv_1',
  webhookId: bad,
  eventId: bad,
  eventType: bad,
  origin: bad,
  status: 'retrying',
  attempts: 1,
  createdAt: bad,
  nextAttemptAt: bad,
  payload: bad,
  attemptList: [
    {
      number: 1,
      at: bad,
      latencyMs: 1,
      statusCode: null,
      error: bad,
      requestHeaders: { [bad]: bad },
      responseHeaders: { [bad]: bad },
      responseBody: bad,
      truncated: true,
    },
  ],
};
const run = {
  id: bad,
  handler: bad,
  status: 'dead',
  createdAt: bad,
  cpuMs: 1,
  effects: [
    { kind: bad, id: bad, action: 'update', values: { [bad]: { before: bad, after: [{ name: bad }] } } },
  ],
  logs: [{ level: bad, message: bad }],
  error: { code: bad, message: bad, stack: [bad] },
};
const change = { field: bad, from: bad, to: [{ name: bad }] };
const endpoint = { id: bad, url: bad, description: bad, events: [bad], ordering: bad, enabled: false };
const webhook = `whe_${'0'.repeat(26)}`;
const page = (data: unknown[]) => ({ data, pageInfo: { hasNextPage: false, endCursor: null } });

const answers: Record<string, unknown> = {
  'GET plugins': page([{ id: bad, pluginId: bad, pluginVersion: bad, state: bad, mode: bad }]),
  'POST plugins': { id: bad, pluginId: bad, pluginVersion: bad },
  'GET plugins/p/runs': page([run]),
  'POST plugins/p/schedules/s/run': run,
  'GET plugins/p': {
    ...{
      id: bad,
      pluginId: bad,
      pluginVersion: bad,
      description: bad,
      publisher: bad,
      pending: { version: bad },
    },
    ...{ mode: bad, modes: { [bad]: bad }, state: bad, stateReason: bad, probation: null, events: [bad] },
    scopes: [{ scope: bad, sentence: bad, granted: true }],
    secrets: [{ name: bad, setAt: null }],
  },
  'POST plugins/p/undo': {
    ...{ id: bad, undid: [bad], message: bad },
    changes: [
      { kind: bad, id: bad, issue: { id: bad, identifier: bad }, action: 'update', fields: [change] },
    ],
    skipped: [
      {
        kind: bad,
        id: bad,
        issue: null,
        field: bad,
        reason: bad,
        ranSet: bad,
        now: [bad],
        changedBy: { name: bad },
      },
    ],
  },
  'GET plugins/p/routes': { data: [{ name: bad, method: bad, auth: bad, url: bad }] },
  'GET plugins/p/scheduled': page([{ name: bad, dueAt: bad, data: { [bad]: bad } }]),
  'GET webhooks': page([{ ...endpoint, disabledReason: bad }]),
  'POST webhooks': { ...endpoint, secret: bad },
  [`POST webhooks/${webhook}/rotate`]: { id: bad, secret: bad, previousSecretExpiresAt: bad },
  [`POST webhooks/${webhook}/ping`]: delivery,
  [`POST webhooks/${webhook}/samples`]: delivery,
  'GET deliveries': page([delivery]),
  'GET deliveries/dlv_1': delivery,
  'POST deliveries/dlv_1/replay': delivery,
  [`POST webhooks/${webhook}/replays`]: { id: bad, webhookId: bad, status: 'canceled', deliveries: 1 },
  'POST events/samples': { listeners: 1, event: { id: bad } },
  'GET teams': page([{ key: 'A', name: bad }]),
  'GET labels': page([]),
  'GET issues': page([]),
};

let server: Bun.Server<undefined>;
beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      const key = `${request.method} ${new URL(request.url).pathname.replace('/api/v1/', '')}`;
      const known = answers[key];
      if (known !== undefined) return Response.json(known);
      const details = [{ path: bad, issue: bad, fix: bad }];
      return Response.json({ error: { code: bad, message: bad, details } }, { status: 422 });
    },
  });
});
afterAll(() => server.stop(true));

const tatami = (...args: string[]) =>
  ended(spawnTatami(args, { TATAMI_SERVER: server.url.origin, TATAMI_TOKEN: 'ttm_x' }));

/** Checks the complete terminal output. */
function expectHarmless(out: string, err: string): void {
  for (const text of [out, err]) {
    expect(controls.exec(text)).toBeNull();
    expect(text.split('\n').filter((line) => line.startsWith('forged'))).toEqual([]);
  }
}

async function hostilePackage(): Promise<string> {
  const code = 'export default {};';
  const manifest = {
    id: 'a.b',
    version: '1.0.0',
    engines: { tatami: '*' },
    scopes: { 'issues:read': { why: bad } },
    on: { 'issue.created': {} },
    handlers: ['event:issue.created'],
  };
  const file = dir.path('hostile.json');
  const sha256 = await sha256Hex(code);
  writeFileSync(file, JSON.stringify({ format: 'tatami-plugin/1', manifest, code, sha256 }));
  return file;
}

describe('every command that prints server data sanitizes it', () => {
  const commands: string[][] = [
    ['plugins', 'list'],
    ['plugins', 'logs', 'p'],
    ['plugins', 'logs', 'unknown'],
    ['plugins', 'run-schedule', 'p', 's'],
    ['plugins', 'run-schedule', 'unknown', 's'],
    ['plugins', 'show', 'p'],
    ['plugins', 'undo', 'p', '--since', '2h', '--dry-run'],
    ['plugins', 'routes', 'p'],
    ['plugins', 'scheduled', 'p'],
    ['webhooks', 'list'],
    ['webhooks', 'create', '--url', 'http://a.test', '--events', '*'],
    ['webhooks', 'rotate', webhook],
    ['webhooks', 'ping', webhook],
    ['webhooks', 'trigger', 'issue.created'],
    ['webhooks', 'trigger', 'issue.created', '--webhook', webhook],
    ['webhooks', 'trigger', 'issue.created', '--webhook', `whe_${'1'.repeat(26)}`],
    ['deliveries', 'list'],
    ['deliveries', 'show', 'dlv_1'],
    ['deliveries', 'replay', 'dlv_1'],
    ['webhooks', 'replay', webhook, '--since', '2h'],
  ];
  for (const args of commands) {
    test(`tatami ${args.join(' ')}`, async () => {
      const { out, err } = await tatami(...args);
      expect(out + err).toContain('\\u001b]0;owned');
      expectHarmless(out, err);
      const asJson = await tatami(...args, '--json');
      expectHarmless(asJson.out, asJson.err);
      expect(JSON.stringify(asJson.json)).toContain(JSON.stringify(bad).slice(1, -1));
    });
  }
});

test('the self-description of a package is sanitized before consent', async () => {
  const { out, err } = await tatami('plugin', 'install', await hostilePackage(), '--yes');
  expect(out + err).not.toBe('');
  expectHarmless(out, err);
});

test("text of an imported file, and the server's responses to it, are sanitized", async () => {
  const quoted = `"${bad}"`;
  writeFileSync(
    dir.path('rows.csv'),
    `repo,created_at,label,title,body\n${quoted},1,${quoted},${quoted},${quoted}\n`,
  );
  writeFileSync(dir.path('header.csv'), `repo,${quoted}\n`);
  for (const file of ['rows.csv', 'header.csv']) {
    const { code, out, err } = await tatami('import', dir.path(file));
    expect(code).toBe(1);
    expect(err).toContain('\\u001b]0;owned');
    expectHarmless(out, err);
  }
});

test("the user's own arguments are sanitized in errors", async () => {
  for (const args of [
    [bad],
    ['version', `--${bad}`],
    ['plugins', 'logs', 'p', '--limit', bad],
    ['import', bad],
  ]) {
    const { code, out, err } = await tatami(...args);
    expect(code).toBeGreaterThan(0);
    expect(controls.exec(out + err)).toBeNull();
  }
});

test('an event that `listen` forwards is sanitized', async () => {
  using stream = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      if (!request.url.includes('/events/stream')) return Response.json({ id: 'wsp_1' });
      const event = { id: bad, type: bad, sequence: 7, createdAt: at, data: { title: bad } };
      const text = `id: 7\nevent: issue.created\ndata: ${JSON.stringify(event)}\n\n`;
      return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const child = spawnTatami(['webhooks', 'listen', '--forward-to', 'http://127.0.0.1:9'], {
    TATAMI_SERVER: stream.url.origin,
    TATAMI_TOKEN: 'ttm_x',
    XDG_STATE_HOME: dir.path('state'),
  });
  const output = collect(child.stdout);
  const errors = collect(child.stderr);
  await output.until((text) => text.includes('owned'));
  child.kill('SIGTERM');
  await child.exited;
  expectHarmless(output.text(), errors.text());
});

test('JSON contains the same value with the characters escaped', () => {
  const text = printableJson({ [bad]: [bad] });
  expect(controls.exec(text)).toBeNull();
  expect(JSON.parse(text) as Json).toEqual({ [bad]: [bad] });
});
