// A delayed response and an issued code grant only the permissions that the caller has when they take effect.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type Client, type Json, type Reply, type TestApp } from '../app.ts';
import { join, password } from '../features/sign-in/member.ts';
import { createVisitor } from '../features/sign-in/visitor.ts';
import { bearer, post, toolCall } from '../features/agents/agents.ts';
import {
  ask,
  authorizePath,
  Browser,
  browserOf,
  consent,
  exchange,
  formOf,
  pkce,
  registerApp,
  tokensOf,
} from '../features/oauth/client.ts';

const v1 = '/api/v1';
const commandLine = { id: 'tatami-cli', secret: null, redirectUri: '' };
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ flags: { host: 'localhost' } });
});
afterAll(() => app.stop());

async function createObject(path: string, body: object, headers: Record<string, string> = {}): Promise<Json> {
  const { status, json, text } = await app.call('POST', `${v1}${path}`, body, headers);
  if (status >= 300) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return json;
}

/**
 * Calls a tool that waits for the decision on a proposal.
 * @param taking runs while the call waits
 */
async function waited(
  taking: (someone: { memberId: string; keyId: string }) => Promise<unknown>,
): Promise<string> {
  const { id: memberId } = await createObject('/members', { name: 'Wendy' });
  const scopes = ['issues:read', 'proposals:read'];
  const { id: keyId, key } = await createObject('/api-keys', { name: 'k', memberId, scopes });
  const propose = { 'tatami-mode': 'propose' };
  const { id } = await createObject('/issues', { team: 'ENG', title: 'Hidden from guests' }, propose);
  const waiting = post(app, toolCall('proposals_get', { id, wait: 60 }), bearer(key));
  // Once later calls are answered, the tool has read the proposal and waits.
  for (let n = 0; n < 3; n++) await post(app, toolCall('proposals_get', { id }), bearer(key));
  await taking({ memberId, keyId });
  expect((await app.call('POST', `${v1}/proposals/${id}/reject`, { reason: 'No' })).status).toBe(200);
  return (await waiting).text;
}

test('a waiting tool returns nothing once its key is revoked or its member demoted', async () => {
  expect(await waited(() => Promise.resolve())).toContain('Hidden from guests');
  for (const taking of [
    ({ keyId }: { keyId: string }) => app.call('DELETE', `${v1}/api-keys/${keyId}`),
    ({ memberId }: { memberId: string }) => app.call('PATCH', `${v1}/members/${memberId}`, { role: 'guest' }),
    ({ memberId }: { memberId: string }) => app.call('DELETE', `${v1}/members/${memberId}`),
  ]) {
    const text = await waited(async (someone) => expect((await taking(someone)).status).toBeLessThan(300));
    expect(text).not.toContain('Hidden from guests');
    expect(text).toMatch(/unauthorized|not_found|forbidden|insufficient_scope/);
  }
});

test('a code that was approved before signing out everywhere yields no token after it', async () => {
  const client = await registerApp(app);
  const { visitor } = await join(app);
  await visitor.get('/account');
  const browser = new Browser(app.url);
  browser.addCookie(`__Host-tatami=${visitor.cookies.get('__Host-tatami')}`);
  const proof = pkce();
  const back = await consent(browser, authorizePath(client, proof.challenge));
  const device = (await ask(app, '/oauth/device', commandLine, { scope: 'issues:read' })).json;
  const typed = formOf(await browser.get(`/device?user_code=${device.user_code}`));
  const form = formOf(await browser.post('/device', typed));
  form.set('decision', 'allow');
  expect((await browser.post('/device', form)).text).toContain('Your device is connected');
  await visitor.get('/account');
  expect((await visitor.post('/account/end-sessions')).to).toBe('/sign-in');
  expect((await exchange(app, client, back.searchParams.get('code'), proof)).json.error).toBe(
    'invalid_grant',
  );
  const polled = await ask(app, '/oauth/token', commandLine, {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: device.device_code,
  });
  expect([polled.status, polled.json.error]).toEqual([400, 'invalid_grant']);
});

