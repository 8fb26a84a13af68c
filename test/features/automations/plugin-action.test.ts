// A rule calls an action of a plugin with the rights that its owner and the plugin have in common.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from '../plugins/pack.ts';
import { createIssue, enabled, getIssue, onCreate, v1 } from './rules.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  const source = `{
    id: 'com.test.escalate', version: '1.0.0', engines: { tatami: '*' },
    scopes: { 'issues:write': { why: 'test' } },
    actions: { escalate: { target: 'issue',
      input: { type: 'object', properties: { to: { type: 'string', default: 'urgent' } }, additionalProperties: false },
      handle: async ({ target, input }, ctx) => { await ctx.issues.update(target.id, { priority: input.to }); } } },
  }`;
  await install(app.call, await packSource(source));
});
afterAll(() => app.stop());

const call = (input?: object) => ({
  type: 'plugin',
  plugin: 'com.test.escalate',
  action: 'escalate',
  ...(input && { input }),
});
const rule = { trigger: onCreate, actions: [call()] };
const runsOf = async (id: string): Promise<Json[]> =>
  (await app.call('GET', `${v1}/plugins/${id}/runs`)).json.data;

test('a rule calls the action once per event, on its issue and for its owner', async () => {
  const { id } = await enabled(app, { ...rule, actions: [call({ to: 'medium' })] });
  const issue = await createIssue(app);
  await app.settled();
  expect((await getIssue(app, issue.id)).priority).toBe('medium');
  const runs = await runsOf('com.test.escalate');
  expect(runs).toHaveLength(1);
  expect(runs[0]).toMatchObject({
    handlerKind: 'action',
    handler: 'escalate',
    depth: 1,
    onBehalfOf: { id: app.workspace.userId },
  });
  await app.call('DELETE', `${v1}/automations/${id}`);
});

test('a rule that only proposes does not call the action', async () => {
  const { id } = await enabled(app, { ...rule, mode: 'propose' });
  const before = (await runsOf('com.test.escalate')).length;
  const issue = await createIssue(app);
  await app.settled();
  expect((await getIssue(app, issue.id)).priority).toBe('none');
  expect(await runsOf('com.test.escalate')).toHaveLength(before);
  await app.call('DELETE', `${v1}/automations/${id}`);
});

test('a rule with an unknown action, or without the scopes of the plugin, is refused', async () => {
  const unknown = { ...rule, name: 'Unknown', actions: [{ ...call(), action: 'missing' }] };
  const { status, json } = await app.call('POST', `${v1}/automations`, unknown);
  expect([status, json.error.details[0].path]).toEqual([422, 'actions.0.action']);
  const key = await app.mintKey(['automations:write', 'issues:read']);
  const refused = await app.clientOf(key)('POST', `${v1}/automations`, { ...rule, name: 'Narrow' });
  expect([refused.status, refused.json.error.message]).toEqual([
    403,
    expect.stringContaining('issues:write'),
  ]);
});

test('a plugin that is no automation cannot call the action of another one', async () => {
  const source = `{
    id: 'com.test.caller', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:write': { why: 'test' } },
    on: { 'issue.created': { handle: ({ data }, ctx) => ctx.actions.call('com.test.escalate', 'escalate', { target: data }) } },
  }`;
  await install(app.call, await packSource(source));
  const before = (await runsOf('com.test.escalate')).length;
  await createIssue(app);
  await app.settled();
  expect(await runsOf('com.test.escalate')).toHaveLength(before);
  expect((await runsOf('com.test.caller'))[0].error.message).toContain('Only automations');
});
