// An idempotency key stores little, regardless of the response size, and the repeated request gets the identical
// response.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createClient } from '@libsql/client';
import { startApp, type Reply, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  await install(
    app.call,
    await packSource(
      `{ id: 'test.keeper', version: '1.0.0', engines: { tatami: '*' },
        scopes: { 'labels:read': { why: 'test' } }, on: { 'label.created': { handle() {} } } }`,
    ),
  );
});
afterAll(() => app.stop());

/** Bytes that idempotency keys store of responses. */
async function storedBytes(): Promise<number> {
  const db = createClient({ url: `file:${join(app.dataDir, 'tatami.db')}` });
  const { rows } = await db.execute(
    "SELECT sum(length(body) + length(headers_json) + length(coalesce(recall_json, ''))) AS n FROM idempotency",
  );
  db.close();
  return Number(rows[0]!.n ?? 0);
}

let keys = 0;
const keyed = (method: string, path: string, body: unknown, key = `key-${++keys}`): Promise<Reply> =>
  app.call(method, `/api/v1${path}`, body, { 'idempotency-key': key });

const long = (letter: string): string => `${letter} "quoted" \u2028 😀 `.repeat(8_000);

/** @returns the response to the repeated request, which equals the first one */
async function isRepeated(send: (key: string) => Promise<Reply>, meanwhile: () => Promise<unknown>) {
  const key = `key-${++keys}`;
  const before = await storedBytes();
  const first = await send(key);
  const growth = (await storedBytes()) - before;
  await meanwhile();
  const again = await send(key);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect([again.status, again.headers.get('etag')]).toEqual([first.status, first.headers.get('etag')]);
  expect(again.text === first.text).toBe(true);
  return growth;
}

test('a creation, an update of another object, an update without changes, and concurrent writes are replayed identically', async () => {
  const description = long('a');
  const { json: other } = await keyed('POST', '/issues', { team: 'ENG', title: 'other', description });
  const { json: third } = await keyed('POST', '/issues', { team: 'ENG', title: 'x', description: long('p') });
  await app.call('PATCH', `/api/v1/issues/${third.id}`, { description: long('q') });
  const moved = (id: string) => () =>
    app.call('PATCH', `/api/v1/issues/${id}`, { title: 'moved', description: long('z') });
  let id = '';
  const sends: ((key: string) => Promise<Reply>)[] = [
    async (key) => {
      const reply = await keyed('POST', '/issues', { team: 'ENG', title: 'one', description }, key);
      id = reply.json.id;
      return reply;
    },
    (key) => keyed('PATCH', `/issues/${other.id}`, { title: 'renamed' }, key),
    (key) => keyed('PATCH', `/issues/${third.id}`, { priority: 'none' }, key),
    (key) => keyed('PATCH', `/issues/${other.id}`, { description: long('b') }, key),
    (key) =>
      keyed(
        'POST',
        '/issues/bulk',
        { issues: ['x', 'y'].map((title) => ({ team: 'ENG', title, description: long(title) })) },
        key,
      ),
  ];
  for (const [index, send] of sends.entries()) {
    const growth = await isRepeated(send, async () => {
      await moved(index === 0 ? id : index === 2 ? third.id : other.id)();
    });
    expect([index, growth > 0, growth < 6_000]).toEqual([index, true, true]);
    await app.call('PATCH', `/api/v1/issues/${other.id}`, { title: 'other', description });
  }
});

test('repeated keyed writes of two megabytes store little', async () => {
  const before = await storedBytes();
  const value = { text: 'v'.repeat(1_900_000) };
  const growth = await isRepeated(
    (key) => keyed('PUT', '/plugins/test.keeper/kv/big', { value }, key),
    () => app.call('PUT', '/api/v1/plugins/test.keeper/kv/big', { value: 1 }),
  );
  expect(growth).toBeLessThan(1_000);
  for (let round = 0; round < 10; round++)
    expect(
      (await keyed('PUT', '/plugins/test.keeper/kv/big', { value: `${round}`.padEnd(1_900_000) })).status,
    ).toBe(200);
  const grown = (await storedBytes()) - before;
  console.log(`eleven keyed writes of 1.9 MB store ${grown} bytes of their responses`);
  expect(grown).toBeLessThan(11_000);
});

test('responses about comments are replayed, also after a restart', async () => {
  const { json: issue } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'commented' });
  const send = () =>
    keyed('POST', `/issues/${issue.id}/comments`, { body: long('c').slice(0, 15_000) }, 'comment');
  const before = await storedBytes();
  const first = await send();
  expect(first.status).toBe(201);
  expect((await storedBytes()) - before).toBeLessThan(6_000);
  app = await app.restart();
  expect((await send()).text === first.text).toBe(true);
});
