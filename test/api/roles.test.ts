// Roles: independently of key scopes, members update themselves, admins also others, and only owners update owners. No
// request raises the role of its caller.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { askAs, scopesBut } from '../rights/asking.ts';

type Role = 'owner' | 'admin' | 'member' | 'guest';
const ranks: readonly Role[] = ['guest', 'member', 'admin', 'owner'];

let app: TestApp;
let people: Record<Role, { id: string; call: Client }>;

const added = async (role: Role): Promise<string> =>
  (await app.call('POST', '/api/v1/members', { name: `Some ${role}`, role })).json.id;
const memberOf = async (id: string): Promise<Json> => (await app.call('GET', `/api/v1/members/${id}`)).json;
const join = async (role: Role) => {
  const id = await added(role);
  // Giving a role takes a key with all scopes of that role.
  const body = { name: role, scopes: allScopes, memberId: id };
  const { json } = await app.call('POST', '/api/v1/api-keys', body);
  return { id, call: app.clientOf(json.key) };
};

beforeAll(async () => {
  app = await startApp();
  people = {
    owner: await join('owner'),
    admin: await join('admin'),
    member: await join('member'),
    guest: await join('guest'),
  };
});
afterAll(() => app.stop());

test('a member cannot change their own role, and cannot create a key for an owner', async () => {
  for (const by of ['guest', 'member', 'admin'] as const) {
    const { id, call } = people[by];
    const higher = ranks.slice(ranks.indexOf(by) + 1);
    for (const role of higher) {
      const risen = await call('PATCH', `/api/v1/members/${id}`, { role });
      const code = by === 'guest' ? 'insufficient_scope' : 'forbidden';
      expect([by, role, risen.status, risen.json.error.code]).toEqual([by, role, 403, code]);
    }
    const minted = await call('POST', '/api/v1/api-keys', {
      name: 'k',
      scopes: ['members:write'],
      memberId: people.owner.id,
    });
    expect([by, minted.status, (await memberOf(id)).role]).toEqual([by, 403, by]);
  }
});

test('adding, updating and removing members takes an admin, and an owner if the member is an owner', async () => {
  for (const by of ranks)
    for (const whom of ranks) {
      const { call } = people[by];
      const may = by === 'owner' || (by === 'admin' && whom !== 'owner');
      const id = await added(whom);
      const path = `/api/v1/members/${id}`;
      const statuses: [string, number, number][] = [
        ['add', (await call('POST', '/api/v1/members', { name: 'New', role: whom })).status, 201],
        ['rename', (await call('PATCH', path, { name: 'Other' })).status, 200],
        ['address', (await call('PATCH', path, { email: `${by}-${whom}@acme.example` })).status, 200],
        ['raise', (await call('PATCH', path, { role: 'owner' })).status, by === 'owner' ? 200 : 403],
      ];
      await app.call('PATCH', path, { role: whom });
      statuses.push(
        ['lower', (await call('PATCH', path, { role: 'guest' })).status, 200],
        ['remove', (await call('DELETE', path)).status, 204],
      );
      for (const [what, status, done] of statuses)
        expect([by, what, whom, status]).toEqual([by, what, whom, may ? done : 403]);
    }
});

test('every member except a guest updates their own name and address, and an admin may give up the role', async () => {
  for (const role of ranks.filter((one) => one !== 'guest')) {
    const { id, call } = people[role];
    const mine = { name: `I, ${role}`, email: `${role}@acme.example`, role };
    const reply = await call('PATCH', `/api/v1/members/${id}`, mine);
    expect([role, reply.status]).toEqual([role, 200]);
    expect(reply.json).toMatchObject(mine);
  }
  for (const role of ['guest', 'member'] as const)
    expect((await people[role].call('DELETE', `/api/v1/members/${people[role].id}`)).status).toBe(403);
  const { id, call } = await join('admin');
  expect((await call('PATCH', `/api/v1/members/${id}`, { role: 'member' })).status).toBe(200);
  expect((await call('PATCH', `/api/v1/members/${id}`, { role: 'admin' })).status).toBe(403);
});

test('only admins assign teams, only to guests, by key or by id, and the teams end with the role', async () => {
  const id = await added('guest');
  const path = `/api/v1/members/${id}`;
  const team = (await app.call('GET', '/api/v1/teams/ENG')).json.id;
  const after = await app.lastSequence();
  for (const teams of [['eng'], [team], ['ENG', team]]) {
    const reply = await app.call('PATCH', path, { teams });
    expect([reply.status, reply.json.teams]).toEqual([200, ['ENG']]);
  }
  const events = (await app.call('GET', `/api/v1/events?after=${after}`)).json.data;
  expect(events).toMatchObject([
    { type: 'member.updated', data: { teams: ['ENG'], previous: { teams: [] } } },
  ]);
  for (const [body, issue, at] of [
    [{ teams: ['NOPE'] }, 'not_found', 'teams.0'],
    [{ role: 'member', teams: ['ENG'] }, 'conflict', 'teams'],
  ] as const)
    expect((await app.call('PATCH', path, body)).json.error.details).toMatchObject([{ issue, path: at }]);
  const { call, id: own } = people.member;
  expect((await call('PATCH', `/api/v1/members/${own}`, { teams: ['ENG'] })).status).toBe(403);
  expect((await call('PATCH', path, { teams: [] })).status).toBe(403);
  expect((await app.call('PATCH', path, { role: 'member' })).json).toMatchObject({
    role: 'member',
    teams: [],
  });
});

test('no key gets scopes beyond the role of its member', async () => {
  const { call } = people.member;
  const minted = await call('POST', '/api/v1/api-keys', {
    name: 'k',
    scopes: ['members:write', 'webhooks:read'],
  });
  expect([minted.status, minted.json.error.message]).toEqual([
    403,
    'A key cannot have more scopes than its creator: the role member of I, member does not have webhooks:read. Leave these scopes out.',
  ]);
  const part = await call('POST', '/api/v1/api-keys', { name: 'k', scopes: ['api-keys:read'] });
  expect(part.status).toBe(201);
});

test('a plugin cannot change members, because it has no role', async () => {
  const path = `/api/v1/members/${people.guest.id}`;
  for (const [method, at, body] of [
    ['POST', '/api/v1/members', { name: 'Of a plugin' }],
    ['PATCH', path, { role: 'owner' }],
    ['PATCH', path, { name: 'Of a plugin' }],
    ['DELETE', path, undefined],
  ] as const)
    expect([method, (await askAs(app, scopesBut([]), method, at, body, null)).code]).toEqual([
      method,
      'forbidden',
    ]);
});
