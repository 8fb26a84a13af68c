// Invitations, keys, links and webhooks never have more rights than the credential that creates them, and end with the
// right to create them.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { directorySection } from '../../core/kernel/resource/directory.ts';
import { directoryLoaders } from '../../core/app/features.ts';
import { createOperatorRpc } from '../../core/app/setup/operator-rpc.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { createVisitor } from '../features/sign-in/visitor.ts';

const v1 = '/api/v1';
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
const hook = { url: `http://127.0.0.1:${receiver.port}/`, events: ['issue.*'] };

let app: TestApp;
let memberCount = 0;
beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

interface Someone {
  readonly id: string;
  readonly keyId: string;
  readonly call: Client;
}

async function created(call: Client, path: string, body?: object): Promise<Json> {
  const { status, json, text } = await call('POST', `${v1}${path}`, body);
  if (status !== 201 && status !== 200) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return json;
}
const add = async (role: string, call = app.call): Promise<string> =>
  (await created(call, '/members', { name: `Somebody ${++memberCount}`, role })).id;
const keyOf = (memberId: string, scopes: readonly string[], call = app.call): Promise<Json> =>
  created(call, '/api-keys', { name: 'k', scopes, memberId });

/** A member whose own key, which the owner created, has all scopes. */
async function someone(role: string): Promise<Someone> {
  const id = await add(role);
  const { id: keyId, key } = await keyOf(id, allScopes);
  return { id, keyId, call: app.clientOf(key) };
}
const statusOf = async (key: string): Promise<number> => (await app.clientOf(key)('GET', `${v1}/me`)).status;
const opens = async (url: string): Promise<number> =>
  (await createVisitor(app).get(new URL(url).pathname)).status;
const webhookOf = async ({ id }: Json): Promise<Json> => (await app.call('GET', `${v1}/webhooks/${id}`)).json;
const roleOf = async (id: string): Promise<string> =>
  (await app.call('GET', `${v1}/members/${id}`)).json.role;

const refused = ({ status, json }: { status: number; json: Json }) => [status, json.error?.code];
const missing = [403, 'insufficient_scope'];

test('a key cannot invite to a role with scopes that the key lacks', async () => {
  const narrow = app.clientOf((await keyOf(app.workspace.userId, ['members:write'])).key);
  const there = await add('guest');
  const invited = await add('member');
  const before = await app.lastSequence();
  for (const role of ['owner', 'admin', 'member', 'guest']) {
    const added = await narrow('POST', `${v1}/members`, { name: 'Mallory', role });
    expect([role, ...refused(added)]).toEqual([role, ...missing]);
  }
  for (const body of [{ role: 'owner' }, { role: 'admin' }, { role: 'member' }, { teams: ['ENG'] }])
    expect([body, ...refused(await narrow('PATCH', `${v1}/members/${there}`, body))]).toEqual([
      body,
      ...missing,
    ]);
  for (const id of [invited, there, app.workspace.userId]) {
    const link = await narrow('POST', `${v1}/members/${id}/invitation`);
    expect(refused(link)).toEqual(missing);
    expect(link.json.error.message).toContain('api-keys:write');
  }
  expect(await app.eventTypes(before)).toEqual([]);
});

test('a key with the scopes of members adds and invites members, and no higher role', async () => {
  const member = await someone('member');
  const { scopes } = (await member.call('GET', `${v1}/me`)).json;
  const call = app.clientOf((await keyOf(app.workspace.userId, scopes)).key);
  const id = await add('member', call);
  expect((await call('POST', `${v1}/members/${id}/invitation`)).status).toBe(200);
  expect(refused(await call('PATCH', `${v1}/members/${id}`, { role: 'admin' }))).toEqual(missing);
  expect(refused(await call('POST', `${v1}/members`, { name: 'Mallory', role: 'owner' }))).toEqual(missing);
});

