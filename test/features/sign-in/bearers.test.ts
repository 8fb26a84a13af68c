// The exchange of a session for a bearer, and what a person may do with it.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type Reply, type TestApp } from '../../app.ts';
import { addMembershipOp } from '../../../core/features/people/accounts.ts';
import { signIn, type Person } from './person.ts';

let app: TestApp;
let person: Person;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());
beforeEach(async () => {
  person = await newPerson('admin');
});

const v1 = '/api/v1';

async function newPerson(role: 'admin' | 'member'): Promise<Person> {
  const { json } = await app.call('POST', `${v1}/members`, { name: 'Ana', role });
  return signIn(app, app.workspace, json.id);
}

/** Sends the request of the app, with changed headers or fields. */
function exchange(
  of: Person,
  { headers = {}, fields = {} }: { headers?: Record<string, string>; fields?: object } = {},
): Promise<Reply> {
  return app.clientOf(null)(
    'POST',
    '/session/token',
    { formToken: of.who.formToken, workspace: null, ...fields },
    { cookie: of.cookie, origin: app.url, 'sec-fetch-site': 'same-origin', ...headers },
  );
}

async function clientOf(of: Person): Promise<Client> {
  const { status, json } = await exchange(of);
  expect(status).toBe(200);
  return app.clientOf(json.token);
}

const end = async (of: Person): Promise<void> => {
  const form = new URLSearchParams({ form_token: of.who.formToken });
  const headers = { cookie: of.cookie, origin: app.url, 'sec-fetch-site': 'same-origin' };
  await fetch(`${app.url}/sign-out`, { method: 'POST', body: form, headers, redirect: 'manual' });
};

test('the exchange names person and workspace, and no cache stores it', async () => {
  const { status, json, headers } = await exchange(person);
  expect(status).toBe(200);
  expect(json).toMatchObject({
    expiresInSeconds: 300,
    recentSignInSeconds: 600,
    workspace: { id: app.workspace.workspaceId, name: 'Acme' },
    member: { id: person.memberId, name: 'Ana', role: 'admin' },
    workspaces: [{ id: app.workspace.workspaceId, name: 'Acme' }],
  });
  const { scopes } = (await app.clientOf(json.token)('GET', `${v1}/me`)).json;
  expect(json.scopes).toEqual(scopes);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(JSON.stringify(app.logs)).not.toContain(json.token);
});

test('a bearer acts as the person, and its writes name them', async () => {
  const call = await clientOf(person);
  const before = await app.lastSequence();
  const { status, json } = await call('POST', `${v1}/issues`, { team: 'ENG', title: 'From the app' });
  expect(status).toBe(201);
  const issue = (await app.call('GET', `${v1}/issues/${json.id}`)).json;
  expect(issue.creator).toEqual({ kind: 'user', id: person.memberId, name: 'Ana' });
  expect(await app.eventTypes(before)).toEqual(['issue.created']);
});

test('the API accepts no cookie', async () => {
  const { status } = await app.clientOf(null)('GET', `${v1}/issues`, undefined, {
    cookie: person.cookie,
    origin: app.url,
    'sec-fetch-site': 'same-origin',
  });
  expect(status).toBe(401);
});

test.each([
  ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
  ['another site without fetch metadata', { origin: 'https://evil.example', 'sec-fetch-site': '' }],
  ['a sibling host', { 'sec-fetch-site': 'same-site' }],
  ['another origin that claims to be the same', { origin: 'https://evil.example' }],
  ['another host name of the server', { host: 'evil.example' }],
])('a request of %s gets no bearer', async (_, headers) => {
  const { status, json } = await exchange(person, { headers });
  expect({ status, code: json.error.code }).toEqual({ status: 403, code: 'forbidden' });
});

test.each([
  ['a wrong form token', { formToken: 'x' }, 403],
  ['no form token', { formToken: null }, 403],
  ['a workspace that does not exist', { workspace: crypto.randomUUID() }, 404],
])('%s gets no bearer', async (_, fields, status) => {
  expect((await exchange(person, { fields })).status).toBe(status);
});

test('a foreign workspace and an unknown one get the same answer', async () => {
  const other = await app.addWorkspace('Other', 'OTH');
  const [foreign, unknown] = await Promise.all(
    [other.workspaceId, crypto.randomUUID()].map((workspace) => exchange(person, { fields: { workspace } })),
  );
  const { requestId: _, ...error } = foreign!.json.error;
  expect(foreign!.status).toBe(404);
  expect(unknown!.json.error).toMatchObject(error);
});

