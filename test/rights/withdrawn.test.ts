// Withdrawn permissions end open streams with the commit, without an event or heartbeat, and limit the work
// that was requested before.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Principal } from '../../core/kernel/http/principal.ts';
import { createSessions } from '../../core/features/sign-in/sessions.ts';
import { membershipOf } from '../../core/features/people/model.ts';
import { scopeOf } from '../../core/platform/store/store.ts';
import { signIn } from '../features/sign-in/person.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { makeGrant } from '../features/oauth/grant.ts';
import { install, packSource } from '../features/plugins/pack.ts';
import { asText } from '../value-client.ts';

const v1 = '/api/v1';
let app: TestApp;

beforeAll(async () => {
  app = await startApp();
  await app.call('POST', `${v1}/teams`, { key: 'OUT' });
});
afterAll(() => app.stop());

interface Someone {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
  readonly call: Client;
}

async function join(role: string, more: object = {}): Promise<Someone> {
  const { json: member } = await app.call('POST', `${v1}/members`, { name: 'Ben', role, ...more });
  const scopes = ['events:read', 'issues:write', 'comments:write'];
  const { json: key } = await app.call('POST', `${v1}/api-keys`, { name: 'k', scopes, memberId: member.id });
  return { id: member.id, keyId: key.id, key: key.key, call: app.clientOf(key.key) };
}

/** Opens a stream and collects its output until it ends. */
async function follow(
  key: string,
): Promise<{ readonly text: () => string; readonly ended: Promise<string> }> {
  const response = await fetch(`${app.url}${v1}/events/stream`, {
    headers: { authorization: `Bearer ${key}` },
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = (await reader.read()).value ?? '';
  const ended = (async () => {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return text;
      text += value;
    }
  })();
  return { text: () => text, ended };
}

const withdrawals: Readonly<Record<string, (of: Someone) => Promise<unknown>>> = {
  'the key is revoked': ({ keyId }) => app.call('DELETE', `${v1}/api-keys/${keyId}`),
  'the member is removed': ({ id }) => app.call('DELETE', `${v1}/members/${id}`),
  'the role is lowered': ({ id }) => app.call('PATCH', `${v1}/members/${id}`, { role: 'guest' }),
};

for (const [what, withdraw] of Object.entries(withdrawals))
  test(`when ${what}, an open stream ends at once and sends no related or later event`, async () => {
    const ben = await join('member');
    const stream = await follow(ben.key);
    await withdraw(ben);
    const { json } = await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'afterwards' });
    // The clock does not advance, so that no heartbeat is sent.
    expect(await stream.ended).not.toContain(json.id);
    expect(stream.text()).not.toContain('member.');
  });

test('a guest who loses a team stops receiving its events at once, and still reads the other teams', async () => {
  const gil = await join('guest', { teams: ['ENG', 'OUT'] });
  const stream = await follow(gil.key);
  const seen = (await app.call('POST', `${v1}/issues`, { team: 'OUT', title: 'before' })).json;
  expect((await gil.call('GET', `${v1}/issues/${seen.id}`)).status).toBe(200);
  await app.call('PATCH', `${v1}/members/${gil.id}`, { teams: ['ENG'] });
  const hidden = (await app.call('POST', `${v1}/issues`, { team: 'OUT', title: 'after' })).json;
  expect(await stream.ended).not.toContain(hidden.id);
  expect((await gil.call('GET', `${v1}/issues/${seen.id}`)).status).toBe(404);
  const again = await follow(gil.key);
  await app.call('POST', `${v1}/issues`, { team: 'OUT', title: 'hidden' });
  const { json: last } = await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'shown' });
  while (!again.text().includes(last.id)) await new Promise((resolve) => setImmediate(resolve));
  expect(again.text()).not.toContain('hidden');
  await app.call('DELETE', `${v1}/members/${gil.id}`);
  await again.ended;
});

test('a change that withdraws nothing from a reader leaves its stream open', async () => {
  const [ben, other] = [await join('member'), await join('member')];
  const stream = await follow(ben.key);
  await app.call('PATCH', `${v1}/members/${other.id}`, { role: 'guest' });
  await app.call('PATCH', `${v1}/members/${ben.id}`, { name: 'Benjamin' });
  await app.call('DELETE', `${v1}/api-keys/${other.keyId}`);
  const { json } = await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'still read' });
  while (!stream.text().includes(json.id)) await new Promise((resolve) => setImmediate(resolve));
  await app.call('DELETE', `${v1}/members/${ben.id}`);
  await stream.ended;
});

