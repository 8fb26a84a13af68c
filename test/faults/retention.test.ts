// Every table has a bound: deleted objects are removed completely, expired rows are removed beside requests, and the
// file shrinks.
import { afterEach, expect, test } from 'bun:test';
import Database from 'libsql';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../core/app/config/config.ts';
import { replay } from '../../core/app/doctor/replay.ts';
import { openSubject } from '../../core/app/doctor/subject.ts';
import { createHousekeeping } from '../../core/app/housekeeping/housekeeping.ts';
import { firstIdOf } from '../../core/platform/lib/ids.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { insertPlaceholderRow } from './placeholder-row.ts';

const day = 86_400_000;
const apps: TestApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.stop();
});

async function start(): Promise<TestApp> {
  // The server has its own housekeeping, which runs with the clock.
  const forever = { keepDeleted: 'forever', keepDeliveries: 'forever', keepSnapshots: 'forever' };
  const app = await startApp({ flags: forever });
  apps.push(app);
  return app;
}

/** Uses a separate connection, which is closed after the query. */
function ask<T>(app: TestApp, work: (db: InstanceType<typeof Database>) => T): T {
  const db = new Database(join(app.dataDir, 'tatami.db'));
  try {
    return work(db);
  } finally {
    db.close();
  }
}

