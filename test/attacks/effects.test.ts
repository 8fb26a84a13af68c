// Effects other than objects: requests to other servers, stored values and logs of plugins, and purging.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { signIn } from '../features/sign-in/person.ts';
import { browserOf, registerApp, tokensOf, type Browser } from '../features/oauth/client.ts';
import { install, packSource } from '../features/plugins/pack.ts';

let app: TestApp;
let receiver: Bun.Server<undefined>;
let owner: Browser;
const seen: (string | null)[] = [];
const of = '/api/v1/plugins/test.sender';
/** Key of a member with the given role, with every scope of the role by default. */
const keyFor = async (role: string, scopes: readonly string[] = allScopes): Promise<Client> => {
  const teams = role === 'guest' ? { teams: ['ENG'] } : {};
  const { id: memberId } = (await app.call('POST', '/api/v1/members', { name: role, role, ...teams })).json;
  const { key } = (await app.call('POST', '/api/v1/api-keys', { name: role, memberId, scopes })).json;
  return app.clientOf(key);
};
/** Client of an app with the consent of the owner. */
const appWith = async (scope: string): Promise<Client> => {
  const client = await registerApp(app);
  const { access_token: token } = await tokensOf(app, client, { browser: owner, params: { scope } });
  return app.clientOf(token);
};

beforeAll(async () => {
  receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      seen.push(request.headers.get('authorization'));
      return new Response('balance no-4711');
    },
  });
  const origin = `http://127.0.0.1:${receiver.port}`;
  app = await startApp({ flags: { egressAllow: '127.0.0.1/32' } });
  owner = await browserOf(app);
  await install(
    app.call,
    await packSource(
      `{
      id: 'test.sender', version: '1.0.0', engines: { tatami: '*' },
      scopes: { 'issues:write': { why: 'test' } },
      net: [{ origin: '${origin}', why: 'test' }],
      secrets: { ACME_KEY: { hosts: ['${origin}'], header: 'authorization' } },
      actions: {
        send: { target: 'none', handle: async (_, ctx) => send(ctx) },
        sendOf: { target: 'issue', handle: async (_, ctx) => send(ctx) },
        later: { target: 'none', handle: async (_, ctx) => { await ctx.schedule.once('later', ctx.now() + 1000, 'balance no-4711'); } },
      },
      schedules: { later: { handle: async (_, ctx) => { await send(ctx); throw new Error('failed at balance no-4711'); } } },
    }`,
      `const send = async (ctx: any) => {
      const answer = await (await ctx.fetch('${origin}/pay', { headers: { authorization: ctx.secrets.ref('ACME_KEY') } })).text();
      console.log(answer);
      await ctx.kv.set('last', answer);
      return answer;
    };`,
    ),
  );
  await app.call('PUT', `${of}/secrets/ACME_KEY`, { value: 'sk_live_1' });
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'One' });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

test('a guest, an app and a key without automations:write cannot make a plugin send its secret to other servers', async () => {
  const before = await app.lastSequence();
  const callers = [
    await keyFor(
      'guest',
      allScopes.filter((scope) => !scope.startsWith('automations')),
    ),
    await appWith('teams:read'),
    await appWith('issues:write plugins:read automations:read'),
    app.clientOf(await app.mintKey(['issues:write'])),
  ];
  for (const call of callers)
    for (const [action, body] of [
      ['send', {}],
      ['sendOf', { target: 'ENG-1' }],
      ['later', {}],
    ] as const) {
      const { status, json } = await call('POST', `${of}/actions/${action}`, body);
      expect([action, status, json.error?.code]).toEqual([action, 403, 'insufficient_scope']);
      expect(json.error.message).toContain('automations:write');
    }
  app.clock.advance(5_000);
  await app.settled();
  expect(seen).toEqual([]);
  expect((await app.eventTypes(before)).filter((type) => type.startsWith('automation.'))).toEqual([]);
});

test('an app with automations:write, a member and an admin can make a plugin send its secret', async () => {
  const member = await keyFor('member', ['automations:write']);
  for (const call of [app.call, member, await appWith('automations:write')]) {
    const { json } = await call('POST', `${of}/actions/send`, {});
    expect([json.status, json.result]).toEqual(['succeeded', 'balance no-4711']);
  }
  expect(seen.splice(0)).toEqual(['sk_live_1', 'sk_live_1', 'sk_live_1']);
});

