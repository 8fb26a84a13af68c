// Mode `simulate`: a run shows its writes value by value, and writes nothing.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { tatami } from '../../cli/tatami.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const create = (title: string): Promise<unknown> =>
  app.call('POST', '/api/v1/issues', { team: 'ENG', title });

test('in simulate mode a run shows its effects and has none', async () => {
  const document = await packSource(`{
    id: 'com.test.simulate', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
    on: { 'issue.created': { handle: async (event, ctx) => {
      const made = await ctx.issues.create({ team: event.data.team.key, title: 'child', parentId: event.data.id });
      const read = await ctx.issues.get(made.id);
      ctx.log.info(made.identifier === null && read.identifier === null ? 'no number yet' : 'numbered');
      await ctx.issues.update(event.data.id, { priority: 'high', labels: ['bug'], description: 'x'.repeat(2000) });
      await ctx.comments.create(event.data.id, { body: 'Looked at.' });
      await ctx.kv.set('seen', { count: 1 });
    } } },
  }`);
  await install(app.call, document, { mode: 'simulate' });
  const from = await app.lastSequence();
  await create('Parent');
  await app.settled();
  const [run] = (await app.call('GET', '/api/v1/plugins/com.test.simulate/runs')).json.data;
  expect(run).toMatchObject({
    status: 'succeeded',
    mode: 'simulate',
    events: [],
    effects: [
      {
        kind: 'issue',
        action: 'create',
        values: { title: { before: null, after: 'child' }, team: { after: { key: 'ENG' } } },
      },
      {
        kind: 'issue',
        action: 'update',
        values: {
          priority: { before: 'none', after: 'high' },
          labels: { before: [], after: [{ name: 'bug' }] },
          description: { before: '', after: `${'x'.repeat(1000)}…` },
        },
      },
      { kind: 'comment', action: 'create', values: { body: { before: null, after: 'Looked at.' } } },
      {
        kind: 'plugin_kv',
        action: 'create',
        name: 'seen',
        values: { seen: { before: null, after: { count: 1 } } },
      },
    ],
    logs: [{ message: 'no number yet' }],
  });
  expect(run.effects[0].values).not.toHaveProperty('identifier');
  expect(await app.eventTypes(from)).toEqual(['issue.created']);

  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  const { out } = await tatami(['plugins', 'logs', 'com.test.simulate'], remote);
  expect(out).toMatch(/simulated: would update issue ENG-\d+\n/);
  expect(out).toContain('priority: "none" → "high"');
  expect(out).toContain('labels: [] → [bug]');
  expect(out).toContain('simulated: would create value seen\n    seen: {count: 1}');

  expect((await app.call('PATCH', '/api/v1/plugins/com.test.simulate', { mode: 'apply' })).status).toBe(200);
  await create('Parent 2');
  await app.settled();
  const titles = (await app.call('GET', '/api/v1/issues?sort=number&fields=identifier,title')).json.data;
  expect(titles.map((one: Json) => [one.identifier, one.title])).toEqual([
    ['ENG-1', 'Parent'],
    ['ENG-2', 'Parent 2'],
    ['ENG-3', 'child'],
  ]);
});
