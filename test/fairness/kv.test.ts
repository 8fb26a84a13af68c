// Stored values of plugins: the quota counts everything, and deletion removes all data.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { createClient } from '@libsql/client';
import { startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';

let app: TestApp;
beforeEach(async () => void (app = await startApp()));
afterEach(() => app.stop());

async function sql(text: string): Promise<Json[]> {
  const db = createClient({ url: `file:${join(app.dataDir, 'tatami.db')}` });
  const { rows } = await db.execute(text);
  db.close();
  return rows.map((row) => ({ ...row }));
}

/** A plugin that runs this code for each issue and succeeds. */
const plugin = async (id: string, body: string) =>
  install(
    app.call,
    await packSource(`{ id: '${id}', version: '1.0.0', engines: { tatami: '*' }, limits: { cpuMs: 1000, memoryMb: 128 },
      scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { handle: async (event, ctx) => { ${body} } } } }`),
  );
const file = () => app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' });
const value = async (id: string, key: string): Promise<Json> =>
  (await app.call('GET', `/api/v1/plugins/${id}/kv/${key}`)).json.value;

test('staged values count: of ninety values of 110,000 characters, those over the limit are refused with its name', async () => {
  await plugin(
    'test.hoard',
    `let refused = [];
     for (let n = 0; n < 90; n++)
       await ctx.kv.set('k' + n, 'x'.repeat(110_000)).catch((error) => refused.push(error.code + ': ' + error.message));
     await ctx.log.info(JSON.stringify([refused.length, refused[0]]));`,
  );
  await file();
  await app.settled();
  const [run] = (await app.call('GET', '/api/v1/plugins/test.hoard/runs')).json.data;
  expect(run.status).toBe('succeeded');
  const [refused, first] = JSON.parse(run.logs[0].message);
  expect(refused).toBeGreaterThan(5);
  expect(first).toMatch(/^quota_exceeded: A run may write at most 8388608 characters/);
});

test('the quota counts keys and applies across runs; a deleted value frees its space, and its versions are not reused', async () => {
  await plugin('test.fill', 'void 0;');
  const put = (key: string, text: string, headers = {}) =>
    app.call('PUT', `/api/v1/plugins/test.fill/kv/${key}`, { value: text }, headers);
  const one = await put('one', 'first');
  expect(one.json.version).toBe(1);
  expect((await put('one', 'second')).json.version).toBe(2);
  expect((await app.call('DELETE', '/api/v1/plugins/test.fill/kv/one')).status).toBe(204);
  expect(await sql('SELECT * FROM plugin_kv')).toEqual([]);
  expect((await sql('SELECT bytes, keys FROM plugin_kv_usage'))[0]).toEqual({ bytes: 0, keys: 0 });
  const again = await put('one', 'third');
  expect(again.json.version).toBe(3);
  expect((await put('one', 'fourth', { 'if-match': one.headers.get('etag')! })).status).toBe(412);

  const statuses: number[] = [];
  for (let n = 0; n < 9; n++) statuses.push((await put(`big${n}`, 'x'.repeat(2_000_000))).status);
  expect(statuses).toEqual([...Array<number>(8).fill(200), 422]);
  const [used] = await sql('SELECT bytes, keys FROM plugin_kv_usage');
  const [stored] = await sql(
    'SELECT sum(bytes + 100 + length(key)) AS bytes, count(*) AS keys FROM plugin_kv',
  );
  expect(used).toEqual(stored!);
});

test('concurrent runs cannot exceed the quota together', async () => {
  await plugin('test.race', 'void 0;');
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      app.call('PUT', `/api/v1/plugins/test.race/kv/k${n}`, { value: 'x'.repeat(2_000_000) }),
    ),
  );
  expect(replies.filter(({ status }) => status === 200).length).toBe(8);
  expect((await sql('SELECT bytes FROM plugin_kv_usage'))[0]!.bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
});

test('a removed plugin leaves no value and no code behind', async () => {
  const { id } = await plugin('test.leaver', `await ctx.kv.set('kept', 'x'.repeat(100_000));`);
  await plugin('test.stayer', `await ctx.kv.set('kept', 1);`);
  await file();
  await app.settled();
  expect((await app.call('DELETE', `/api/v1/plugins/${id}`)).status).toBe(204);
  const left = async () =>
    (
      await sql(
        'SELECT (SELECT count(*) FROM plugin_kv) AS rows, (SELECT count(*) FROM plugin_kv_usage) AS usage, (SELECT count(*) FROM plugin_code) AS code',
      )
    )[0];
  expect(await left()).toEqual({ rows: 2, usage: 2, code: 2 });
  for (let rounds = 0; (await left())?.code !== 1 && rounds < 500; rounds++) {
    app.clock.advance(600_000);
    await app.call('GET', '/healthz');
  }
  expect(await left()).toEqual({ rows: 1, usage: 1, code: 1 });
  await file();
  await app.settled();
  expect(await value('test.stayer', 'kept')).toBe(1);
});

test('compareAndSet ignores the key order of objects, but not the order of lists', async () => {
  await plugin(
    'test.cas-order',
    `const [was, same] = [{ a: 1, b: { c: 2, d: [3, 4] } }, { b: { d: [3, 4], c: 2 }, a: 1 }];
     const seen = [];
     seen.push(await ctx.kv.compareAndSet('stored', { b: { d: [4, 3], c: 2 }, a: 1 }, 'never'));
     seen.push(await ctx.kv.compareAndSet('stored', { b: { d: [3, 4], c: 1 }, a: 2 }, 'never'));
     seen.push(await ctx.kv.compareAndSet('stored', same, was));
     seen.push(await ctx.kv.compareAndSet('stored', same, 'new'));
     await ctx.kv.set('seen', seen);`,
  );
  const stored = { a: 1, b: { c: 2, d: [3, 4] } };
  await app.call('PUT', '/api/v1/plugins/test.cas-order/kv/stored', { value: stored });
  await file();
  await app.settled();
  expect(await value('test.cas-order', 'seen')).toEqual([false, false, true, true]);
  expect(await value('test.cas-order', 'stored')).toBe('new');
});

test('compareAndSet compares values, not their notation, for stored and for staged values', async () => {
  await plugin(
    'test.cas',
    `const seen = [];
     seen.push(await ctx.kv.compareAndSet('a', null, { n: 1, t: 'é' }));
     seen.push(await ctx.kv.compareAndSet('a', { n: 1, t: 'é' }, 2), await ctx.kv.compareAndSet('a', 3, 4));
     await ctx.kv.delete('a');
     seen.push(await ctx.kv.compareAndSet('a', 2, 5), await ctx.kv.compareAndSet('a', null, [6]));
     seen.push(await ctx.kv.compareAndSet('stored', { n: 1, t: 'é' }, 'new'), await ctx.kv.compareAndSet('stored', { n: 1 }, 'never'));
     await ctx.kv.set('seen', seen);`,
  );
  await app.call('PUT', '/api/v1/plugins/test.cas/kv/stored', { value: { n: 1, t: 'é' } });
  await file();
  await app.settled();
  expect(await value('test.cas', 'seen')).toEqual([true, true, false, false, true, true, false]);
  expect(await value('test.cas', 'a')).toEqual([6]);
  expect(await value('test.cas', 'stored')).toBe('new');
});
