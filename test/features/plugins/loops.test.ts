// Plugins that trigger each other are stopped, and admins are notified of both once an hour.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
let issue: Json;

beforeAll(async () => {
  app = await startApp();
  for (const [name, priority] of [
    ['Raises', 'high'],
    ['Lowers', 'low'],
  ])
    await install(
      app.call,
      await packSource(`{
        id: 'com.test.${name!.toLowerCase()}', name: '${name}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
        on: { 'issue.updated': { handle: (event, ctx) => ctx.issues.update(event.data.id, { priority: '${priority}' }) } },
      }`),
    );
  const team = (await app.call('GET', '/api/v1/teams')).json.data[0].key;
  issue = (await app.call('POST', '/api/v1/issues', { team, title: 'Tug' })).json;
});
afterAll(() => app.stop());

const loops = async (): Promise<Json[]> =>
  (await app.call('GET', '/api/v1/inbox?limit=50')).json.data.filter(
    ({ kind }: Json) => kind === 'plugin_loop',
  );

async function begin(title: string): Promise<void> {
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { title });
  await app.settled();
}

test('two plugins that alternate a field are stopped after the third write, and both are named', async () => {
  await begin('One');
  const runs = [];
  for (const id of ['com.test.raises', 'com.test.lowers'])
    runs.push(...(await app.call('GET', `/api/v1/plugins/${id}/runs`)).json.data);
  const dead = runs.filter(({ status }) => status === 'dead');
  expect(dead.length).toBeGreaterThan(0);
  for (const { error } of dead) {
    expect(error.code).toBe('loop_fields');
    expect(error.message).toMatch(/^(Raises and Lowers|Lowers and Raises) set priority back and forth/);
  }
});

test('admins get one item with both plugins and the issue, with a count for the hour, and another item afterwards', async () => {
  const [item, ...others] = await loops();
  expect(others).toEqual([]);
  expect(item).toMatchObject({
    reason: 'plugin',
    title: "The plugins Lowers and Raises caused each other's events",
    issue: { id: issue.id, identifier: issue.identifier },
    target: { kind: 'plugin', id: expect.stringMatching(/^plg_/) },
  });
  expect(item.body).toContain(`The issue was ${issue.identifier}.`);
  await begin('Two');
  const again = await loops();
  expect(again.length).toBe(1);
  expect(again[0].count).toBeGreaterThan(item.count);
  app.clock.advance(3_700_000);
  await app.settled();
  await begin('Three');
  expect((await loops()).length).toBe(2);
});