test('a person with two workspaces gets a bearer for the workspace they name', async () => {
  const { workspaceId, userId } = await app.addWorkspace('Second', 'SEC');
  await app.services.store.commit([
    addMembershipOp(person.accountId, workspaceId, userId, app.services.nowMs()),
  ]);
  const both = [app.workspace.workspaceId, workspaceId].sort();
  for (const [id, member, team] of [
    [app.workspace.workspaceId, person.memberId, 'ENG'],
    [workspaceId, userId, 'SEC'],
  ] as const) {
    const { json } = await exchange(person, { fields: { workspace: id } });
    expect(json).toMatchObject({ workspace: { id }, member: { id: member } });
    expect(json.workspaces.map((one: Json) => one.id).sort()).toEqual(both);
    const teams = await app.clientOf(json.token)('GET', `${v1}/teams`);
    expect(teams.json.data.map(({ key }: Json) => key)).toEqual([team]);
  }
});

test('the form token of another session gets no bearer', async () => {
  const other = await newPerson('member');
  expect((await exchange(person, { fields: { formToken: other.who.formToken } })).status).toBe(403);
});

test('without a session there is no bearer', async () => {
  expect((await exchange(person, { headers: { cookie: '' } })).status).toBe(401);
});

test('a bearer expires after five minutes, and the session continues', async () => {
  const call = await clientOf(person);
  app.clock.advance(299_000);
  expect((await call('GET', `${v1}/me`)).status).toBe(200);
  app.clock.advance(1_000);
  expect((await call('GET', `${v1}/me`)).status).toBe(401);
  expect((await (await clientOf(person))('GET', `${v1}/me`)).status).toBe(200);
});

test('a sign-out ends the bearers of the session on the next request', async () => {
  const call = await clientOf(person);
  expect((await call('GET', `${v1}/me`)).status).toBe(200);
  await end(person);
  expect((await call('GET', `${v1}/me`)).status).toBe(401);
});

test('a removed member is refused on the next request', async () => {
  const call = await clientOf(person);
  await app.call('DELETE', `${v1}/members/${person.memberId}`);
  expect((await call('GET', `${v1}/me`)).status).toBe(401);
});

test('a lowered role applies to the next request', async () => {
  const call = await clientOf(person);
  const team = { key: 'LOW', name: 'Lowered' };
  expect((await call('POST', `${v1}/teams`, team, { 'tatami-mode': 'simulate' })).status).toBeLessThan(300);
  await app.call('PATCH', `${v1}/members/${person.memberId}`, { role: 'guest' });
  expect((await call('POST', `${v1}/teams`, team)).status).toBe(403);
});

test('a bearer is not accepted by the MCP endpoint', async () => {
  const { json } = await exchange(person);
  const { status } = await app.clientOf(json.token)(
    'POST',
    '/api/mcp/streamable-http',
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    { accept: 'application/json, text/event-stream' },
  );
  expect(status).toBe(401);
});

const newKey = { name: 'From the app', scopes: ['issues:read'] };

test('creating lasting access needs a sign-in within ten minutes', async () => {
  expect((await (await clientOf(person))('POST', `${v1}/api-keys`, newKey)).status).toBe(201);
  app.clock.advance(10 * 60_000);
  const call = await clientOf(person);
  const proposal = (
    await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Proposed' }, { 'tatami-mode': 'propose' })
  ).json as Json;
  const attempts: [string, string, object][] = [
    ['POST', `${v1}/api-keys`, newKey],
    ['POST', `${v1}/webhooks`, { url: 'https://example.com', events: ['issue.created'] }],
    ['POST', `${v1}/members`, { name: 'Ben' }],
    ['POST', `${v1}/proposals/${proposal.id}/approve`, {}],
    ['POST', `${v1}/plugins`, { package: {}, grant: [] }],
    ['POST', `${v1}/plugins/com.test.any/shadow`, { package: {} }],
  ];
  for (const [method, path, body] of attempts) {
    const { status, json } = await call(method, path, body);
    expect({ path, status, code: json.error.code }).toEqual({
      path,
      status: 403,
      code: 'recent_sign_in_required',
    });
  }
  expect((await call('POST', `${v1}/issues`, { team: 'ENG', title: 'Ordinary' })).status).toBe(201);
});

