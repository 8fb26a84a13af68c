// People decide on the proposals of agents, by the session of the web app.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { bearerOf, signIn } from '../sign-in/person.ts';
import { connect, type Agent } from './agents.ts';

let app: TestApp;
let agent: Agent;
let call: Client;
/** A person of another workspace. */
let stranger: Client;
beforeAll(async () => {
  app = await startApp();
  agent = await connect(app, await app.mintKey(['issues:write']));
  call = app.clientOf(await bearerOf(app, await signIn(app)));
  const other = await app.addWorkspace('Other', 'OTH');
  stranger = app.clientOf(await bearerOf(app, await signIn(app, other)));
});
afterAll(async () => {
  await agent.close();
  await app.stop();
});

const rest = async (method: string, path: string, body?: object): Promise<Json> =>
  (await app.call(method, `/api/v1${path}`, body)).json;

async function proposed(...titles: string[]): Promise<{ id: string; issues: Json[] }> {
  const issues: Json[] = [];
  for (const title of titles) issues.push(await rest('POST', '/issues', { team: 'ENG', title }));
  const { proposalId } = await agent.call('issues_update', {
    ids: issues.map(({ id }) => id),
    priority: 'urgent',
    addLabels: ['bug'],
  });
  return { id: proposalId, issues };
}

const statusOf = async (id: string): Promise<string> => (await rest('GET', `/proposals/${id}`)).status;

test('the whole proposed change is returned', async () => {
  const issue = await rest('POST', '/issues', { team: 'ENG', title: 'Plain' });
  const description = `${'Harmless. '.repeat(3_000)}\nInvoice \u202egpj.exe\u2066\nthe last words`;
  const requested = await app.call(
    'PATCH',
    `/api/v1/issues/${issue.id}`,
    { description },
    { 'Tatami-Mode': 'propose' },
  );
  const { effects } = (await call('GET', `/api/v1/proposals/${requested.json.id}`)).json;
  expect(effects[0].fields).toEqual([{ name: 'description', before: '', after: description }]);
});

test('the page of a proposal leads a signed-out person to the sign-in and back', async () => {
  const { id } = await proposed('A', 'B');
  const { status, headers } = await fetch(`${app.url}/proposals/${id}`, { redirect: 'manual' });
  expect(status).toBe(303);
  expect(new URL(headers.get('location')!).searchParams.get('to')).toBe(`/proposals/${id}`);
});

test('a proposal of another workspace responds like a missing one', async () => {
  const { id } = await proposed('A', 'B');
  const missing = 'prp_01m7wd7tg001bvq8r5bjgt6mjc';
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/approve'],
  ] as const) {
    const [theirs, nowhere] = await Promise.all(
      [id, missing].map((one) =>
        stranger(method, `/api/v1/proposals/${one}${path}`, method === 'GET' ? undefined : {}),
      ),
    );
    expect(theirs!.status).toBe(404);
    expect(theirs!.json.error.message.replace(id, missing)).toBe(nowhere!.json.error.message);
  }
  expect(await statusOf(id)).toBe('open');
});

test('the changes of one call are decided as a whole', async () => {
  const { id } = await proposed('A', 'B');
  const part = await call('POST', `/api/v1/proposals/${id}/approve`, { effects: ['1'] });
  expect([part.status, part.text]).toEqual([422, expect.stringContaining('Add effect 2')]);
  const both = await call('POST', `/api/v1/proposals/${id}/approve`, { effects: ['1', '2'] });
  expect([both.status, await statusOf(id)]).toEqual([200, 'approved']);
});

test('a rejection requires a reason, which is stored', async () => {
  const { id, issues } = await proposed('A', 'B');
  const bare = await call('POST', `/api/v1/proposals/${id}/reject`, { reason: '' });
  expect([bare.status, await statusOf(id)]).toEqual([422, 'open']);
  expect((await call('POST', `/api/v1/proposals/${id}/reject`, { reason: 'Not <now>' })).status).toBe(200);
  expect((await rest('GET', `/proposals/${id}`)).reason).toBe('Not <now>');
  expect((await rest('GET', `/issues/${issues[0].id}`)).priority).toBe('none');
});

test('the member on whose behalf the agent acted is notified', async () => {
  const { id } = await proposed('A', 'B');
  const { data } = await rest('GET', '/inbox?limit=100');
  expect(data.find(({ target }: Json) => target?.id === id)).toMatchObject({ kind: 'proposal_made' });
});