test('deferred work runs with the current permissions of its requester, a person or an app', async () => {
  const source = `{
    id: 'com.test.later', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:write': { why: 'test' } },
    actions: { later: { target: 'none', input: { type: 'object', properties: { id: { type: 'string' } } },
      handle: async ({ input }, ctx) => { await ctx.schedule.once('write', ctx.now() + 1000, input.id); } } },
    schedules: { write: { handle: async ({ data }, ctx) => { await ctx.issues.update(data, { title: 'Done later' }); } } },
  }`;
  await install(app.call, await packSource(source));
  const titleAfter = async (
    actorType: 'user' | 'app',
    withdraw: (id: string, grantId: string) => Promise<unknown>,
  ) => {
    const { id: memberId } = await join('member');
    const { json: issue } = await app.call('POST', `${v1}/issues`, { team: 'OUT', title: 'As it was' });
    const principal = await principalOf(memberId, actorType);
    const { error } = await app.app.caller(asText)(app.app.route('plugins.call-action'), {
      ...{ principal, isCounted: false },
      params: { id: 'com.test.later', name: 'later' },
      body: { input: { id: issue.id } },
    });
    expect(error).toBeNull();
    await withdraw(memberId, principal.grant?.id ?? '');
    app.clock.advance(1_000);
    await app.settled();
    return (await app.call('GET', `${v1}/issues/${issue.id}`)).json.title;
  };
  expect(await titleAfter('app', (_, grantId) => app.call('DELETE', `${v1}/grants/${grantId}`))).toBe(
    'As it was',
  );
  const narrowed = { scopes: ['issues:read'] };
  expect(
    await titleAfter('app', (_, grantId) => app.call('PATCH', `${v1}/grants/${grantId}`, narrowed)),
  ).toBe('As it was');
  for (const actorType of ['user', 'app'] as const) {
    expect(await titleAfter(actorType, async () => undefined)).toBe('Done later');
    expect(await titleAfter(actorType, (id) => app.call('DELETE', `${v1}/members/${id}`))).toBe('As it was');
    const lowered = { role: 'guest', teams: ['ENG'] };
    expect(await titleAfter(actorType, (id) => app.call('PATCH', `${v1}/members/${id}`, lowered))).toBe(
      'As it was',
    );
  }
});

async function principalOf(memberId: string, actorType: 'user' | 'app'): Promise<Principal> {
  const scope = scopeOf(app.workspace.workspaceId);
  const membership = (await membershipOf(app.services.store, scope, memberId))!;
  const client = { id: 'https://agent.example/client.json', name: 'app' };
  const id = actorType === 'user' ? memberId : client.id;
  const granted = async () => ({
    id: await makeGrant(app, { memberId, client, scopes: ['issues:write', 'plugins:read'] }),
    ...({ resource: 'api', guarded: [] } as const),
  });
  return {
    ...(actorType === 'app' && { grant: await granted() }),
    scope,
    actor: { kind: actorType, id, name: actorType, memberId },
    ...membership.rights,
    membership,
    tokenId: memberId,
  };
}

test('a signed-in person has the current rights of the role on each request', async () => {
  const { json: member } = await app.call('POST', `${v1}/members`, { name: 'Mia', role: 'member' });
  const { who } = await signIn(app, app.workspace, member.id);
  const sessions = createSessions(app.services);
  const mayList = async (): Promise<Json> => {
    const principal = await sessions.principal(who, app.workspace.workspaceId);
    if (!principal) return null;
    const { error } = await app.app.caller(asText)(app.app.route('plugins.list'), {
      principal,
      isCounted: false,
      params: {},
    });
    return error?.message ?? 'yes';
  };
  expect(await mayList()).toBe('yes');
  await app.call('PATCH', `${v1}/members/${member.id}`, { role: 'guest' });
  expect(await mayList()).toBe(
    'This operation needs the scope plugins:read, which the role guest of Mia does not have. Use a token with the scope, or ask an admin to grant it.',
  );
  await app.call('DELETE', `${v1}/members/${member.id}`);
  expect(await mayList()).toBeNull();
});
