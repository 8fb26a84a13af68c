// A client asks cheaply if its inbox changed since an earlier count.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import Database from 'libsql';
import { join as pathOf } from 'node:path';
import { registeredStatements } from '../../../core/platform/store/statement.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { join, v1 } from '../people.ts';

let app: TestApp;
let ana: Client;
let ben: Client;
const ids = { ana: '', ben: '' };

beforeAll(async () => {
  app = await startApp();
  const people = [await join(app, 'Ana Lindqvist'), await join(app, 'Ben Okafor')] as const;
  [ids.ana, ids.ben] = [people[0].id, people[1].id];
  [ana, ben] = [people[0].call, people[1].call];
});
afterAll(() => app.stop());

async function count(who: Client, since?: Json): Promise<Json> {
  await app.settled();
  const query = since ? `?changedSince=${encodeURIComponent(since.asOf)}` : '';
  return (await who('GET', `${v1}/inbox/unread-count${query}`)).json;
}
const file = async (title: string, more: object = {}): Promise<Json> =>
  (await app.call('POST', `${v1}/issues`, { team: 'ENG', title, ...more })).json;
const firstItem = async (): Promise<string> => (await ana('GET', `${v1}/inbox`)).json.data[0].id;

test('a count without an earlier one has a marker and no comparison', async () => {
  expect(await count(ana)).toEqual({ unread: 0, changed: null, asOf: expect.any(String) });
});

test('an inbox has changed once an item is created, read, marked as unread, archived or snoozed, and only then', async () => {
  let before = await count(ana);
  const hasChanged = async (): Promise<boolean> => {
    const now = await count(ana, before);
    // A second look with the same marker has the same answer.
    expect((await count(ana, before)).changed).toBe(now.changed);
    before = now;
    return now.changed;
  };
  expect(await hasChanged()).toBe(false);
  const issue = await file('The save dialog crashes', { assigneeId: ids.ana });
  expect([await hasChanged(), before.unread]).toEqual([true, 1]);
  await app.call('PATCH', `${v1}/issues/${issue.id}`, { title: 'Crash on save' });
  await file('For Ben', { assigneeId: ids.ben });
  expect(await hasChanged()).toBe(false);
  const item = `${v1}/inbox/${await firstItem()}`;
  const until = new Date(app.clock.now() + 3_600_000).toISOString();
  for (const patch of [{ read: true }, { read: false }, { snoozedUntil: until }, { archived: true }]) {
    await ana('PATCH', item, patch);
    expect([patch, await hasChanged()]).toEqual([patch, true]);
    await ana('PATCH', item, patch);
    expect([patch, await hasChanged()]).toEqual([patch, false]);
  }
});

test('a clock that is set back hides no change', async () => {
  const before = await count(ana);
  app.clock.advance(-86_400_000);
  await file('Before the day', { assigneeId: ids.ana });
  expect((await count(ana, before)).changed).toBe(true);
  app.clock.advance(86_400_000);
});

test('a purge of the issue of an unread item changes the inbox', async () => {
  const { id } = await file('Gone', { assigneeId: ids.ana });
  const before = await count(ana);
  await app.call('DELETE', `${v1}/issues/${id}`);
  expect((await app.call('POST', `${v1}/issues/${id}/purge`)).status).toBe(204);
  expect(await count(ana, before)).toMatchObject({ changed: true, unread: before.unread - 1 });
});

test('a marker of another inbox or a changed one is rejected', async () => {
  const { asOf } = await count(ben);
  for (const changedSince of [asOf, 'x', '2026-05-01T00:00:00Z']) {
    const { status, json } = await ana(
      'GET',
      `${v1}/inbox/unread-count?changedSince=${encodeURIComponent(changedSince)}`,
    );
    expect([status, json.error.code]).toEqual([400, 'invalid_cursor']);
    expect(json.error.message).toContain('changedSince');
  }
});

test('the count reads indexes alone', async () => {
  const db = new Database(pathOf(app.dataDir, 'tatami.db'));
  const { text } = [...registeredStatements()].find(({ name }) => name === 'inbox_items.count_unread')!;
  const plan = (db.prepare(`EXPLAIN QUERY PLAN ${text}`).all([]) as { detail: string }[]).map(
    ({ detail }) => detail,
  );
  db.close();
  expect(plan.filter((detail) => detail.startsWith('SCAN ') && !/CONSTANT|json_each/.test(detail))).toEqual(
    [],
  );
  expect(plan).toContain(
    'SEARCH inbox_items USING COVERING INDEX inbox_items_unread (workspace_id=? AND member_id=?)',
  );
});

test('a marker stays valid across a restart', async () => {
  const before = await count(ana);
  app = await app.restart();
  const { json: key } = await app.call('POST', `${v1}/api-keys`, {
    name: 'again',
    scopes: ['inbox:read'],
    memberId: ids.ana,
  });
  ana = app.clientOf(key.key);
  expect((await count(ana, before)).changed).toBe(false);
  await file('Later', { assigneeId: ids.ana });
  expect((await count(ana, before)).changed).toBe(true);
});
