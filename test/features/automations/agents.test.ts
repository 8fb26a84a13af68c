// Agents and apps only propose automations; a person approves and enables them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { connect, type Agent } from '../agents/agents.ts';
import { bearerOf, signIn } from '../sign-in/person.ts';
import { createIssue, onCreate, setHigh, v1 } from './rules.ts';

let app: TestApp;
let agent: Agent;
/** The owner, in a browser. */
let person: Client;
beforeAll(async () => {
  app = await startApp();
  const scopes = ['automations:write', 'issues:write', 'proposals:read', 'plugins:read'];
  agent = await connect(app, await app.mintKey(scopes));
  person = app.clientOf(await bearerOf(app, await signIn(app)));
});
afterAll(async () => {
  await agent.close();
  await app.stop();
});

const list = async (): Promise<Json[]> => (await app.call('GET', `${v1}/automations`)).json.data;
const rule = { name: 'By an agent', trigger: onCreate, actions: [setHigh] };

test('an automation of an agent exists once a person approved it, paused and with its backtest', async () => {
  const proposed = await agent.call('automations_propose', rule);
  expect(proposed).toMatchObject({
    status: 'proposed',
    diff: [{ kind: 'automation', operation: 'automations.create' }],
  });
  expect(await list()).toEqual([]);
  const approved = await person('POST', `${v1}/proposals/${proposed.proposalId}/approve`, { revision: 1 });
  expect([approved.status, approved.json]).toMatchObject([200, {}]);
  await app.settled();
  const [created] = await list();
  expect(created).toMatchObject({ name: 'By an agent', state: 'paused', backtest: { status: 'done' } });
  expect(await agent.call('automations_list', {})).toMatchObject({ data: [{ id: created.id }] });

  const change = await agent.call('automations_propose', { id: created.id, mode: 'simulate' });
  expect([change.status, (await list())[0].mode]).toEqual(['proposed', 'apply']);
  await person('POST', `${v1}/proposals/${change.proposalId}/reject`, { revision: 1, reason: 'No.' });
  expect((await list())[0].mode).toBe('apply');
});

test('an agent previews a rule before it proposes it', async () => {
  await createIssue(app);
  const started = await agent.call('automations_preview', { trigger: onCreate, actions: [setHigh] });
  await app.settled();
  const done = await agent.call('automations_preview', { backtest: started.id });
  expect(done).toMatchObject({ status: 'done', report: { fields: [{ field: 'priority', wouldChange: 1 }] } });
});

test('a refused rule is explained to the agent', async () => {
  const refused = await agent.call('automations_propose', { ...rule, actions: [{ type: 'comment' }] });
  expect(refused).toMatchObject({ code: 'validation_failed', details: [{ path: 'actions.0.body' }] });
});