test('a member who is added again with the same address has none of the earlier access, keys and streams', async () => {
  const { visitor, email, memberId } = await join(app);
  const { key } = await createObject('/api-keys', {
    name: 'k',
    memberId,
    scopes: ['issues:read', 'events:read'],
  });
  const before = app.clientOf(key);
  const stream = await fetch(`${app.url}${v1}/events/stream`, { headers: bearer(key) });
  expect((await app.call('DELETE', `${v1}/members/${memberId}`)).status).toBe(204);
  const again = await createObject('/members', { name: 'Ben', email });
  expect((await before('GET', `${v1}/issues`)).status).toBe(401);
  await stream.text();
  expect((await visitor.get('/account')).status).toBe(403);
  // The account joins again only with an invitation.
  const { url } = await createObject(`/members/${again.id}/invitation`, {});
  const other = createVisitor(app);
  await other.post('/sign-in', { email, password });
  const path = new URL(url).pathname;
  await other.get(path);
  expect((await other.post(path)).to).toBe('/welcome');
  expect((await before('GET', `${v1}/issues`)).status).toBe(401);
});

async function admin(): Promise<Client> {
  const { id: memberId } = await createObject('/members', { name: 'Ada', role: 'admin' });
  return app.clientOf((await createObject('/api-keys', { name: 'k', memberId, scopes: allScopes })).key);
}
const propose = { 'tatami-mode': 'propose' };

test('undoing a creation removes no member who has joined since', async () => {
  const approver = await admin();
  const { json: proposed } = await app.call('POST', `${v1}/members`, { name: 'Uri' }, propose);
  const approved = await approver('POST', `${v1}/proposals/${proposed.id}/approve`, {});
  const { json: members } = await app.call('GET', `${v1}/members?limit=100`);
  const uri = members.data.find((one: Json) => one.name === 'Uri');
  const { url } = await createObject(`/members/${uri.id}/invitation`, {});
  const fields = { name: 'Uri', email: 'uri@acme.example', password };
  expect((await createVisitor(app).post(new URL(url).pathname, fields)).to).toBe('/welcome');
  const undone = await app.call('POST', `${v1}/proposals/${proposed.id}/undo`, {});
  expect([approved.status, undone.status]).toEqual([200, 200]);
  expect(undone.json.skipped).toMatchObject([{ id: uri.id, reason: 'worked_on' }]);
  expect((await app.call('GET', `${v1}/members/${uri.id}`)).json.joinedAt).not.toBeNull();
});

test('a narrowed consent replays no write, a new consent writes again, and a secret replayed by a demoted admin is revoked', async () => {
  const client = await registerApp(app, { name: 'Replayer' });
  const browser = await browserOf(app);
  const create = (token: string): Promise<Reply> =>
    app.clientOf(token)(
      'POST',
      `${v1}/issues`,
      { team: 'ENG', title: 'Once' },
      { 'idempotency-key': 'once' },
    );
  const params = { scope: 'issues:write comments:read' };
  const first = (await tokensOf(app, client, { browser, params })).access_token;
  expect((await create(first)).status).toBe(201);
  const [grant] = (await app.call('GET', `${v1}/grants?limit=1`)).json.data;
  const narrowed = await app.call('PATCH', `${v1}/grants/${grant.id}`, { scopes: ['comments:read'] });
  expect([narrowed.status, (await create(first)).json.error?.code]).toEqual([200, 'insufficient_scope']);
  const second = (await tokensOf(app, client, { browser, params })).access_token;
  const anew = await create(second);
  expect([anew.status, anew.headers.get('idempotent-replayed')]).toEqual([201, null]);

  const { id: memberId } = await createObject('/members', { name: 'Ada', role: 'admin' });
  const { key } = await createObject('/api-keys', { name: 'k', memberId, scopes: allScopes });
  const { id: other } = await createObject('/members', { name: 'Olga' });
  const body = { name: 'handed', memberId: other, scopes: ['issues:read'] };
  const hand = (): Promise<Reply> =>
    app.clientOf(key)('POST', `${v1}/api-keys`, body, { 'idempotency-key': 'hand' });
  const handed = await hand();
  expect([handed.status, (await hand()).json.key]).toEqual([201, handed.json.key]);
  expect((await app.call('PATCH', `${v1}/members/${memberId}`, { role: 'member' })).status).toBe(200);
  // The replay returns the same credential, which ended with the right to issue it.
  const replayed = (await hand()).json.key;
  expect(replayed).toBe(handed.json.key);
  expect((await app.clientOf(replayed)('GET', `${v1}/me`)).status).toBe(401);
});
