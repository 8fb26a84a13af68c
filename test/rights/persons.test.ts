// Compares sessions and apps of the same member. All callers have all scopes, so only the type of caller
// decides.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Principal } from '../../core/kernel/http/principal.ts';
import { allScopes, expandScopes } from '../../core/kernel/rights/table.ts';
import { scopeOf } from '../../core/platform/store/store.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { packSource } from '../features/plugins/pack.ts';
import { asText, routeAt } from '../value-client.ts';

const v1 = '/api/v1';
type ActorType = 'user' | 'app';
let app: TestApp;
let memberId: string;

beforeAll(async () => {
  app = await startApp();
  memberId = app.workspace.userId;
});
afterAll(() => app.stop());

async function ask(actorType: ActorType, method: string, path: string, body?: unknown): Promise<Json> {
  const [route, params] = routeAt(app, method, path);
  const principal: Principal = {
    scope: scopeOf(app.workspace.workspaceId),
    actor: {
      kind: actorType,
      id: actorType === 'user' ? memberId : 'app_1',
      name: actorType === 'user' ? 'Sam' : 'Helper',
      memberId,
    },
    ...{ scopes: expandScopes(allScopes), narrowed: null, tokenId: actorType },
  };
  const outcome = await app.app.caller(asText)(route, { principal, isCounted: false, params, body });
  if (outcome.error) return { status: outcome.error.status, message: outcome.error.message };
  return { ...(outcome.body === null ? {} : JSON.parse(outcome.body)), status: outcome.status };
}

/** Creates an edit of an issue that waits for approval. */
async function proposed(): Promise<string> {
  const { json: issue } = await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Once' });
  const { json: other } = await app.call('POST', `${v1}/members`, { name: 'Ada', role: 'member' });
  const scopes = ['issues:read', 'proposals:write'];
  const { json } = await app.call('POST', `${v1}/api-keys`, { name: 'a', scopes, memberId: other.id });
  const headers = { 'tatami-mode': 'propose' };
  return (await app.clientOf(json.key)('PATCH', `${v1}/issues/${issue.id}`, { title: 'Twice' }, headers)).json
    .id;
}

const member = async (): Promise<string> =>
  (await app.call('POST', `${v1}/members`, { name: 'Ben', role: 'member' })).json.id;
const key = async (): Promise<string> =>
  (await app.call('POST', `${v1}/api-keys`, { name: 'k', scopes: ['issues:read'] })).json.id;
const plugin = async () => {
  const scopes =
    "scopes: { 'issues:read': { why: 'test' } }, schedules: { nightly: { cron: '0 3 * * *', handle: () => {} } }";
  return {
    package: await packSource(
      `{ id: 'com.test.asked', version: '1.0.0', engines: { tatami: '*' }, ${scopes} }`,
    ),
    ...{ grant: ['issues:read'], probation: false, replace: true },
  };
};

/** Decisions that only people make, each with a request that makes it. */
const decisions: Readonly<Record<string, (actorType: ActorType) => Promise<Json>>> = {
  'make a key': (actorType) =>
    ask(actorType, 'POST', `${v1}/api-keys`, { name: 'made', scopes: ['issues:read'] }),
  'roll a key': async (actorType) => ask(actorType, 'POST', `${v1}/api-keys/${await key()}/roll`, {}),
  'revoke a key': async (actorType) => ask(actorType, 'DELETE', `${v1}/api-keys/${await key()}`),
  'add a member': (actorType) => ask(actorType, 'POST', `${v1}/members`, { name: 'New', role: 'guest' }),
  'change oneself': (actorType) => ask(actorType, 'PATCH', `${v1}/members/${memberId}`, { name: 'Sam' }),
  'change a member': async (actorType) =>
    ask(actorType, 'PATCH', `${v1}/members/${await member()}`, { role: 'admin' }),
  'give a guest a team': async (actorType) =>
    ask(actorType, 'PATCH', `${v1}/members/${await member()}`, { role: 'guest', teams: ['ENG'] }),
  'remove a member': async (actorType) => ask(actorType, 'DELETE', `${v1}/members/${await member()}`),
  'approve a proposal': async (actorType) =>
    ask(actorType, 'POST', `${v1}/proposals/${await proposed()}/approve`, {}),
  'reject a proposal': async (actorType) =>
    ask(actorType, 'POST', `${v1}/proposals/${await proposed()}/reject`, { reason: 'No.' }),
  'consent to a plugin': async (actorType) => ask(actorType, 'POST', `${v1}/plugins`, await plugin()),
};

for (const [what, decide] of Object.entries(decisions))
  test(`a person can ${what}, and an app cannot on behalf of that person`, async () => {
    const byApp = await decide('app');
    expect(byApp).toMatchObject({ status: 403, message: expect.stringContaining('Helper is an app') });
    expect((await decide('user')).status).toBeLessThan(300);
  });

test('a session and an app both read the inbox and the profile, and their writes belong to the member', async () => {
  for (const actorType of ['user', 'app'] as const) {
    expect((await ask(actorType, 'GET', `${v1}/inbox`)).status).toBe(200);
    const me = await ask(actorType, 'GET', `${v1}/me`);
    expect(me).toMatchObject({ status: 200, key: null, member: { id: memberId, role: 'owner' } });
    expect(me.scopes).toEqual(allScopes);
    const { identifier } = await ask(actorType, 'POST', `${v1}/issues`, {
      team: 'ENG',
      title: 'By one of both',
    });
    expect((await app.call('GET', `${v1}/issues/${identifier}`)).json.creator).toMatchObject({
      id: memberId,
    });
    const view = await ask(actorType, 'POST', `${v1}/views`, { name: 'Mine', visibility: 'personal' });
    expect((await ask(actorType === 'app' ? 'user' : 'app', 'GET', `${v1}/views/${view.id}`)).status).toBe(
      200,
    );
  }
});
