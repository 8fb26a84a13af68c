import { afterAll, beforeAll, expect, test } from 'bun:test';
import { clientIsThere } from '../../../core/features/oauth/grants.ts';
import type { Principal } from '../../../core/kernel/http/principal.ts';
import { expandScopes } from '../../../core/kernel/rights/table.ts';
import { systemStatement } from '../../../core/platform/store/statement.ts';
import { createSessions } from '../../../core/features/sign-in/sessions.ts';
import { scopeOf, systemOp } from '../../../core/platform/store/store.ts';
import { signIn } from '../sign-in/person.ts';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { asText } from '../../value-client.ts';
import { makeGrant } from './grant.ts';

const v1 = '/api/v1/grants';
const dayMs = 86_400_000;
let app: TestApp;
let people: Readonly<Record<'admin' | 'member' | 'other', { id: string; call: Client }>>;

const join = async (role: string) => {
  const { id } = (await app.call('POST', '/api/v1/members', { name: `The ${role}`, role })).json;
  const scopes = ['grants:write', 'events:read', 'members:write'];
  const { key } = (await app.call('POST', '/api/v1/api-keys', { name: role, scopes, memberId: id })).json;
  return { id, call: app.clientOf(key) };
};
const readGrant = async (id: string): Promise<Json> => (await app.call('GET', `${v1}/${id}`)).json;
const appOf = async (call: Client = app.call): Promise<Json> =>
  (await call('POST', '/api/v1/oauth-apps', { name: 'Reports', redirectUris: ['https://a.example/cb'] }))
    .json;

const live = systemStatement<{ id: string }>(
  'test.live_grants',
  'as a token is looked up, whatever the workspace',
  `SELECT g.id FROM grants AS g WHERE g.id = :id AND g.revoked_at IS NULL AND ${clientIsThere('g')}`,
);
const isLive = async (id: string): Promise<boolean> =>
  (await app.services.store.readSystem(live, { id })).length > 0;

/** Sends an in-process request as the app of a grant. */
async function asApp(grantId: string, name: string, input: { id?: string; body?: object } = {}) {
  const { member, client, scopes } = await readGrant(grantId);
  const principal: Principal = {
    scope: scopeOf(app.workspace.workspaceId, grantId),
    actor: { kind: 'app', id: client.id, name: client.name, memberId: member.id },
    ...{ scopes: expandScopes([...scopes, 'grants:write']), narrowed: null },
    ...{ tokenId: grantId, grant: { id: grantId, resource: 'api', guarded: [] } },
  };
  const call = app.app.caller(asText);
  const params = input.id === undefined ? {} : { id: input.id };
  const outcome = await call(app.app.route(name), { principal, isCounted: false, params, body: input.body });
  return outcome.error ? outcome.error.code : (JSON.parse(outcome.body ?? 'null') as Json);
}

beforeAll(async () => {
  app = await startApp();
  people = { admin: await join('admin'), member: await join('member'), other: await join('member') };
});
afterAll(() => app.stop());

test('a grant shows its member, app, scopes and redirect host', async () => {
  const from = await app.lastSequence();
  const id = await makeGrant(app, {
    ...{ memberId: people.member.id, resource: 'mcp', redirectHost: 'app.example' },
    ...{ scopes: ['issues:write', 'issues:write'], guarded: ['delete'] },
  });
  const { json } = await people.member.call('GET', `${v1}/${id}`);
  expect(json).toMatchObject({
    ...{ id, member: { id: people.member.id, name: 'The member' }, redirectHost: 'app.example' },
    client: { id: 'https://app.example/client', name: 'Reports', kind: 'document', verified: false },
    ...{ resource: 'mcp', scopes: ['issues:write'], guarded: ['delete'], lastUsedAt: null, revokedAt: null },
  });
  expect(await app.eventTypes(from)).toEqual(['grant.created']);
});

