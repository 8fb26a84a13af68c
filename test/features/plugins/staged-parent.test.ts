// A run that creates an issue and its sub-issues: the parent has no identifier until the commit, and is shown without
// one until then.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

test('the event of a sub-issue shows a parent of the same run without an identifier, never a part of one', async () => {
  const document = await packSource(`{
    id: 'com.test.family', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
    on: { 'issue.created': { handle: async (event, ctx) => {
      const parent = await ctx.issues.create({ team: 'ENG', title: 'Parent' });
      const child = await ctx.issues.create({ team: 'ENG', title: 'Child', parentId: parent.id });
      await ctx.issues.create({ team: 'ENG', title: 'Later', parentId: event.data.id });
      ctx.log.info(JSON.stringify((await ctx.issues.get(child.id)).parent.identifier));
    } } },
  }`);
  await install(app.call, document);
  const from = await app.lastSequence();
  const { json: first } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'First' });
  await app.settled();
  const [, parent, child, later] = (await app.call('GET', `/api/v1/events?after=${from}`)).json.data;
  expect(child.data).toMatchObject({ title: 'Child', parent: { id: parent.data.id, identifier: null } });
  expect(later.data.parent).toEqual({ id: first.id, identifier: first.identifier });
  const [run] = (await app.call('GET', '/api/v1/plugins/com.test.family/runs')).json.data;
  expect(run.logs[0].message).toBe('null');
  // After the commit the parent has its number.
  const read = (await app.call('GET', `/api/v1/issues/${child.data.id}`)).json;
  expect(read.parent).toEqual({ id: parent.data.id, identifier: parent.data.identifier });
});
