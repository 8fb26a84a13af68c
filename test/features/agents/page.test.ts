import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { signIn, type Person } from '../sign-in/person.ts';
import { runInNode } from '../../browser/run.ts';
import { connect, type Agent } from './agents.ts';

let app: TestApp;
let agent: Agent;
let person: Person;
/** A person of another workspace. */
let stranger: Person;
beforeAll(async () => {
  app = await startApp();
  agent = await connect(app, await app.mintKey(['issues:write']));
  person = await signIn(app);
  stranger = await signIn(app, await app.addWorkspace('Other', 'OTH'));
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

test('the whole proposed change is shown, on the page and by the API, with invisible characters escaped', async () => {
  const issue = await rest('POST', '/issues', { team: 'ENG', title: 'Plain' });
  const end = 'the last words';
  const unseen = 'Invoice \u202egpj.exe\u2066\u200b\u{e0041}\u0007 and a family 👩\u200d👧';
  const description = `${'Harmless. '.repeat(3_000)}\n${unseen}\n${end}`;
  const requested = await app.call(
    'PATCH',
    `/api/v1/issues/${issue.id}`,
    { description },
    { 'Tatami-Mode': 'propose' },
  );
  expect(requested.status).toBe(202);
  const { effects } = await rest('GET', `/proposals/${requested.json.id}`);
  const after = Object.fromEntries(effects[0].fields.map((field: Json) => [field.name, field.after]));
  expect(after).toEqual({ description });
  const text = await (await look(requested.json.id, person.cookie)).text();
  expect(text).toContain(end);
  expect(text).toContain('Invoice \\u202egpj.exe\\u2066\\u200b\\udb40\\udc41\\u0007 and a family 👩\u200d👧');
  expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u200b\u0007]/);
});

const look = (id: string, cookie?: string): Promise<Response> =>
  fetch(`${app.url}/proposals/${id}`, { redirect: 'manual', headers: cookie ? { cookie } : {} });

function send(
  id: string,
  fields: [string, string][],
  { cookie, headers = {} }: { cookie?: string; headers?: Record<string, string> } = {},
) {
  return fetch(`${app.url}/proposals/${id}`, {
    ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams(fields) },
    headers: {
      cookie: cookie ?? person.cookie,
      origin: app.url,
      'sec-fetch-site': 'same-origin',
      ...headers,
    },
  });
}
const signed = (of: Person = person): [string, string][] => [
  ['form_token', of.who.formToken],
  ['workspace', app.workspace.workspaceId],
  ['revision', '1'],
];
const statusOf = async (id: string): Promise<string> => (await rest('GET', `/proposals/${id}`)).status;

test('the page shows the author and the change of each field, and nothing as markup', async () => {
  const { id, issues } = await proposed('First', 'Second');
  const response = await look(id, person.cookie);
  const text = await response.text();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  for (const said of [
    '<strong>test</strong>',
    '2 changes',
    issues[0].identifier,
    issues[1].identifier,
    'urgent',
    'bug',
  ])
    expect(text).toContain(said);
  const { proposalId } = await agent.call('issues_update', {
    id: issues[1].id,
    title: '<img src=x onerror=alert(1)>',
  });
  const marked = await (await look(proposalId, person.cookie)).text();
  expect(marked).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(marked).not.toContain('<img');
  expect(text).not.toContain('<script');
});

test('a signed-out person signs in and returns', async () => {
  const { id } = await proposed('A', 'B');
  const response = await look(id);
  expect([response.status, response.headers.get('location')]).toEqual([
    303,
    `${app.url}/sign-in?to=%2Fproposals%2F${id}`,
  ]);
});

test('a proposal of another workspace responds like a missing one', async () => {
  const { id } = await proposed('A', 'B');
  const [theirs, nowhere] = [
    await look(id, stranger.cookie),
    await look('prp_01m7wd7tg001bvq8r5bjgt6mjc', stranger.cookie),
  ];
  expect([theirs.status, await theirs.text()]).toEqual([404, await nowhere.text()]);
  const sent = await send(id, [...signed(stranger), ['decision', 'approve']], { cookie: stranger.cookie });
  expect([sent.status, await statusOf(id)]).toEqual([404, 'open']);
});

test('the changes of one call are decided as a whole', async () => {
  const { id } = await proposed('A', 'B');
  expect(await (await look(id, person.cookie)).text()).not.toContain('type="checkbox"');
  const part = await send(id, [...signed(), ['decision', 'approve_selected'], ['effects', '1']]);
  expect([part.status, await part.text()]).toEqual([422, expect.stringContaining('Add effect 2')]);
  const both = await send(id, [
    ...signed(),
    ['decision', 'approve_selected'],
    ['effects', '1'],
    ['effects', '2'],
  ]);
  expect([both.status, await statusOf(id)]).toEqual([303, 'approved']);
  expect(await (await look(id, person.cookie)).text()).toContain('This proposal was approved and applied.');
});

test('a form from outside this session decides nothing', async () => {
  const { id } = await proposed('A', 'B');
  const approve: [string, string][] = [['decision', 'approve']];
  const [token, ...rest_] = signed();
  const refused: Response[] = [
    await send(id, [...rest_, ...approve]),
    await send(id, [['form_token', `${token![1].slice(0, -1)}x`], ...rest_, ...approve]),
    await send(id, [['form_token', stranger.who.formToken], ...rest_, ...approve]),
    await send(id, [...signed(), ...approve], { headers: { origin: 'https://evil.example' } }),
    await send(id, [...signed(), ...approve], { headers: { 'sec-fetch-site': 'cross-site' } }),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 403]);
  expect((await send(id, [...signed(), ...approve], { cookie: '' })).status).toBe(303);
  expect(await statusOf(id)).toBe('open');
});

test('a rejection requires a reason, and the page shows it', async () => {
  const { id, issues } = await proposed('A', 'B');
  const bare = await send(id, [...signed(), ['decision', 'reject'], ['reason', '']]);
  expect([bare.status, await statusOf(id)]).toEqual([422, 'open']);
  expect((await send(id, [...signed(), ['decision', 'reject'], ['reason', 'Not <now>']])).status).toBe(303);
  expect(await (await look(id, person.cookie)).text()).toContain('Reason: Not &lt;now&gt;');
  expect((await rest('GET', `/issues/${issues[0].id}`)).priority).toBe('none');
});

test('the member on whose behalf the agent acted is notified', async () => {
  const { id } = await proposed('A', 'B');
  const { data } = await rest('GET', '/inbox?limit=100');
  expect(data.find(({ target }: Json) => target?.id === id)).toMatchObject({ kind: 'proposal_made' });
});

test('a person decides in a browser, with and without scripts, without axe violations', async () => {
  const [one, two] = [await proposed('A', 'B'), await proposed('C', 'D')];
  const seen = await runInNode<Json>('proposal-process.ts', [app.url, person.cookie, one.id, two.id]);
  expect(seen.violations).toEqual([]);
  expect(seen.complaints).toEqual([]);
  expect(seen.title).toContain(one.issues[0].identifier);
  expect([seen.approved, await statusOf(one.id)]).toEqual([
    'This proposal was approved and applied.',
    'approved',
  ]);
  expect([seen.rejected, await statusOf(two.id)]).toEqual([
    'This proposal was rejected. Nothing was changed.',
    'rejected',
  ]);
}, 60_000);
