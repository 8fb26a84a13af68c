// Automations are created paused with a backtest, run like installs, and stop with the rights of their owner.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { createIssue, createRule, enabled, getIssue, v1 } from './rules.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

test('a new rule is paused, has a backtest, and runs only once it is enabled', async () => {
  const rule = await createRule(app, { name: 'High', probation: false });
  expect(rule).toMatchObject({
    name: 'High',
    mode: 'apply',
    revision: 1,
    owner: { id: app.workspace.userId },
    scopes: [{ scope: 'issues:write', fields: ['priority'] }],
    backtest: { status: 'queued' },
  });
  expect((await createIssue(app)).priority).toBe('none');
  const answer = await app.call('POST', `${v1}/automations/${rule.id}/enable`, {});
  expect(answer.json.state).toBe('active');
  const issue = await createIssue(app);
  expect(issue.priority).toBe('high');
  const { data } = (await app.call('GET', `${v1}/events?limit=100`)).json;
  const updated = data.findLast(({ type }: { type: string }) => type === 'issue.updated');
  expect(updated).toMatchObject({
    actor: { kind: 'plugin', id: rule.id, name: 'High' },
    cause: { onBehalfOf: { id: app.workspace.userId } },
  });
  const ran = data.findLast(({ type }: { type: string }) => type === 'automation.run');
  expect(ran.data).toMatchObject({
    installId: rule.id,
    ruleId: rule.id,
    pluginId: 'automations',
    pluginVersion: '1',
  });
  await app.call('DELETE', `${v1}/automations/${rule.id}`);
});

test('a rule on probation proposes its writes, under its own name', async () => {
  const rule = await enabled(app, { name: 'Careful', probation: true });
  expect(rule.probation).toMatchObject({ runsLeft: 20 });
  const issue = await createIssue(app);
  expect(issue.priority).toBe('none');
  const { data } = (await app.call('GET', `${v1}/proposals?install=${rule.id}&status=open`)).json;
  expect(data[0]).toMatchObject({ installId: rule.id, author: { id: rule.id, name: 'Careful' } });
  await app.call('POST', `${v1}/proposals/${data[0].id}/approve`, {});
  expect((await getIssue(app, issue.id)).priority).toBe('high');
  expect((await app.call('GET', `${v1}/automations/${rule.id}`)).json.probation.runsLeft).toBe(19);
  await app.call('DELETE', `${v1}/automations/${rule.id}`);
});
