// Quotas under concurrency: of parallel requests exactly those that fit are admitted, on every path.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { installBytesMax, valueBytesMax } from '../../core/features/plugins/kv/entries.ts';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';

const v1 = '/api/v1';
const mib = 1024 * 1024;
const webhooksMax = 100;
let app: TestApp;
beforeAll(async () => {
  app = await startApp({
    flags: { fileSize: '1', fileQuota: '3' },
    resolve: async () => [{ address: '93.184.215.14', family: 4 }],
  });
});
afterAll(() => app.stop());

const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  app.call(method, v1 + path, body);
const statusesOf = (replies: readonly { readonly status: number }[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of replies) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};
const times = <T>(count: number, make: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => make(n)));

test('parallel registrations and activations never exceed the quota of enabled webhooks', async () => {
  const register = (n: number): Promise<Reply> =>
    call('POST', '/webhooks', { url: `https://hooks.example/${n}`, events: ['issue.created'] });
  const [first, ...others] = (await times(12, register)).map(({ json }) => json as Json);
  const off = [first, ...others.slice(0, 5)];
  for (const { id } of off) await call('PATCH', `/webhooks/${id}`, { enabled: false });
  expect(statusesOf(await times(webhooksMax - 8, (n) => register(n + 100)))).toEqual({
    201: webhooksMax - 8,
  });
  const after = await app.lastSequence();
  // Two slots are left.
  const racing = await Promise.all([
    ...off.map(({ id }) => call('PATCH', `/webhooks/${id}`, { enabled: true })),
    times(6, (n) => register(n + 300)),
  ]);
  const replies = racing.flat();
  expect(replies.filter(({ status }) => status < 300)).toHaveLength(2);
  expect(replies.filter(({ status }) => status === 409)).toHaveLength(10);
  const enabled: Json[] = [];
  for (let cursor = ''; ;) {
    const { json } = await call('GET', `/webhooks?limit=100${cursor}`);
    enabled.push(...json.data.filter((one: Json) => one.enabled));
    if (!json.pageInfo.hasNextPage) break;
    cursor = `&cursor=${encodeURIComponent(json.pageInfo.endCursor)}`;
  }
  expect(enabled).toHaveLength(webhooksMax);
  expect(await app.eventTypes(after)).toHaveLength(2);
});

test('parallel uploads never exceed the storage quota of the workspace', async () => {
  const { json: issue } = await call('POST', '/issues', { team: 'ENG', title: 'With files' });
  const replies = await times(8, async (n) =>
    fetch(`${app.url}${v1}/issues/${issue.id}/attachments/upload?name=${n}.txt`, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.workspace.apiKey}`, 'content-type': 'text/plain' },
      body: new Uint8Array(mib).fill(n + 1),
    }),
  );
  const stored = replies.filter(({ status }) => status === 201);
  expect(stored).toHaveLength(3);
  expect(replies.filter(({ status }) => status === 422 || status === 429)).toHaveLength(5);
  const { json } = await call('GET', `/issues/${issue.id}/attachments`);
  expect(json.data.map(({ bytes }: Json) => bytes)).toEqual([mib, mib, mib]);
});

test('parallel writes never exceed the storage quota of a plugin', async () => {
  const { id } = await install(
    app.call,
    await packSource(
      `{ id: 'test.hoarder', version: '1.0.0', engines: { tatami: '*' }, on: { 'label.created': { handle() {} } }, scopes: { 'labels:read': { why: 'test' } } }`,
    ),
  );
  const value = 'x'.repeat(valueBytesMax - 2);
  const set = (key: string): Promise<Reply> => call('PUT', `/plugins/${id}/kv/${key}`, { value });
  const fit = Math.floor(installBytesMax / (valueBytesMax + 10));
  for (let n = 0; n < fit - 2; n += 8)
    await times(Math.min(8, fit - 2 - n), (m) => set(`k${String(n + m).padStart(5, '0')}`));
  const replies = await times(8, (n) => set(`racing-${n}`));
  const { json } = await call('GET', `/plugins/${id}/kv?limit=100&prefix=racing`);
  const stored = replies.filter(({ status }) => status < 300).length;
  expect([stored, json.data.length]).toEqual([2, 2]);
  expect(replies.filter(({ status }) => status === 422)).toHaveLength(6);
});