test('a key that cannot invite to a role cannot change the address of its invitation', async () => {
  const narrow = app.clientOf((await keyOf(app.workspace.userId, ['members:write'])).key);
  const proposing = app.clientOf(
    (await keyOf(app.workspace.userId, ['members:write', 'proposals:write'])).key,
  );
  const before = await app.lastSequence();
  const ids = [await add('admin'), await add('guest'), app.workspace.userId];
  const own = app.clientOf((await keyOf(ids[0]!, ['members:write'])).key);
  const email = 'mallory@acme.example';
  for (const id of ids)
    for (const call of id === app.workspace.userId ? [narrow] : [narrow, proposing]) {
      const headers: Record<string, string> = call === proposing ? { 'tatami-mode': 'propose' } : {};
      expect(refused(await call('PATCH', `${v1}/members/${id}`, { email }, headers))).toEqual(missing);
    }
  // Nobody has signed in as this member, so only the key can act for them.
  expect(refused(await own('PATCH', `${v1}/members/${ids[0]}`, { email }))).toEqual(missing);
  const types = new Set(await app.eventTypes(before));
  expect([...types].sort()).toEqual(['api_key.created', 'member.added']);
  expect((await own('PATCH', `${v1}/members/${ids[0]}`, { name: 'Self' })).status).toBe(200);
});

test('an invitation that ended with its role or its address does not return with them', async () => {
  for (const [there, back] of [
    [{ role: 'admin' }, { role: 'member' }],
    [{ role: 'guest' }, { role: 'member' }],
    [{ email: 'elsewhere@acme.example' }, { email: null }],
  ]) {
    const id = await add('member');
    const { url } = await created(app.call, `/members/${id}/invitation`);
    for (const change of [there, back])
      expect((await app.call('PATCH', `${v1}/members/${id}`, change)).status).toBe(200);
    expect([there, await opens(url)]).toEqual([there, 404]);
  }
});

test('a narrow key can still reduce rights: it demotes, removes, withdraws links and renames', async () => {
  const narrow = app.clientOf((await keyOf(app.workspace.userId, ['members:write'])).key);
  const id = await add('admin');
  const { url } = await created(app.call, `/members/${id}/invitation`);
  const path = `${v1}/members/${id}`;
  expect((await narrow('DELETE', `${path}/invitation`)).status).toBe(204);
  expect(await opens(url)).toBe(404);
  expect((await narrow('PATCH', path, { role: 'member', name: 'Renamed' })).status).toBe(200);
  expect((await narrow('DELETE', path)).status).toBe(204);
});

/** Creates everything that an admin can hand out, and returns which of it still works. */
async function handOut(by: Client): Promise<() => Promise<object>> {
  const [fellow, invited] = [await add('admin'), await add('admin')];
  const { key } = await keyOf(fellow, allScopes, by);
  const { url } = await created(by, `/members/${invited}/invitation`);
  const webhook = await created(by, '/webhooks', hook);
  return async () => ({
    key: (await statusOf(key)) === 200,
    link: (await opens(url)) === 200,
    webhook: (await webhookOf(webhook)).enabled,
  });
}
const live = { key: true, link: true, webhook: true };
const ended = { key: false, link: false, webhook: false };

let admin: Someone;
let state: () => Promise<object>;
beforeEach(async () => {
  admin = await someone('admin');
  state = await handOut(admin.call);
});

for (const [how, take] of [
  ['demoted', (id: string) => app.call('PATCH', `${v1}/members/${id}`, { role: 'member' })],
  ['removed', (id: string) => app.call('DELETE', `${v1}/members/${id}`)],
] as const)
  test(`everything an admin handed out ends in the commit in which the admin is ${how}`, async () => {
    expect(await state()).toEqual(live);
    const before = await app.lastSequence();
    expect((await take(admin.id)).status).toBeLessThan(300);
    const events: Json[] = (await app.call('GET', `${v1}/events?after=${before}`)).json.data;
    expect(await state()).toEqual(ended);
    const emitted = events.filter(({ type }) => !type.startsWith('inbox'));
    expect(emitted.map(({ type }) => type).sort()).toEqual(
      ['api_key.revoked', `member.${how === 'removed' ? 'removed' : 'updated'}`, 'webhook.disabled'].sort(),
    );
    // One commit, by the principal who removed the right.
    expect(new Set(emitted.map(({ actor, created_at }) => `${actor.id} ${created_at}`)).size).toBe(1);
    const { json: inbox } = await app.call('GET', `${v1}/inbox?limit=100`);
    expect(inbox.data.map((item: Json) => item.kind)).toContain('webhook_disabled');
  });

