import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../features/plugins/pack.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const scopes = `{ 'issues:read': { why: 'test', fields: ['priority', 'team'] } }`;

test('fields outside the narrowing are omitted from responses and events, and cannot be used to filter or sort', async () => {
  const document = await packSource(`{
    id: 'com.test.sees', version: '1.0.0', engines: { tatami: '*' }, scopes: ${scopes},
    on: { 'issue.updated': { filter: { priority: ['high'] }, handle: async (event, ctx) => {
      const ends = {};
      const attempt = async (name, call) => { ends[name] = await call().then((answer) => answer, (error) => error.code); };
      await attempt('get', () => ctx.issues.get(event.data.id));
      await attempt('list', () => ctx.issues.list({ priority: 'high', sort: '-priority', limit: 5 }));
      await attempt('cycle', () => ctx.issues.list({ cycle: 'current' }));
      await attempt('sort', () => ctx.issues.list({ sort: 'dueDate' }));
      await attempt('filter', () => ctx.issues.list({ filter: JSON.stringify({ estimate: { gte: 5 } }) }));
      await attempt('relations', () => ctx.relations.list(event.data.id));
      await attempt('templates', () => ctx.templates.list());
      await attempt('search', () => ctx.search.query({ q: 'hush' }));
      await ctx.kv.set('ends', ends);
      await ctx.kv.set('event', event);
    } } },
  }`);
  const plugin = await install(app.call, document);
  const title = 'hush, a title';
  const { json: issue } = await app.call('POST', '/api/v1/issues', {
    team: 'ENG',
    title,
    description: 'hush',
  });
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, {
    priority: 'high',
    estimate: 5,
    title: 'hush again',
  });
  await app.settled();
  const [run] = (await app.call('GET', `/api/v1/plugins/${plugin.id}/runs`)).json.data;
  expect([run?.status, run?.error]).toEqual(['succeeded', null]);
  const readKv = async (key: string): Promise<Json> =>
    (await app.call('GET', `/api/v1/plugins/${plugin.id}/kv/${key}`)).json.value;
  const { get, list, ...refused } = await readKv('ends');
  const names = ['createdAt', 'id', 'priority', 'team', 'updatedAt', 'version'];
  expect(Object.keys(get).toSorted()).toEqual(names);
  expect(list.data.map((one: Json) => Object.keys(one).toSorted())).toEqual([names]);
  expect(refused).toEqual(
    Object.fromEntries(Object.keys(refused).map((name) => [name, 'insufficient_scope'])),
  );
  expect(Object.keys(refused).length).toBe(6);
  const event = await readKv('event');
  expect(event.data).toMatchObject({ priority: 'high', previous: { priority: 'none' } });
  expect(JSON.stringify([get, list, event])).not.toContain('hush');
});

test('narrowings that name unknown fields, are redundant, or filter by hidden fields are rejected with the reason', async () => {
  const asking = async (scopes: string, filter = '{}') => {
    const source = `{ id: 'com.test.asks', version: '1.0.0', engines: { tatami: '*' }, scopes: ${scopes},
      on: { 'issue.created': { filter: ${filter}, handle() {} } } }`;
    const document = await packSource(source);
    const body = { package: document, grant: Object.keys(document.manifest.scopes ?? {}) };
    return app.call('POST', '/api/v1/plugins', body, { 'tatami-mode': 'simulate' });
  };
  const pathOf = ({ json }: Json): string => json.error.details[0].path;
  const of = (fields: string): string => `{ 'issues:read': { why: 'test', fields: ['${fields}'] } }`;
  expect((await asking(of('priority'), `{ priority: ['high'] }`)).status).toBe(201);
  expect(pathOf(await asking(of('nonsense')))).toBe('package.manifest.scopes.issues:read.fields.0');
  expect(pathOf(await asking(of('title'), `{ priority: ['high'] }`))).toBe(
    'package.manifest.on.issue.created.filter.priority',
  );
  const both = `{ 'issues:read': { why: 'test', fields: ['title'] }, 'issues:write': { why: 'test' } }`;
  expect(pathOf(await asking(both))).toBe('package.manifest.scopes.issues:read.fields');
});