test('members see and revoke their own grants, admins see all, and others get a not-found error', async () => {
  const id = await makeGrant(app, { memberId: people.member.id });
  const missing = `grt_${'0'.repeat(26)}`;
  const lists = async (call: Client): Promise<boolean> =>
    (await call('GET', `${v1}?limit=100`)).json.data.some((one: Json) => one.id === id);
  expect(
    await Promise.all([people.member, people.admin, people.other].map(({ call }) => lists(call))),
  ).toEqual([...[true, true, false]]);
  const elsewhere = app.clientOf((await app.addWorkspace('Elsewhere', 'ELS')).apiKey);
  for (const call of [people.other.call, elsewhere])
    for (const [method, sent] of [
      ['GET'],
      ['PATCH', { scopes: [] }],
      ['PATCH', { guarded: [] }],
      ['DELETE'],
    ] as const) {
      const foreign = await call(method, `${v1}/${id}`, sent);
      const nowhere = await call(method, `${v1}/${missing}`, sent);
      expect([method, foreign.status, foreign.json.error.code]).toEqual([
        method,
        nowhere.status,
        nowhere.json.error.code,
      ]);
      expect(foreign.status).toBeGreaterThanOrEqual(404);
    }
  const from = await app.lastSequence();
  expect((await people.admin.call('DELETE', `${v1}/${id}`)).status).toBe(204);
  expect((await people.member.call('DELETE', `${v1}/${id}`)).status).toBe(404);
  expect((await readGrant(id)).revokedAt).not.toBeNull();
  expect(await app.eventTypes(from)).toEqual(['grant.revoked']);
});

test('members receive events of their own grants, and readers of the audit log those of all', async () => {
  const mine = await makeGrant(app, { memberId: people.member.id });
  const others = await makeGrant(app, { memberId: people.other.id });
  const events = (await people.member.call('GET', '/api/v1/events?limit=100&types=grant.created')).json.data;
  const ids = events.map(({ data }: Json) => data.id);
  expect([ids.includes(mine), ids.includes(others)]).toEqual([true, false]);
  const all = (await app.call('GET', '/api/v1/events?limit=100&types=grant.created')).json.data;
  expect(all.map(({ data }: Json) => data.id)).toContain(others);
});

test('a grant can be narrowed and never widened, by any caller', async () => {
  const id = await makeGrant(app, { scopes: ['issues:write', 'comments:read'], guarded: ['delete'] });
  const patch = (sent: object) => app.call('PATCH', `${v1}/${id}`, sent);
  for (const scopes of [['issues:write', 'labels:read'], ['comments:write'], ['audit:read'], ['nonsense']]) {
    const { status, json } = await patch({ scopes });
    expect([scopes, status, json.error.details[0].path]).toEqual([
      scopes,
      422,
      `scopes.${scopes.length - 1}`,
    ]);
  }
  for (const guarded of [[], ['bulk']])
    expect((await patch({ guarded })).json.error.details).toMatchObject([{ path: 'guarded' }]);
  for (const sent of [
    { member: people.admin.id },
    { resource: 'api' },
    { revokedAt: null },
    { lastUsedAt: null },
  ])
    expect((await patch(sent)).json.error.details).toMatchObject([{ issue: 'unknown_field' }]);
  const { json } = await patch({ scopes: ['issues:read'], guarded: ['delete', 'finish'] });
  expect(json).toMatchObject({ scopes: ['issues:read'], guarded: ['delete', 'finish'], version: 2 });
  expect((await patch({ scopes: ['issues:write'] })).status).toBe(422);
  await app.call('DELETE', `${v1}/${id}`);
  expect((await patch({ guarded: ['delete', 'finish', 'bulk'] })).json.error.code).toBe('conflict');
});

test('an app revokes its own grant and no other', async () => {
  const own = await makeGrant(app, { client: { id: 'https://one.example/' }, scopes: ['issues:write'] });
  const other = await makeGrant(app, { client: { id: 'https://two.example/' } });
  expect(await asApp(own, 'grants.delete', { id: other })).toBe('forbidden');
  expect(await asApp(own, 'grants.update', { id: other, body: { guarded: ['bulk'] } })).toBe('forbidden');
  expect(await asApp(own, 'grants.update', { id: own, body: { scopes: ['issues:read'] } })).toMatchObject({
    scopes: ['issues:read'],
  });
  expect(await asApp(own, 'grants.delete', { id: own })).toBeNull();
  expect(await isLive(own)).toBe(false);
});

