// Permissions to create keys for members, rolling without downtime, `lastUsedAt`, and `GET /me`.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allScopes } from '../../../core/kernel/rights/table.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
let people: Record<'owner' | 'admin' | 'member', Json>;

const mint = async (body: object, key = app.workspace.apiKey) =>
  app.clientOf(key)('POST', '/api/v1/api-keys', { name: 'k', scopes: ['issues:read'], ...body });
const statusOf = async (key: string): Promise<number> =>
  (await app.clientOf(key)('GET', '/api/v1/me')).status;
/** The last use of a key is written a second after the request. */
const noted = async (): Promise<void> => {
  app.clock.advance(1_000);
  await app.settled();
};

beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
  const join = async (name: string, role: string): Promise<Json> => {
    const { json } = await app.call('POST', '/api/v1/members', { name, role, email: `${name}@acme.example` });
    const key = await mint({ memberId: json.id, scopes: ['api-keys:write', 'issues:write'] });
    return { ...json, key: key.json.key };
  };
  people = {
    owner: await join('Olga', 'owner'),
    admin: await join('Adam', 'admin'),
    member: await join('Mia', 'member'),
  };
});
afterAll(() => app.stop());

test('a member creates keys for themselves, an admin for others, and only an owner for an owner', async () => {
  const { owner, admin, member } = people;
  const allowed: [Json, Json, number][] = [
    [member, member, 201],
    [member, admin, 403],
    [admin, member, 201],
    [admin, owner, 403],
    [owner, admin, 201],
  ];
  for (const [by, to, status] of allowed) {
    const minted = await mint({ memberId: to.id }, by.key);
    expect([by.name, to.name, minted.status]).toEqual([by.name, to.name, status]);
    if (status === 201) expect(minted.json.member).toEqual({ id: to.id, name: to.name });
    // The same rule applies to revoking and rolling a key.
    const { id } = (await mint({ memberId: to.id })).json;
    const call = app.clientOf(by.key);
    const rolled = await call('POST', `/api/v1/api-keys/${id}/roll`, {});
    expect([by.name, to.name, rolled.status]).toEqual([by.name, to.name, status]);
    const revoked = await call('DELETE', `/api/v1/api-keys/${id}`);
    expect([by.name, to.name, revoked.status]).toEqual([by.name, to.name, status === 201 ? 204 : 403]);
  }
  const wide = (await mint({ memberId: member.id, scopes: ['labels:read'] })).json;
  const narrower = app.clientOf(admin.key);
  expect((await narrower('POST', `/api/v1/api-keys/${wide.id}/roll`, {})).json.error.message).toContain(
    'labels:read',
  );
  expect((await mint({ memberId: 'usr_00000000000000000000000001' })).json.error.details).toMatchObject([
    { path: 'memberId', issue: 'not_found' },
  ]);
});

test('a rolled key ends at the millisecond of its grace period, and its successor works at once', async () => {
  const old = (await mint({ name: 'CI', memberId: people.member.id, scopes: ['issues:write', 'teams:read'] }))
    .json;
  const rolled = await step(
    'POST',
    `/api-keys/${old.id}/roll`,
    { graceHours: 2 },
    {
      status: 201,
      body: { name: 'CI', scopes: ['issues:write', 'teams:read'], member: old.member, expiresAt: null },
      events: ['api_key.created', 'api_key.rolled'],
    },
  );
  expect(rolled.key).not.toBe(old.key);
  const until = new Date(app.clock.now() + 2 * 3_600_000).toISOString();
  expect(rolled.previous).toEqual({ id: old.id, expiresAt: until, revokedAt: null });
  expect((await app.call('GET', `/api/v1/api-keys/${old.id}`)).json).toMatchObject({
    expiresAt: until,
    replacedBy: rolled.id,
  });
  expect([await statusOf(old.key), await statusOf(rolled.key)]).toEqual([200, 200]);
  app.clock.advance(2 * 3_600_000 - 1);
  expect(await statusOf(old.key)).toBe(200);
  app.clock.advance(1);
  expect([await statusOf(old.key), await statusOf(rolled.key)]).toEqual([401, 200]);
  await step('POST', `/api-keys/${old.id}/roll`, {}, { status: 409, error: ['conflict'] });
  expect((await app.call('GET', '/api/v1/audit-log')).json.data.map(({ action }: Json) => action)).toContain(
    'api_key.rolled',
  );
});