const count = (app: TestApp, table: string, where = '1'): number =>
  ask(app, (db) =>
    Number((db.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${where}`).all()[0] as { n: number }).n),
  );

const retentionDays = {
  runs: 14,
  recordings: 14,
  undo: 30,
  deliveries: 30,
  deleted: 90,
  events: null,
  snapshots: 90,
};

/** Runs one pass immediately. */
async function sweep(app: TestApp, days: Partial<typeof retentionDays> = {}): Promise<void> {
  const { store, log, blobs } = app.services;
  const snapshots = join(app.dataDir, 'snapshots');
  const all = { ...retentionDays, ...days };
  await createHousekeeping({ store, log, clock: app.clock, retention: all, blobs, snapshots }).sweep();
  // Removed rows do not count as lost.
  const subject = openSubject(readConfig({ dataDir: app.dataDir }, {}), app.clock.now());
  const findings = replay.look(subject);
  subject.close();
  expect(findings.filter(({ message }) => message.startsWith('Missing'))).toEqual([]);
}

test('a deleted object is removed with all its data; existing objects keep their references', async () => {
  const app = await start();
  const make = async (path: string, body: object): Promise<string> =>
    (await app.call('POST', `/api/v1/${path}`, body)).json.id;
  const issue = (more: object = {}) => make('issues', { team: 'ENG', title: 'x', ...more });
  const label = await make('labels', { name: 'gone' });
  const parent = await issue();
  const child = await issue({ parentId: parent });
  const alone = await issue({ labels: ['gone'] });
  const living = await issue({ labels: ['gone'] });
  const said = await make(`issues/${alone}/comments`, { body: 'hello' });
  await make(`issues/${alone}/comments`, { body: 'again', parentId: said });
  const question = await make(`issues/${living}/comments`, { body: 'hello' });
  await make(`issues/${living}/comments`, { body: 'again', parentId: question });
  const lonely = await make(`issues/${living}/comments`, { body: 'alone' });
  for (const path of [
    `issues/${parent}`,
    `issues/${alone}`,
    `labels/${label}`,
    `comments/${question}`,
    `comments/${lonely}`,
  ])
    expect((await app.call('DELETE', `/api/v1/${path}`)).status).toBeLessThan(300);
  const current = (await app.call('GET', `/api/v1/issues/${living}`)).json;
  const events = await app.lastSequence();
  // Search entries are removed at once: two issues and a reply remain. A search first indexes pending texts.
  expect((await app.call('GET', '/api/v1/search?q=again')).json.data).toHaveLength(1);
  expect([count(app, 'search_documents'), count(app, 'search_index_docsize')]).toEqual([3, 3]);

  app.clock.advance(89 * day);
  await sweep(app);
  expect([count(app, 'issues'), count(app, 'comments')]).toEqual([4, 5]);
  expect((await app.call('POST', `/api/v1/issues/${alone}/restore`)).status).toBe(200);
  await app.call('DELETE', `/api/v1/issues/${alone}`);

  const swept = (await app.call('GET', '/api/v1/issues?deleted=only')).json.data.find(
    ({ id }: Json) => id === alone,
  );
  app.clock.advance(91 * day);
  await sweep(app);
  const asItWas = await app.call('GET', `/api/v1/issues/${swept.identifier}?asOf=${events + 1}`);
  expect([asItWas.status, asItWas.json.id]).toEqual([200, alone]);
  // The parent has an existing sub-issue, and the comment a reply.
  expect(ask(app, (db) => db.prepare('SELECT id FROM issues ORDER BY id').raw(true).all()).flat()).toEqual(
    [parent, child, living].sort(),
  );
  expect([count(app, 'comments'), count(app, 'issue_labels'), count(app, 'labels', "name = 'gone'")]).toEqual(
    [2, 0, 0],
  );
  expect((await app.call('GET', `/api/v1/issues/${living}`)).json).toEqual(current);
  expect((await app.call('GET', `/api/v1/issues/${alone}`)).status).toBe(404);
  expect((await app.call('POST', `/api/v1/issues/${alone}/restore`)).status).toBe(404);
  expect(await app.lastSequence()).toBe(events + 2);

  await app.call('DELETE', `/api/v1/issues/${child}`);
  app.clock.advance(91 * day);
  await sweep(app, { deleted: 365 });
  expect(count(app, 'issues')).toBe(3);
  await sweep(app);
  expect(count(app, 'issues')).toBe(1);
  expect(ask(app, (db) => db.prepare('PRAGMA foreign_key_check').all())).toEqual([]);
});

test('a purged issue leaves no row behind in any table', async () => {
  const app = await start();
  const { json: issue } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' });
  const { workspaceId: workspace_id } = app.workspace;
  // History and identifiers stay, and search entries end with the deletion, as shown above.
  const tables = ask(app, (db) =>
    db
      .prepare(
        `SELECT t.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
         WHERE t.schema = 'main' AND t.type = 'table' AND c.name = 'issue_id'
           AND t.name NOT IN ('events', 'search_documents', 'former_identifiers')`,
      )
      .all(),
  ) as { name: string }[];
  const left = () => tables.filter(({ name }) => count(app, name, `issue_id = '${issue.id}'`) > 0);
  ask(app, (db) => {
    for (const { name } of tables)
      insertPlaceholderRow(db, name, { workspace_id, issue_id: issue.id, parent_id: null });
  });
  expect(left()).toEqual(tables);
  await app.call('DELETE', `/api/v1/issues/${issue.id}`);
  app.clock.advance(91 * day);
  await sweep(app);
  expect([count(app, 'issues'), left()]).toEqual([0, []]);
});

test('removed webhooks, plugins and keys leave nothing once their deliveries and runs are removed', async () => {
  const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const forever = { keepDeleted: 'forever', keepDeliveries: 'forever', keepRuns: 'forever' };
  const app = await startApp({ flags: { ...forever, egressAllow: '127.0.0.0/8' } });
  apps.push(app);
  const hook = { url: `http://127.0.0.1:${receiver.port}/`, events: ['issue.created'] };
  const endpoint = (await app.call('POST', '/api/v1/webhooks', hook)).json.id;
  const plugin = await install(
    app.call,
    await packSource(
      `{ id: 'com.test.gone', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
         on: { 'issue.created': { async handle(_, { kv }) { await kv.set('a', 1); } } } }`,
    ),
  );
  const key = (await app.call('POST', '/api/v1/api-keys', { name: 'k', scopes: ['issues:read'] })).json.id;
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' });
  await app.settled();
  for (const path of [`webhooks/${endpoint}`, `plugins/${plugin.id}`, `api-keys/${key}`])
    expect((await app.call('DELETE', `/api/v1/${path}`)).status).toBe(204);
  const left = (): number[] =>
    [
      'endpoints',
      'endpoint_health',
      'plugins',
      'plugin_kv',
      'plugin_kv_usage',
      'plugin_code',
      'plugin_backfills',
    ].map((table) => count(app, table));
  expect(left().slice(0, 3)).toEqual([1, 1, 1]);
  app.clock.advance(91 * day);
  // The endpoint exists as long as its deliveries can be read.
  await sweep(app, { deliveries: 365, runs: 365 });
  expect([left().slice(0, 3), count(app, 'api_keys')]).toEqual([[1, 1, 1], 1]);
  await sweep(app);
  await sweep(app);
  expect(left()).toEqual([0, 0, 0, 0, 0, 0, 0]);
  await receiver.stop(true);
});

test('old snapshots are removed, except the newest', async () => {
  const app = await start();
  const snapshots = join(app.dataDir, 'snapshots');
  const files = ['schema-3-2026-01-01T000000.000Z.db', 'schema-5-2026-02-01T000000.000Z.db'].map((name) =>
    join(snapshots, name),
  );
  const { makePrivateDir } = await import('../../core/platform/store/files/private.ts');
  makePrivateDir(snapshots);
  for (const file of [...files, join(snapshots, 'mine.db')]) writeFileSync(file, 'x');
  await sweep(app);
  expect(files.map((file) => existsSync(file))).toEqual([false, true]);
  expect(existsSync(join(snapshots, 'mine.db'))).toBe(true);
});

const many = process.env.TATAMI_LONG ? 50_000 : 4_000;

test(`${many} expired deliveries are removed in one pass beside requests, and their space is returned to the disk`, async () => {
  const app = await start();
  const old = app.clock.nowMs() - 31 * day;
  fillWithDeliveries(app, old);
  const file = join(app.dataDir, 'tatami.db');
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' });
  const full = ask(app, (db) =>
    Number((db.prepare('PRAGMA page_count').all()[0] as { page_count: number }).page_count),
  );
  const alone = await latencies(app, 100);
  let swept = false;
  const startedMs = performance.now();
  const sweeping = sweep(app).then(() => (swept = true));
  const beside: number[] = [];
  while (!swept) beside.push(...(await latencies(app, 5)));
  await sweeping;
  const tookMs = performance.now() - startedMs;
  expect([count(app, 'deliveries'), count(app, 'attempts')]).toEqual([1, 1]);
  const p = (all: number[], fraction: number): number =>
    all.toSorted((a, b) => a - b)[Math.floor(all.length * fraction)]!;
  if (process.env.TATAMI_LONG)
    console.log(
      `${many} deliveries removed in ${Math.round(tookMs)} ms; a write beside takes p50 ${p(beside, 0.5).toFixed(1)}, p99 ${p(beside, 0.99).toFixed(1)} ms, without ${p(alone, 0.5).toFixed(1)} and ${p(alone, 0.99).toFixed(1)}`,
    );
  expect(tookMs).toBeLessThan(60_000);
  expect(statSync(file).size).toBeLessThan((full * 8192) / 2);
}, 120_000);

/** Each has an attempt, and all but one are expired. */
function fillWithDeliveries(app: TestApp, oldMs: number): void {
  const { workspaceId } = app.workspace;
  const id = (n: number, atMs: number): string => `${firstIdOf('dlv', atMs)}${String(n).padStart(16, '0')}`;
  ask(app, (db) => {
    const delivery = db.prepare(
      `INSERT INTO deliveries (workspace_id, id, endpoint_id, event_id, event_type, sequence, origin, status, attempts, created_at, finished_at)
       VALUES (?1, ?2, 'whe_1', 'evt_1', 'issue.created', 1, 'event', 'delivered', 1, ?3, ?3)`,
    );
    const attempt = db.prepare(
      `INSERT INTO attempts (workspace_id, delivery_id, number, at, latency_ms, request_headers_json, truncated) VALUES (?1, ?2, 1, ?3, 1, ?4, 0)`,
    );
    db.exec('BEGIN');
    for (let n = 0; n <= many; n++) {
      const at = n === many ? app.clock.nowMs() : oldMs;
      delivery.run([workspaceId, id(n, at), at]);
      attempt.run([workspaceId, id(n, at), at, JSON.stringify({ header: 'x'.repeat(400) })]);
    }
    db.exec('COMMIT');
  });
}

async function latencies(app: TestApp, requests: number): Promise<number[]> {
  const took: number[] = [];
  for (let n = 0; n < requests; n++) {
    const startedMs = performance.now();
    expect((await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' })).status).toBe(201);
    took.push(performance.now() - startedMs);
  }
  return took;
}
