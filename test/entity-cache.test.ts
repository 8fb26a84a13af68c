// The entity cache answers as a read does: after random operations every cached value equals its row. The seed is
// printed, and taken from TATAMI_SEED; TATAMI_LONG=1 runs more steps.
import { expect, test } from 'bun:test';
import { storedModels } from '../core/app/features.ts';
import type { Entity } from '../core/kernel/changes/change.ts';
import type { EntityModel } from '../core/kernel/changes/model.ts';
import { effectOf } from '../core/platform/store/effects.ts';
import { latestSchema, schemaAt } from '../core/platform/store/engine/looking.ts';
import { composedStatement, registeredStatements } from '../core/platform/store/statement.ts';
import { scopeOf } from '../core/platform/store/store.ts';
import { createSystemClock, startApp, type Json, type TestApp } from './app.ts';
import { createWorld } from './faults/random-operations.ts';
import { printedSeed, randomOf } from './random.ts';

const schema = schemaAt(latestSchema);
const cached = ([...storedModels.values()] as EntityModel<Entity, unknown>[]).filter(
  ({ source }) => source !== null,
);

/** @returns the number of cached rows */
async function compareAll({ services: { store, entities }, workspace }: TestApp): Promise<number> {
  const scope = scopeOf(workspace.workspaceId);
  let known = 0;
  for (const { name, table, select, source, fromRow } of cached) {
    const rows = await store.read(
      scope,
      composedStatement(`SELECT ${select} FROM ${table} WHERE workspace_id = :ws`),
    );
    for (const row of rows) {
      const value = entities.get(source!, scope, String(row.id));
      if (value === undefined) continue;
      known++;
      expect([name, value]).toEqual([name, fromRow(row)] as never);
    }
  }
  return known;
}

test('after random operations every cached row is as a read returns it', async () => {
  const app = await startApp({ clock: createSystemClock(), flags: { egressAllow: '127.0.0.0/8' } });
  const world = await createWorld(app, randomOf(printedSeed()), 'http://127.0.0.1:1/');
  let known = 0;
  for (let step = 0; step < (process.env.TATAMI_LONG === undefined ? 80 : 1_000); step++) {
    await (step % 8 === 7 ? world.rework() : world.step());
    await app.settled();
    known += await compareAll(app);
  }
  expect(known).toBeGreaterThan(500);
  await app.stop();
}, 1_800_000);

test('computed values follow the changes of other objects: labels, parents that move, and comments', async () => {
  const app = await startApp();
  const ask = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const { status, json, text } = await app.call(method, `/api/v1${path}`, body);
    if (status >= 400) throw new Error(`${method} ${path} answered ${status}: ${text}`);
    await app.settled();
    expect(await compareAll(app)).toBeGreaterThan(0);
    return json;
  };
  await ask('POST', '/teams', { key: 'OPS' });
  const labels: string[] = [];
  for (const name of ['one', 'two', 'three']) labels.push((await ask('POST', '/labels', { name })).id);
  const withLabels = { team: 'ENG', title: 'Labelled', labels: labels.toReversed() };
  const { id } = await ask('POST', '/issues', withLabels);
  await ask('PATCH', `/issues/${id}`, { addLabels: ['bug'], removeLabels: [labels[1]] });
  const names = async (): Promise<string[]> =>
    (await ask('GET', `/issues/${id}`)).labels.map(({ name }: Json) => name);
  expect(await names()).toEqual(['bug', 'one', 'three']);
  await ask('PATCH', `/labels/${labels[2]}`, { name: 'drei' });
  expect(await names()).toEqual(['bug', 'drei', 'one']);
  await ask('DELETE', `/labels/${labels[0]}`);
  expect(await names()).toEqual(['bug', 'drei']);
  const child = await ask('POST', '/issues', { team: 'ENG', title: 'Child', parentId: id });
  await ask('PATCH', `/issues/${child.id}`, { title: 'Other child' });
  const comment = await ask('POST', `/issues/${id}/comments`, { body: 'Said' });
  await ask('PATCH', `/comments/${comment.id}`, { body: 'Said again' });
  await ask('GET', `/issues/${child.id}`);
  await ask('GET', `/comments/${comment.id}`);
  expect((await ask('GET', '/issues/ENG-1')).id).toBe(id);
  await ask('POST', `/issues/${id}/move`, { team: 'OPS' });
  expect((await ask('GET', `/issues/${child.id}`)).parent.identifier).toBe('OPS-1');
  expect((await ask('GET', '/issues/ENG-1')).identifier).toBe('OPS-1');
  expect((await ask('GET', `/comments/${comment.id}`)).issue.identifier).toBe('OPS-1');
  // The number of a parent that is created in the same commit is not known to the change of its child.
  const template = await ask('POST', '/templates', { name: 'Steps', team: 'ENG', subIssues: ['First'] });
  const parent = await ask('POST', '/issues', { team: 'ENG', title: 'Parent', templateId: template.id });
  await ask('POST', `/issues/${parent.id}/comments`, { body: 'Later' });
  await app.stop();
});