test('without a grace period the old key ends with the response, and a repeated idempotency key returns a lost response', async () => {
  const old = (await mint({ expiresAt: new Date(app.clock.now() + 90 * 86_400_000).toISOString() })).json;
  const roll = () =>
    app.call('POST', `/api/v1/api-keys/${old.id}/roll`, { graceHours: 0 }, { 'idempotency-key': 'roll' });
  app.clock.advance(86_400_000);
  const first = await roll();
  expect(first.json.previous.revokedAt).toBe(new Date(app.clock.now()).toISOString());
  expect(await statusOf(old.key)).toBe(401);
  // The successor has the same lifetime as the old key.
  expect(first.json.expiresAt).toBe(new Date(app.clock.now() + 90 * 86_400_000).toISOString());
  const again = await roll();
  expect([again.status, again.json]).toEqual([201, first.json]);
  for (const [body, path] of [
    [{ graceHours: 25 }, 'graceHours'],
    [{ graceHours: -1 }, 'graceHours'],
    [{ expiresAt: '2020-01-01T00:00:00Z' }, 'expiresAt'],
  ] as const)
    expect(
      (await app.call('POST', `/api/v1/api-keys/${first.json.id}/roll`, body)).json.error.details,
    ).toMatchObject([{ path }]);
});

test('a key shows its last use, which is written at most once a minute without an event', async () => {
  const { id, key } = (await mint({})).json;
  const readKey = async (): Promise<Json> => (await app.call('GET', `/api/v1/api-keys/${id}`)).json;
  await noted();
  expect((await readKey()).lastUsedAt).toBeNull();
  const [usedAt, after] = [app.clock.now(), await app.lastSequence()];
  await statusOf(key);
  await noted();
  expect(await readKey()).toMatchObject({ lastUsedAt: new Date(usedAt).toISOString(), version: 1 });
  app.clock.advance(30_000);
  await statusOf(key);
  await noted();
  expect((await readKey()).lastUsedAt).toBe(new Date(usedAt).toISOString());
  app.clock.advance(60_000);
  const laterAt = app.clock.now();
  await statusOf(key);
  // A pending last use is written on shutdown.
  app = await app.restart();
  step = scenarioOf(app);
  expect((await readKey()).lastUsedAt).toBe(new Date(laterAt).toISOString());
  expect(await app.eventTypes(after)).toEqual([]);
});

test('a member who becomes an owner loses every key that no owner created, because its creator could act as an owner', async () => {
  const { admin } = people;
  const riser = (await app.call('POST', '/api/v1/members', { name: 'Rita', role: 'member' })).json;
  const ofAdmin = (await mint({ memberId: riser.id }, admin.key)).json;
  const rolled = (await mint({ memberId: riser.id })).json;
  const rolledByAdmin = await app.clientOf(admin.key)('POST', `/api/v1/api-keys/${rolled.id}/roll`, {
    graceHours: 0,
  });
  const ofOwner = (await mint({ memberId: riser.id, scopes: ['api-keys:write', 'issues:read'] })).json;
  const own = (await mint({ memberId: riser.id }, ofOwner.key)).json;
  await app.settled();
  const before = await app.lastSequence();
  expect((await app.call('PATCH', `/api/v1/members/${riser.id}`, { role: 'owner' })).status).toBe(200);
  await app.settled();
  expect(await app.eventTypes(before)).toEqual(['member.updated', 'api_key.revoked', 'api_key.revoked']);
  const ended = [ofAdmin, rolledByAdmin.json];
  for (const { key } of ended) expect(await statusOf(key)).toBe(401);
  for (const { key } of [ofOwner, own]) expect(await statusOf(key)).toBe(200);
});

test('any key may read its own identity, and requests without a key are refused', async () => {
  const { member } = people;
  const expiresAt = new Date(app.clock.now() + 3_600_000).toISOString();
  const minted = (await mint({ name: 'narrow', memberId: member.id, scopes: ['boards:read'], expiresAt }))
    .json;
  const { status, json } = await app.clientOf(minted.key)('GET', '/api/v1/me');
  expect([status, json]).toEqual([
    200,
    {
      member: { id: member.id, name: 'Mia', email: 'Mia@acme.example', role: 'member' },
      workspace: { id: app.workspace.workspaceId, name: expect.any(String) },
      scopes: ['boards:read'],
      key: {
        id: minted.id,
        name: 'narrow',
        prefix: minted.prefix,
        scopes: ['boards:read'],
        expiresAt,
        lastUsedAt: null,
        createdAt: minted.createdAt,
      },
      ...{ grant: null, session: null },
      rateLimits: { read: null, write: null, search: null, member: null, workspace: null },
    },
  ]);
  expect((await app.call('GET', '/api/v1/me')).json.key.scopes).toEqual([...allScopes]);
  expect((await app.clientOf(null)('GET', '/api/v1/me')).json.error.code).toBe('unauthorized');
});