test('a new address for events or codes needs a recent sign-in, and other changes do not', async () => {
  const hook = { url: 'https://example.com/a', events: ['issue.created'] };
  const { json: webhook } = await app.call('POST', `${v1}/webhooks`, hook);
  const redirectUris = ['https://example.com/callback'];
  const { json: client } = await app.call('POST', `${v1}/oauth-apps`, { name: 'Reports', redirectUris });
  app.clock.advance(10 * 60_000);
  const call = await clientOf(person);
  const changes: [string, object, object][] = [
    [`${v1}/webhooks/${webhook.id}`, { url: 'https://example.com/b' }, { enabled: false }],
    [`${v1}/oauth-apps/${client.id}`, { redirectUris: ['https://example.com/b'] }, { name: 'Other' }],
  ];
  for (const [path, sensitive, plain] of changes) {
    for (const mode of ['simulate', 'propose', undefined]) {
      const { json } = await call(
        'PATCH',
        path,
        sensitive,
        mode === undefined ? {} : { 'tatami-mode': mode },
      );
      expect({ path, mode, code: json.error?.code }).toEqual({ path, mode, code: 'recent_sign_in_required' });
    }
    expect((await call('PATCH', path, plain)).status).toBe(200);
    expect((await app.call('PATCH', path, sensitive)).status).toBe(200);
  }
});

test.each([
  ['publicTriage', { publicTriage: { teams: ['ENG'] } }],
  ['guarded', { guarded: [] }],
])('a change of %s of the workspace needs a recent sign-in, and a new name does not', async (_, body) => {
  const path = `${v1}/workspace`;
  const { json: before } = await app.call('GET', path);
  app.clock.advance(10 * 60_000);
  const call = await clientOf(person);
  for (const mode of ['simulate', 'propose', undefined]) {
    const { json } = await call('PATCH', path, body, mode === undefined ? {} : { 'tatami-mode': mode });
    expect([mode, json.error?.code]).toEqual([mode, 'recent_sign_in_required']);
  }
  expect((await app.call('GET', path)).json).toEqual(before);
  expect((await call('PATCH', path, { name: 'Acme' })).status).toBe(200);
});

test.each(['simulate', 'propose'])(
  'a sensitive operation in the mode %s needs a recent sign-in too',
  async (mode) => {
    app.clock.advance(10 * 60_000);
    const { status, json } = await (
      await clientOf(person)
    )('POST', `${v1}/members`, { name: 'Ben' }, { 'tatami-mode': mode });
    expect({ status, code: json.error.code }).toEqual({ status: 403, code: 'recent_sign_in_required' });
  },
);

test('a sign-in becomes old while a bearer is valid', async () => {
  app.clock.advance(8 * 60_000);
  const call = await clientOf(person);
  expect((await call('GET', `${v1}/me`)).status).toBe(200);
  app.clock.advance(2 * 60_000);
  expect((await call('POST', `${v1}/api-keys`, newKey)).json.error.code).toBe('recent_sign_in_required');
});

test('a person by session may approve what apps may not', async () => {
  const proposed = await app.call(
    'POST',
    `${v1}/issues`,
    { team: 'ENG', title: 'Proposed' },
    { 'tatami-mode': 'propose' },
  );
  const call = await clientOf(person);
  const { status, json } = await call('POST', `${v1}/proposals/${proposed.json.id}/approve`, {});
  expect({ status, state: json.status }).toEqual({ status: 200, state: 'approved' });
});

/** Opens the event stream. @returns a function that resolves to false once the stream has ended */
async function openStream(of: Person): Promise<() => Promise<boolean>> {
  const { json } = await exchange(of);
  const response = await fetch(`${app.url}${v1}/events/stream`, {
    headers: { authorization: `Bearer ${json.token}` },
  });
  expect(response.status).toBe(200);
  const reader = response.body!.getReader();
  return async () => !(await reader.read()).done;
}

const write = (): Promise<Reply> => app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Streamed' });

test('the event stream outlives the bearer that opened it', async () => {
  const reads = await openStream(person);
  expect(await reads()).toBe(true);
  app.clock.advance(6 * 60_000);
  await write();
  expect(await reads()).toBe(true);
});

test.each([
  ['the sign-out', end],
  ['the removal of the member', (of: Person) => app.call('DELETE', `${v1}/members/${of.memberId}`)],
  [
    'a change of the role',
    (of: Person) => app.call('PATCH', `${v1}/members/${of.memberId}`, { role: 'guest' }),
  ],
])('%s ends the event stream', async (_, act) => {
  const reads = await openStream(person);
  expect(await reads()).toBe(true);
  await act(person);
  while (await reads());
});
