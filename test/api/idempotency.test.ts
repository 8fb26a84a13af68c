// Idempotency keys (docs/spec/api.md › Idempotency): one effect per key under repetition, concurrency and restarts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApp, type Reply, type TestApp } from '../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const create = (key: string, title = 'Keyed', call = app.call): Promise<Reply> =>
  call('POST', '/api/v1/issues', { team: 'ENG', title }, { 'idempotency-key': key });
const count = async (): Promise<number> =>
  (await app.call('GET', '/api/v1/issues?limit=100&fields=id')).json.data.length;

test('a repeated request gets the first response and has no second effect', async () => {
  const from = await app.lastSequence();
  const first = await create('one');
  const again = await create('one');
  expect(again.status).toBe(201);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([
    null,
    'true',
  ]);
  expect((await create('"one"')).text).toBe(first.text);
  expect(await app.eventTypes(from)).toEqual(['issue.created']);
  const bulk = (): Promise<Reply> =>
    app.call(
      'POST',
      '/api/v1/issues/bulk',
      {
        issues: [
          { team: 'ENG', title: 'a' },
          { team: 'ENG', title: 'b' },
        ],
      },
      { 'idempotency-key': 'bulk' },
    );
  expect((await bulk()).text).toBe((await bulk()).text);
});

test('another body under the same key is answered with 422, and the same key of another token or path is independent', async () => {
  const first = await create('two');
  expect(await create('two', 'Other')).toMatchObject({
    status: 422,
    json: { error: { code: 'idempotency_key_reused' } },
  });
  const other = await create('two', 'Keyed', app.clientOf(await app.mintKey(['issues:write'])));
  expect(other.json.id).not.toBe(first.json.id);
  expect(
    (await app.call('POST', '/api/v1/labels', { name: 'two' }, { 'idempotency-key': 'two' })).status,
  ).toBe(201);
  for (const key of ['', 'x'.repeat(256)]) expect((await create(key === '' ? '""' : key)).status).toBe(422);
  expect((await create('x'.repeat(255))).status).toBe(201);
});

test('a hundred concurrent requests create one issue and one event; the others get its response or 409', async () => {
  for (let round = 0; round < (process.env.TATAMI_LONG ? 200 : 10); round++) {
    const [before, from] = [await count(), await app.lastSequence()];
    const replies = await Promise.all(Array.from({ length: 100 }, () => create(`race ${round}`)));
    const created = replies.filter(({ status }) => status === 201);
    for (const reply of replies) expect([201, 409]).toContain(reply.status);
    for (const reply of replies.filter(({ status }) => status === 409))
      expect(reply.json.error.code).toBe('idempotency_in_progress');
    expect(new Set(created.map(({ text }) => text)).size).toBe(1);
    expect(await count()).toBe(Math.min(100, before + 1));
    expect(await app.eventTypes(from)).toEqual(['issue.created']);
    for (const reply of created) await app.call('DELETE', `/api/v1/issues/${reply.json.id}`);
  }
});

test('a refused request does not use up its key', async () => {
  expect(
    (await app.call('POST', '/api/v1/issues', { team: 'NOPE', title: 'x' }, { 'idempotency-key': 'free' }))
      .status,
  ).toBe(422);
  expect((await create('free')).status).toBe(201);
});

test('updates without changes, deletions and actions can be repeated under their keys', async () => {
  const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Repeated' })).json;
  const path = `/api/v1/issues/${id}`;
  const from = await app.lastSequence();
  const steps: [method: string, path: string, body: object | undefined, status: number][] = [
    ['PATCH', path, { title: 'Repeated' }, 200],
    ['PATCH', `${path}?`, { priority: 'high' }, 200],
    ['POST', `${path}/comments`, { body: 'Once' }, 201],
    ['DELETE', path, undefined, 204],
    ['POST', `${path}/restore`, undefined, 200],
  ];
  for (const [at, [method, to, body, status]] of steps.entries()) {
    const headers = { 'idempotency-key': `step ${at}` };
    const [first, again] = [
      await app.call(method, to, body, headers),
      await app.call(method, to, body, headers),
    ];
    expect([method, to, first.status, again.status, again.text]).toEqual([
      method,
      to,
      status,
      status,
      first.text,
    ]);
    for (const name of ['etag', 'location', 'content-type'])
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  }
  expect(await app.eventTypes(from)).toEqual([
    'issue.updated',
    'comment.added',
    'issue.deleted',
    'issue.restored',
  ]);
});

test('a simulated or failed write does not use up its key', async () => {
  const headers = { 'idempotency-key': 'rehearsed' };
  const body = { team: 'ENG', title: 'Rehearsed' };
  const simulated = await app.call('POST', '/api/v1/issues', body, { ...headers, 'tatami-mode': 'simulate' });
  expect([simulated.status, simulated.json.identifier]).toEqual([201, null]);
  const { store } = app.services;
  const { commit } = store;
  store.commit = () => Promise.reject(new Error('made by the test'));
  expect((await app.call('POST', '/api/v1/issues', body, headers)).status).toBe(500);
  store.commit = commit;
  const real = await app.call('POST', '/api/v1/issues', body, headers);
  expect([real.status, real.headers.get('idempotent-replayed')]).toEqual([201, null]);
  expect((await app.call('POST', '/api/v1/issues', body, headers)).text).toBe(real.text);
});

test('a key is valid for 24 hours across restarts, and stored responses with secrets are encrypted', async () => {
  const own = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  const mint = (): Promise<Reply> =>
    own.call(
      'POST',
      '/api/v1/api-keys',
      { name: 'k', scopes: ['issues:read'] },
      { 'idempotency-key': 'secret' },
    );
  const first = await mint();
  const restarted = await own.restart();
  const again = await restarted.call(
    'POST',
    '/api/v1/api-keys',
    { name: 'k', scopes: ['issues:read'] },
    { 'idempotency-key': 'secret' },
  );
  expect(again.text).toBe(first.text);
  const hook = (call = restarted.call): Promise<Reply> =>
    call(
      'POST',
      '/api/v1/webhooks',
      { url: 'http://127.0.0.1:9/', events: ['issue.deleted'] },
      { 'idempotency-key': 'hook' },
    );
  const registered = await hook();
  expect((await hook()).text).toBe(registered.text);
  const signing: string = registered.json.secret;
  const secret: string = first.json.key;
  for (const name of readdirSync(restarted.dataDir).filter((one) => !one.endsWith('.sock'))) {
    const content = readFileSync(join(restarted.dataDir, name)).toString('latin1');
    expect([
      name,
      content.includes(secret),
      content.includes(secret.slice(-30)),
      content.includes(signing.slice(6)),
    ]).toEqual([name, false, false, false]);
  }
  restarted.clock.advance(24 * 3_600_000);
  const later = await restarted.call(
    'POST',
    '/api/v1/api-keys',
    { name: 'k', scopes: ['issues:read'] },
    { 'idempotency-key': 'secret' },
  );
  expect(later.json.id).not.toBe(first.json.id);
  await restarted.stop();
});