test('owner-level credentials end when the owner becomes an admin, and admin-level ones continue', async () => {
  const owner = await someone('owner');
  const [fellow, other] = [await add('owner'), await add('admin')];
  const forOwner = await keyOf(fellow, ['issues:read'], owner.call);
  const forAdmin = await keyOf(other, ['issues:read'], owner.call);
  const toOwner = await created(owner.call, `/members/${fellow}/invitation`);
  const toAdmin = await created(owner.call, `/members/${other}/invitation`);
  const webhook = await created(owner.call, '/webhooks', hook);
  expect((await app.call('PATCH', `${v1}/members/${owner.id}`, { role: 'admin' })).status).toBe(200);
  expect([await statusOf(forOwner.key), await statusOf(forAdmin.key)]).toEqual([401, 200]);
  expect([await opens(toOwner.url), await opens(toAdmin.url)]).toEqual([404, 200]);
  expect((await webhookOf(webhook)).enabled).toBe(true);
});

test('credentials created with a key end when the key is revoked, and other credentials of its member continue', async () => {
  const second = await keyOf(admin.id, allScopes, admin.call);
  const stolen = await handOut(app.clientOf(second.key));
  expect((await app.call('DELETE', `${v1}/api-keys/${second.id}`)).status).toBe(204);
  expect([await stolen(), await state()]).toEqual([ended, live]);
});

test('credentials created with a key end also when the operator revokes the key', async () => {
  const { services, committer } = app;
  const { load } = directorySection(services.store, directoryLoaders);
  const operatorRpc = createOperatorRpc({ ...services, committer, directoryOf: load });
  await operatorRpc.revoke({ key: admin.keyId });
  expect(await state()).toEqual(ended);
});

test('the successor of a rolled key inherits the credentials that the key created, and they end with the successor', async () => {
  const { json: successor } = await app.call('POST', `${v1}/api-keys/${admin.keyId}/roll`, { graceHours: 0 });
  expect(await state()).toEqual(live);
  expect((await app.call('DELETE', `${v1}/api-keys/${successor.id}`)).status).toBe(204);
  expect(await state()).toEqual(ended);
});

test('a key that was handed out cannot create credentials that outlive it', async () => {
  const fellow = await add('admin');
  const first = await keyOf(fellow, allScopes, admin.call);
  const holder = app.clientOf(first.key);
  const second = await created(holder, '/api-keys', { name: 'own', scopes: allScopes });
  const third = await created(app.clientOf(second.key), `/api-keys/${second.id}/roll`, {});
  const further = await handOut(app.clientOf(third.key));
  expect(await further()).toEqual(live);
  expect((await app.call('PATCH', `${v1}/members/${admin.id}`, { role: 'member' })).status).toBe(200);
  for (const { key } of [first, second, third]) expect(await statusOf(key)).toBe(401);
  expect(await further()).toEqual(ended);
});

test('a principal with the right takes over a webhook by enabling it, and it ends with them', async () => {
  const webhook = await created(admin.call, '/webhooks', hook);
  await app.call('DELETE', `${v1}/members/${admin.id}`);
  expect((await webhookOf(webhook)).disabledReason).toContain('Somebody');
  const next = await someone('admin');
  expect((await next.call('PATCH', `${v1}/webhooks/${webhook.id}`, { enabled: true })).status).toBe(200);
  await app.call('PATCH', `${v1}/members/${next.id}`, { role: 'member' });
  expect((await webhookOf(webhook)).enabled).toBe(false);
});

test('a credential that is created while the right is removed does not survive', async () => {
  const fellow = await add('admin');
  const keys = Array.from({ length: 6 }, () =>
    admin.call('POST', `${v1}/api-keys`, { name: 'k', scopes: ['issues:read'], memberId: fellow }),
  );
  const hooks = Array.from({ length: 6 }, () => admin.call('POST', `${v1}/webhooks`, hook));
  const links = Array.from({ length: 6 }, () => admin.call('POST', `${v1}/members/${fellow}/invitation`));
  const taken = app.call('PATCH', `${v1}/members/${admin.id}`, { role: 'member' });
  const [keyReplies, webhooks, urls] = [
    await Promise.all(keys),
    await Promise.all(hooks),
    await Promise.all(links),
  ];
  expect((await taken).status).toBe(200);
  for (const { status, json } of keyReplies) if (status === 201) expect(await statusOf(json.key)).toBe(401);
  for (const { status, json } of webhooks)
    if (status === 201) expect((await webhookOf(json)).enabled).toBe(false);
  for (const { status, json } of urls) if (status === 200) expect(await opens(json.url)).toBe(404);
  expect(await roleOf(admin.id)).toBe('member');
});
