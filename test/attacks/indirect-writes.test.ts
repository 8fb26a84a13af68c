// Undo and approval bypass no rule: an operation that a direct request refuses is refused on every indirect path.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { membershipOf } from '../../core/features/people/model.ts';
import { composedStatement } from '../../core/platform/store/statement.ts';
import { scopeOf, tenantOp } from '../../core/platform/store/store.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { makeGrant } from '../features/oauth/grant.ts';
import { asText, routeAt } from '../value-client.ts';

const v1 = '/api/v1';
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const propose = { 'Tatami-Mode': 'propose' };
let people = 0;

interface Person {
  readonly id: string;
  readonly call: Client;
}

const create = async (path: string, body: object, call: Client = app.call): Promise<Json> => {
  const { status, json } = await call('POST', `${v1}/${path}`, body);
  expect({ path, status: status < 300, json }).toMatchObject({ path, status: true });
  return json;
};

/** Key of a member with these scopes; by default with all scopes of the role. */
async function keyFor(memberId: string, scopes: readonly string[], by: Client = app.call): Promise<Json> {
  return create('api-keys', { name: 'key', memberId, scopes }, by);
}
const adminScopes = [
  'members:write',
  'api-keys:write',
  'plugins:write',
  'approvals:write',
  'proposals:write',
  'issues:write',
  'grants:write',
];

async function person(role: string, scopes: readonly string[] = adminScopes): Promise<Person> {
  const { id } = await create('members', { name: `Person ${++people}`, role });
  return { id, call: app.clientOf((await keyFor(id, scopes)).key) };
}

/** @returns id of the proposal */
async function proposed(call: Client, method: string, path: string, body?: object): Promise<string> {
  const { status, json } = await call(method, `${v1}/${path}`, body, propose);
  expect({ status, error: json.error }).toEqual({ status: 202, error: undefined });
  return json.id;
}
async function approved(id: string, by: Client = app.call): Promise<void> {
  const { status, json } = await by('POST', `${v1}/proposals/${id}/approve`, {});
  expect({ status, error: json.error }).toEqual({ status: 200, error: undefined });
}
const undo = (by: Client, id: string) => by('POST', `${v1}/proposals/${id}/undo`);
const roleOf = async (id: string): Promise<string> =>
  (await app.call('GET', `${v1}/members/${id}`)).json.role;

/** Status and error code of a response. */
const refusal = ({ status, json }: Awaited<ReturnType<Client>>) => ({ status, code: json?.error?.code });

test('an admin cannot undo the demotion of an owner, and nobody can undo their own demotion', async () => {
  const [olga, ada] = [await person('owner'), await person('admin')];
  const second = await person('owner');
  const demotion = await proposed(second.call, 'PATCH', `members/${olga.id}`, { role: 'admin' });
  await approved(demotion);
  const { key } = await keyFor(olga.id, adminScopes, ada.call);
  const since = await app.lastSequence();
  for (const by of [ada.call, olga.call, app.clientOf(key)]) {
    const direct = await by('PATCH', `${v1}/members/${olga.id}`, { role: 'owner' });
    expect(refusal(direct)).toEqual({ status: 403, code: 'forbidden' });
    expect(refusal(await undo(by, demotion))).toEqual(refusal(direct));
  }
  expect(await roleOf(olga.id)).toBe('admin');
  expect(await app.eventTypes(since)).toEqual([]);
});

test('an owner who undoes a demotion revokes the keys that an admin created for the member in between', async () => {
  const [olga, ada] = [await person('owner'), await person('admin')];
  const demotion = await proposed(app.call, 'PATCH', `members/${olga.id}`, { role: 'member' });
  const boss = await person('owner');
  await approved(demotion, boss.call);
  const handed = await keyFor(olga.id, ['issues:read'], ada.call);
  const since = await app.lastSequence();
  expect((await undo(app.call, demotion)).status).toBe(200);
  expect(await roleOf(olga.id)).toBe('owner');
  expect((await app.clientOf(handed.key)('GET', `${v1}/me`)).status).toBe(401);
  const types = await app.eventTypes(since);
  expect(types).toContain('api_key.revoked');
  expect(types).toContain('automation.undone');
});