test('a fresh issue is read and patched, and its notifications and SLA clocks are decided, without SQL', async () => {
  const app = await startApp();
  const { store } = app.services;
  const read: string[] = [];
  const { read: all, readOne: one } = store;
  store.read = (scope, statement, params) => (read.push(statement.name), all(scope, statement, params));
  store.readOne = (scope, statement, params) => (read.push(statement.name), one(scope, statement, params));
  await app.call('POST', '/api/v1/sla-policies', {
    name: 'Urgent ones',
    kind: 'resolution',
    targetMinutes: 60,
    filter: { priority: 'urgent' },
  });
  const readsOf = async (method: string, path: string, body?: unknown): Promise<[Json, string[]]> => {
    read.length = 0;
    const { status, json } = await app.call(method, path, body);
    await app.settled();
    expect(status).toBeLessThan(300);
    const ofModels =
      /^(issues|subscribers|inbox_items|inbox_preferences|sla_clocks|comments|former_identifiers)\./;
    return [json, read.filter((name) => ofModels.test(name))];
  };
  const [{ id, identifier }, ofCreation] = await readsOf('POST', '/api/v1/issues', {
    team: 'ENG',
    title: 'Fresh',
  });
  const path = `/api/v1/issues/${id}`;
  expect(ofCreation).toEqual([]);
  expect((await readsOf('GET', path))[1]).toEqual([]);
  expect((await readsOf('GET', `/api/v1/issues/${identifier}`))[1]).toEqual(['issues.find_aliased']);
  expect((await readsOf('GET', `/api/v1/issues/${identifier}`))[1]).toEqual([]);
  expect((await readsOf('PATCH', path, { priority: 'low' }))[1]).toEqual([]);
  expect((await readsOf('POST', `${path}/comments`, { body: 'First' }))[1]).toEqual([]);
  expect((await readsOf('POST', `${path}/comments`, { body: 'Second' }))[1]).toEqual([]);
  expect((await readsOf('PATCH', path, { priority: 'high' }))[1]).toEqual([]);
  const [{ id: assigneeId }] = await readsOf('POST', '/api/v1/members', { name: 'Mira' });
  const ofMira = { team: 'ENG', title: 'Assigned', assigneeId };
  expect((await readsOf('POST', '/api/v1/issues', ofMira))[1]).toEqual(['inbox_preferences.find_many']);
  expect((await readsOf('POST', '/api/v1/issues', ofMira))[1]).toEqual([]);
  // A moved issue is found by its former identifier.
  await readsOf('POST', '/api/v1/teams', { key: 'OPS' });
  await readsOf('POST', `${path}/move`, { team: 'OPS' });
  const [{ team }, ofFormer] = await readsOf('GET', `/api/v1/issues/${identifier}`);
  expect([team.key, ofFormer]).toEqual(['OPS', ['issues.find_aliased', 'former_identifiers.find']]);
  await app.stop();
});

test('the models of issues, their parts, projects, teams, webhooks and plugins are cached', () => {
  const names = new Set(cached.map(({ name }) => name));
  const expected = ['issue', 'comment', 'subscriber', 'project', 'team', 'webhook', 'plugin'];
  expect(expected.filter((name) => !names.has(name))).toEqual([]);
});

test('the written table of every declared statement is known', () => {
  const tables = new Set(schema.filter(({ type }) => type === 'table').map(({ name }) => name));
  for (const statement of registeredStatements()) {
    const effect = effectOf(statement);
    if (effect) expect([statement.name, tables.has(effect.table)]).toEqual([statement.name, true]);
  }
});

test('no trigger and no foreign key changes rows that are cached, because no statement shows it', () => {
  const ofModels = new Set(cached.map(({ table }) => table));
  for (const { type, sql } of schema) {
    if (type === 'trigger') {
      const body = sql.slice(sql.search(/\bBEGIN\b/)).replace(/^BEGIN|;\s*END$/g, '');
      const written = body.split(';').map((one) => effectOf(composedStatement(one))?.table ?? '');
      expect([sql, written.filter((table) => ofModels.has(table))]).toEqual([sql, []]);
    } else expect([sql, /\bON (DELETE|UPDATE) (CASCADE|SET)\b/i.test(sql)]).toEqual([sql, false]);
  }
});