test('a one-time run sends nothing once its requester has lost the scope', async () => {
  const { id: other } = (await app.call('POST', '/api/v1/members', { name: 'Ole', role: 'member' })).json;
  const { key, id: keyId } = (
    await app.call('POST', '/api/v1/api-keys', { name: 'k', memberId: other, scopes: ['automations:write'] })
  ).json;
  expect((await app.clientOf(key)('POST', `${of}/actions/later`, {})).json.status).toBe('succeeded');
  await app.call('PATCH', `/api/v1/members/${other}`, { role: 'guest', teams: ['ENG'] });
  app.clock.advance(1_500);
  await app.settled();
  const runs: Json[] = (await app.call('GET', `${of}/runs?limit=1`)).json.data;
  expect(runs[0]).toMatchObject({
    ...{ handler: 'later', onBehalfOf: { id: keyId } },
    calls: [{ op: 'net.fetch', code: 'insufficient_scope' }],
  });
  expect(seen.splice(0)).toEqual([]);
});

test('reading the stored values, logs and records of a plugin requires plugins:write; reading run results requires plugins:read', async () => {
  const member = await keyFor('member');
  const reader = await appWith('plugins:read issues:read');
  const { json: sent } = await app.call('POST', `${of}/actions/send`, {});
  await app.call('POST', `${of}/actions/later`, {});
  const waiting = `${of}/scheduled`;
  expect((await app.call('GET', waiting)).json.data[0].data).toBe('balance no-4711');
  for (const call of [member, reader]) {
    for (const path of [`${of}/kv`, `${of}/kv/last`, `/api/v1/runs/${sent.id}/recording`]) {
      const { status, json } = await call('GET', path);
      expect([path, status, json.error.code]).toEqual([path, 403, 'insufficient_scope']);
    }
    expect((await call('GET', waiting)).json.data[0]).toMatchObject({ name: 'later', data: null });
  }
  app.clock.advance(1_500);
  await app.settled();
  for (const call of [member, reader]) {
    const { status, json } = await call('GET', `${of}/runs`);
    expect(status).toBe(200);
    expect(JSON.stringify(json)).not.toContain('no-4711');
    const one = (await call('GET', `/api/v1/runs/${sent.id}`)).json;
    expect(one).toMatchObject({
      status: 'succeeded',
      handler: 'send',
      logs: [],
      result: null,
      leftOut: ['plugins:write'],
    });
    expect(one.calls.map(({ op }: Json) => op)).toContain('net.fetch');
  }
  const own = await app.call('GET', `/api/v1/runs/${sent.id}`);
  expect(own.json).toMatchObject({ result: 'balance no-4711', leftOut: [] });
  expect(own.json.logs[0].message).toContain('no-4711');
  expect((await app.call('GET', `${of}/kv/last`)).json.value).toBe('balance no-4711');
  const caller = app.clientOf(await app.mintKey(['automations:write', 'plugins:read']));
  expect((await caller('POST', `${of}/actions/send`, {})).json).toMatchObject({
    result: 'balance no-4711',
    logs: [],
  });
});

test('the run of an action is visible to the member who called it, and not to another member with the same app', async () => {
  const client = await registerApp(app);
  const params = { scope: 'automations:write' };
  const tokenOf = async (role: string): Promise<Client> => {
    const { id } = (await app.call('POST', '/api/v1/members', { name: role, role })).json;
    const browser = await browserOf(app, await signIn(app, app.workspace, id));
    return app.clientOf((await tokensOf(app, client, { browser, params })).access_token);
  };
  const [ana, ole] = [await tokenOf('member'), await tokenOf('member')];
  const { id } = (await ana('POST', `${of}/actions/send`, {})).json;
  expect((await ana('GET', `${of}/actions/send/runs/${id}`)).status).toBe(200);
  expect((await ole('GET', `${of}/actions/send/runs/${id}`)).status).toBe(404);
});

test('only an admin with a key or a session can purge: an app can delete and restore', async () => {
  const agent = await appWith('issues:write proposals:write');
  const { id } = (await agent('POST', '/api/v1/issues', { team: 'ENG', title: 'To go' })).json;
  expect((await agent('DELETE', `/api/v1/issues/${id}`)).status).toBe(204);
  const before = await app.lastSequence();
  const path = `/api/v1/issues/${id}/purge`;
  const member = await keyFor('member', ['issues:write', 'proposals:write']);
  for (const call of [agent, member])
    for (const headers of [{}, { 'tatami-mode': 'propose' }, { 'tatami-mode': 'simulate' }])
      expect((await call('POST', path, undefined, headers as never)).json.error.code).toBe('forbidden');
  expect((await app.eventTypes(before)).filter((type) => /purged|proposed/.test(type))).toEqual([]);
  expect((await app.call('POST', path)).status).toBe(204);
  expect(await app.eventTypes(before)).toContain('issue.purged');
});