test('the end of a key, a grant or an app is final: no undo restores it', async () => {
  const victim = await person('owner');
  const { id: keyId, key } = await keyFor(victim.id, ['members:write']);
  const grantId = await makeGrant(app, { memberId: victim.id, scopes: ['issues:read', 'issues:write'] });
  const narrowed = await makeGrant(app, { memberId: victim.id, scopes: ['issues:read', 'issues:write'] });
  const oauthApp = await create('oauth-apps', {
    name: 'Reports',
    redirectUris: ['https://app.example/back'],
    confidential: true,
  });
  const thief = app.clientOf(
    (await keyFor(victim.id, ['plugins:write', 'api-keys:write', 'grants:write', 'oauth-apps:write'])).key,
  );
  const ends: [method: string, path: string, body?: object][] = [
    ['DELETE', `api-keys/${keyId}`],
    ['DELETE', `grants/${grantId}`],
    ['PATCH', `grants/${narrowed}`, { scopes: ['issues:read'] }],
    ['DELETE', `oauth-apps/${oauthApp.id}`],
  ];
  for (const [method, path, body] of ends) {
    const id = await proposed(app.call, method, path, body);
    await approved(id, app.clientOf((await keyFor(victim.id, [...adminScopes, 'oauth-apps:write'])).key));
    const since = await app.lastSequence();
    expect({ path, ...refusal(await undo(thief, id)) }).toEqual({ path, status: 409, code: 'conflict' });
    expect(await app.eventTypes(since)).toEqual([]);
  }
  expect((await app.clientOf(key)('GET', `${v1}/me`)).status).toBe(401);
  expect((await app.call('GET', `${v1}/grants/${narrowed}`)).json.scopes).toEqual(['issues:read']);
  expect((await app.call('GET', `${v1}/grants/${grantId}`)).json.revokedAt).not.toBeNull();
  expect((await app.call('GET', `${v1}/oauth-apps/${oauthApp.id}`)).status).toBe(404);
});

test('the database rejects a statement that would restore an ended credential', async () => {
  const { id } = await keyFor(app.workspace.userId, ['issues:read']);
  await app.call('DELETE', `${v1}/api-keys/${id}`);
  const revive = composedStatement(
    'UPDATE api_keys SET revoked_at = :at WHERE workspace_id = :ws AND id = :id',
  );
  const scope = scopeOf(app.workspace.workspaceId);
  for (const at of [null, 1]) {
    const outcome = await app.services.store.commit([tenantOp(scope, revive, { id, at })]);
    expect(outcome).toMatchObject({
      ok: false,
      reason: 'constraint',
      message: expect.stringContaining('stays revoked'),
    });
  }
});

test('no undo leaves a workspace without an owner', async () => {
  const other = await app.addWorkspace('Small', 'SML');
  const scope = scopeOf(other.workspaceId);
  const owner = app.clientOf(other.apiKey);
  /** Adds a member who is signed in: keys that others created would end with the rights of their creators. */
  const join = async (role: string) => {
    const { id } = await create('members', { name: role, role }, owner);
    const call = async (method: string, path: string, body?: object) => {
      const membership = (await membershipOf(app.services.store, scope, id))!;
      const actor = { kind: 'user', id, name: role, memberId: id } as const;
      const [route, params] = routeAt(app, method, path);
      const { error } = await app.app.caller(asText)(route, {
        principal: { scope, actor, membership, ...membership.rights, tokenId: id },
        ...{ params, body, isCounted: false },
      });
      return error ? { status: error.status, code: error.code } : { status: 200, code: undefined };
    };
    return { id, call };
  };
  const [second, third] = [await join('admin'), await join('owner')];
  const rise = await proposed(owner, 'PATCH', `members/${second.id}`, { role: 'owner' });
  expect(await third.call('POST', `${v1}/proposals/${rise}/approve`, {})).toMatchObject({ status: 200 });
  for (const id of [other.userId, third.id])
    expect(await third.call('PATCH', `${v1}/members/${id}`, { role: 'member' })).toMatchObject({
      status: 200,
    });
  const direct = await second.call('PATCH', `${v1}/members/${second.id}`, { role: 'admin' });
  expect(direct).toEqual({ status: 409, code: 'conflict' });
  expect(await second.call('POST', `${v1}/proposals/${rise}/undo`)).toEqual(direct);
});

test('the role of the approver decides, not that of the proposer', async () => {
  const ada = await person('admin');
  const ben = await person('member', ['approvals:write', 'proposals:write', 'issues:write']);
  const rise = await proposed(app.call, 'PATCH', `members/${ada.id}`, { role: 'owner' });
  const direct = await ada.call('PATCH', `${v1}/members/${ada.id}`, { role: 'owner' });
  expect(refusal(await ada.call('POST', `${v1}/proposals/${rise}/approve`, {}))).toEqual(refusal(direct));
  expect(refusal(direct)).toEqual({ status: 403, code: 'forbidden' });
  expect(await roleOf(ada.id)).toBe('admin');

  const issue = await create('issues', { team: 'ENG', title: 'To be purged' });
  await app.call('DELETE', `${v1}/issues/${issue.id}`);
  const narrow = app.clientOf((await keyFor(ada.id, ['proposals:write', 'issues:read'])).key);
  const purge = await proposed(narrow, 'POST', `issues/${issue.id}/purge`);
  const purgeNow = await ben.call('POST', `${v1}/issues/${issue.id}/purge`);
  expect(refusal(await ben.call('POST', `${v1}/proposals/${purge}/approve`, {}))).toEqual(refusal(purgeNow));
  expect(purgeNow.status).toBe(403);
  expect((await app.call('GET', `${v1}/issues?deleted=only`)).json.data).toHaveLength(1);
  // Both proposals are still open for an authorized approver.
  await approved(purge, app.call);
});