test('`me` names the credential of a request: a key, a grant or a session', async () => {
  const { json } = await app.call('GET', '/api/v1/me');
  expect(json).toMatchObject({ key: { name: 'First key' }, grant: null, session: null });
  expect(json.scopes).toContain('issues:read');
  const id = await makeGrant(app, { scopes: ['issues:write'] });
  const me = await asApp(id, 'me.get');
  expect(me).toMatchObject({ key: null, grant: { id, scopes: ['issues:write'] }, session: null });
  expect(me.member.id).toBe(app.workspace.userId);
  expect(me.scopes).toContain('issues:read');
  const { who } = await signIn(app);
  const principal = (await createSessions(app.services).principal(who, app.workspace.workspaceId))!;
  const input = { principal, isCounted: false, params: {} };
  const { body } = (await app.app.caller(asText)(app.app.route('me.get'), input)) as { body: string };
  const { key, grant, session } = JSON.parse(body) as Json;
  expect([key, grant, session.id]).toEqual([null, null, who.sessionId]);
});

test('deleting an app ends its grants at once, in every workspace', async () => {
  const other = await app.addWorkspace('Second', 'SEC');
  const { id: clientId } = await appOf();
  const client = { id: clientId, name: 'Reports', kind: 'app', verified: true } as const;
  const here = await makeGrant(app, { client });
  const there = await makeGrant(app, { client, memberId: other.userId }, other.workspaceId);
  const bystander = await makeGrant(app, { client: { ...client, id: (await appOf()).id } });
  expect(await Promise.all([here, there, bystander].map(isLive))).toEqual([true, true, true]);
  const from = await app.lastSequence();
  await app.call('DELETE', `/api/v1/oauth-apps/${clientId}`);
  expect(await Promise.all([here, there, bystander].map(isLive))).toEqual([false, false, true]);
  await app.settled();
  expect(await app.eventTypes(from)).toEqual(['oauth_app.deleted', 'grant.revoked']);
  const fetched = (await app.clientOf(other.apiKey)('GET', `${v1}/${there}`)).json;
  expect(fetched.revokedAt).not.toBeNull();
  const { json } = await app.clientOf(other.apiKey)('GET', '/api/v1/events?limit=100&types=grant.revoked');
  expect(json.data).toMatchObject([{ data: { id: there }, actor: { kind: 'system' } }]);
});

test("removing a member ends the member's grants", async () => {
  const { id: memberId } = await join('member');
  const id = await makeGrant(app, { memberId });
  await app.call('DELETE', `/api/v1/members/${memberId}`);
  await app.settled();
  expect((await readGrant(id)).revokedAt).not.toBeNull();
});

test('grants left open by a crash are ended at the next start', async () => {
  const { id: clientId } = await appOf();
  const id = await makeGrant(app, { client: { id: clientId, kind: 'app' } });
  const behind = systemStatement(
    'test.delete_app',
    'as a process leaves it that dies right after',
    'UPDATE oauth_apps SET deleted_at = 1 WHERE id = :id',
  );
  await app.services.store.commit([systemOp(behind, { id: clientId })]);
  app = await app.restart();
  await app.settled();
  expect((await readGrant(id)).revokedAt).not.toBeNull();
});

test('a grant expires after ninety days without use, and not while it is used', async () => {
  const idle = await makeGrant(app);
  const busy = await makeGrant(app);
  app.clock.advance(60 * dayMs);
  expect((await app.call('PATCH', `${v1}/${busy}`, { guarded: ['bulk'] })).status).toBe(200);
  app.clock.advance(31 * dayMs);
  await app.settled();
  expect([(await readGrant(idle)).revokedAt === null, (await readGrant(busy)).revokedAt]).toEqual([
    false,
    null,
  ]);
  expect(await isLive(busy)).toBe(true);
});