async function proposedByApp(
  memberId: string,
  grantId: string,
  client: { readonly id: string; readonly name: string },
  issueId: string,
): Promise<string> {
  const scopes = new Set(['issues:read', 'proposals:write']);
  const { error, body } = (await app.app.caller(asText)(app.app.route('issues.update'), {
    principal: {
      scope: scopeOf(app.workspace.workspaceId),
      actor: { kind: 'app', ...client, memberId },
      ...{ scopes, narrowed: null, tokenId: grantId },
      grant: { id: grantId, resource: 'api', guarded: [] },
    },
    ...{ isCounted: false, mode: 'propose', params: { id: issueId }, body: { title: 'By a withdrawn app' } },
  })) as { error: object | null; body: string };
  expect(error).toBeNull();
  return JSON.parse(body).id;
}

test('proposals of a removed member, a revoked key or a withdrawn app are closed and cannot be approved', async () => {
  const issue = await create('issues', { team: 'ENG', title: 'Untouched' });
  const scopes = ['issues:read', 'proposals:write'];
  const ends: Record<string, () => Promise<{ proposal: string; end: [string, string] }>> = {
    member: async () => {
      const one = await person('member', scopes);
      const proposal = await proposed(one.call, 'PATCH', `issues/${issue.id}`, {
        title: 'By a removed member',
      });
      return { proposal, end: ['DELETE', `members/${one.id}`] };
    },
    key: async () => {
      const one = await person('member', scopes);
      const { id, key } = await keyFor(one.id, scopes);
      const proposal = await proposed(app.clientOf(key), 'PATCH', `issues/${issue.id}`, {
        title: 'By a revoked key',
      });
      return { proposal, end: ['DELETE', `api-keys/${id}`] };
    },
    app: async () => {
      const one = await person('member', scopes);
      const client = { id: 'https://agent.example/client.json', name: 'Agent' };
      const grantId = await makeGrant(app, { memberId: one.id, client, scopes });
      const proposal = await proposedByApp(one.id, grantId, client, issue.id);
      return { proposal, end: ['DELETE', `grants/${grantId}`] };
    },
  };
  for (const [what, begin] of Object.entries(ends)) {
    const { proposal, end } = await begin();
    const since = await app.lastSequence();
    expect((await app.call(end[0], `${v1}/${end[1]}`)).status).toBe(204);
    const now = await app.call('POST', `${v1}/proposals/${proposal}/approve`, {});
    // The reaction that closes the proposal may run before this request.
    expect([
      { what, status: 403, code: 'forbidden' },
      { what, status: 409, code: 'conflict' },
    ]).toContainEqual({ what, ...refusal(now) });
    await app.settled();
    expect((await app.call('GET', `${v1}/proposals/${proposal}`)).json).toMatchObject({
      status: 'rejected',
      decidedBy: null,
      reason: expect.stringContaining('no longer has write access'),
    });
    expect(await app.eventTypes(since)).toContain('automation.rejected');
  }
  expect((await app.call('GET', `${v1}/issues/${issue.id}`)).json.title).toBe('Untouched');
});

test('the audit log names the proposer, the approver and the undoing principal, each with their request', async () => {
  const [ana, boss, ada] = [await person('member'), await person('owner'), await person('admin')];
  const issue = await create('issues', { team: 'ENG', title: 'Audited' });
  const since = await app.lastSequence();
  const id = await proposed(ana.call, 'PATCH', `issues/${issue.id}`, { title: 'Changed' });
  await approved(id, boss.call);
  expect((await undo(ada.call, id)).status).toBe(200);
  const entries: Json[] = (await app.call('GET', `${v1}/audit-log?limit=100`)).json.data;
  const done = entries
    .filter(({ sequence, action }) => sequence > since && /^(issue|automation)\./.test(action))
    .toReversed();
  expect(done.map(({ action, actor }) => [action, actor.memberId])).toEqual([
    ['automation.proposed', ana.id],
    ['issue.updated', ana.id],
    ['automation.approved', boss.id],
    ['issue.updated', ada.id],
    ['automation.undone', ada.id],
  ]);
  const requests = done.map(({ requestId }) => requestId);
  expect([requests[1] === requests[2], requests[3] === requests[4]]).toEqual([true, true]);
  expect(new Set(requests).size).toBe(3);
});
