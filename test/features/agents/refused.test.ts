import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Principal } from '../../../core/kernel/http/principal.ts';
import { scopeOf } from '../../../core/platform/store/store.ts';
import { allScopes, expandScopes } from '../../../core/kernel/rights/table.ts';
import { lackOf } from '../../../core/features/agents/endpoint.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { asText } from '../../value-client.ts';
import { expectAsNowhere } from './foreign.ts';
import { bearer, connect, endpointOf, post, toolCall, type Agent } from './agents.ts';

let app: TestApp;
let agent: Agent;
/** An agent that sees all of another workspace. */
let stranger: Agent;
beforeAll(async () => {
  app = await startApp();
  agent = await connect(app, app.workspace.apiKey);
  stranger = await connect(app, (await app.addWorkspace('Other', 'OTH')).apiKey);
});
afterAll(async () => {
  await agent.close();
  await stranger.close();
  await app.stop();
});

const rest = async (method: string, path: string, body?: object): Promise<Json> =>
  (await app.call(method, `/api/v1${path}`, body)).json;
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

test('a request without a valid token learns where to get one, and which scopes to request', async () => {
  const metadata = `${app.url}/.well-known/oauth-protected-resource/api/mcp/streamable-http`;
  const bare = await post(app, list);
  expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining(`Bearer resource_metadata="${metadata}", scope="`),
  ]);
  expect(bare.headers.get('www-authenticate')).toContain('issues:write');
  for (const method of ['GET', 'DELETE'])
    expect((await fetch(endpointOf(app), { method })).headers.get('www-authenticate')).toContain(metadata);
  const wrong = await post(app, list, bearer('ttm_wrong_wrong'));
  expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('error="invalid_token"'),
  ]);
});

test('an unknown session and an invented one are rejected', async () => {
  const forged = {
    'mcp-session-id': 'b3f0c1de-0000-4000-8000-000000000000',
    'mcp-protocol-version': '2025-11-25',
  };
  expect((await post(app, list, forged)).status).toBe(401);
  const answered = await post(app, list, { ...forged, ...bearer(app.workspace.apiKey) });
  expect([answered.status, answered.headers.get('mcp-session-id')]).toEqual([200, null]);
  for (const method of ['GET', 'DELETE']) {
    const response = await fetch(endpointOf(app), {
      method,
      headers: { ...forged, ...bearer(app.workspace.apiKey) },
    });
    expect([method, response.status]).toEqual([method, 405]);
  }
});

test('foreign origins and rebound host names are rejected before the token is checked', async () => {
  const key = bearer(app.workspace.apiKey);
  const from = async (headers: Record<string, string>): Promise<number> =>
    (await post(app, list, { ...key, ...headers })).status;
  for (const origin of [
    'https://evil.example',
    'null',
    'http://127.0.0.1.evil.example',
    'https://localhost.evil.example',
  ])
    expect([origin, await from({ origin })]).toEqual([origin, 403]);
  for (const origin of [app.url, 'http://localhost:6274', 'http://127.0.0.1:1234'])
    expect([origin, await from({ origin })]).toEqual([origin, 200]);
  for (const host of ['evil.example', 'evil.example:80', 'localhost.evil.example'])
    expect([host, await from({ host })]).toEqual([host, 403]);
  for (const host of ['localhost', 'localhost:9', '127.0.0.1', '[::1]:80'])
    expect([host, await from({ host })]).toEqual([host, 200]);
});

test('a request is limited in bytes, messages and resources', async () => {
  const key = bearer(app.workspace.apiKey);
  expect((await post(app, toolCall('issues_create', { title: 'x'.repeat(1_100_000) }), key)).status).toBe(
    413,
  );
  const many = Array.from({ length: 21 }, (_, at) => ({ ...list, id: at }));
  expect((await post(app, many, key)).status).toBe(422);
  const broken = await fetch(endpointOf(app), {
    method: 'POST',
    body: '{',
    headers: { ...key, 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
  });
  expect([broken.status, ((await broken.json()) as Json).error.code]).toEqual([400, -32700]);
  const watching = agent.client.listen({
    resourceSubscriptions: Array.from({ length: 101 }, (_, at) => `tatami://issues/ENG-${at + 1}`),
  });
  expect(
    await watching.then(
      () => 'open',
      () => 'refused',
    ),
  ).toBe('refused');
});

test('the first page of resources is nonempty if resources exist', async () => {
  await rest('POST', '/issues', { team: 'ENG', title: 'Listed' });
  const key = await app.mintKey(['boards:read', 'projects:read', 'issues:read']);
  const { text } = await post(app, { jsonrpc: '2.0', id: 1, method: 'resources/list' }, bearer(key));
  expect(text).toContain('tatami://issues/');
});

test('every tool and resource responds to objects of another workspace as to missing ones', async () => {
  const issue = await rest('POST', '/issues', { team: 'ENG', title: 'Hidden pineapple' });
  const issue2 = await rest('POST', '/issues', { team: 'ENG', title: 'Hidden too' });
  const board = await rest('POST', '/boards', { name: 'Hidden', team: 'ENG' });
  const project = await rest('POST', '/projects', { name: 'Hidden' });
  const cycle = await rest('POST', '/cycles', {
    team: 'ENG',
    startsAt: '2031-03-03T00:00:00.000Z',
    endsAt: '2031-03-17T00:00:00.000Z',
  });
  const proposed = await agent.call('issues_update', { id: issue.id, title: 'y' });
  await app.settled();
  const real: Json = {
    ...{ issue: issue.id, identifier: issue.identifier, issue2: issue2.id, board: board.id, cycle: cycle.id },
    ...{
      team: 'ENG',
      words: 'pineapple',
      plugin: 'acme.none',
      backtest: 'btt_none',
      proposal: proposed.proposalId,
      project: project.id,
    },
  };
  const from = await app.lastSequence();
  await expectAsNowhere(stranger, real);
  const completed = await stranger.client.complete({
    ref: { type: 'ref/resource', uri: 'tatami://issues/{identifier}' },
    argument: { name: 'identifier', value: 'ENG-' },
  });
  expect(completed.completion.values).toEqual([]);
  expect((await stranger.client.listResources()).resources).toEqual([]);
  expect(await app.lastSequence()).toBe(from);
});

test('each tool requires its scopes, and names a missing one', async () => {
  const issue = await rest('POST', '/issues', { team: 'ENG', title: 'Scoped' });
  const board = await rest('POST', '/boards', { name: 'Scoped', team: 'ENG' });
  const cycle = await rest('GET', '/cycles?limit=1');
  const needs: Readonly<Record<string, readonly [args: object, scopes: readonly string[]]>> = {
    issues_search: [{}, ['issues:read']],
    issues_get: [{ id: issue.id }, ['issues:read']],
    issues_create: [{ team: 'ENG', title: 'x' }, ['issues:write']],
    issues_update: [{ id: issue.id, title: 'x' }, ['issues:write']],
    issues_delete: [{ id: issue.id }, ['issues:write']],
    comments_add: [{ id: issue.id, body: 'x' }, ['comments:write']],
    boards_get: [{ id: board.id }, ['boards:read', 'issues:read']],
    cycles_get: [{ id: cycle.data[0].id }, ['cycles:read', 'issues:read']],
    plugins_backtest: [{ id: 'acme.none' }, ['backtests:write']],
    proposals_get: [{ id: 'prp_01m7wd7tg001bvq8r5bjgt6mjc' }, ['proposals:read']],
    automations_list: [{}, ['automations:read']],
    automations_propose: [{ id: 'atm_01m7wd7tg001bvq8r5bjgt6mjc', name: 'x' }, ['automations:write']],
    automations_preview: [
      { trigger: { type: 'manual' }, actions: [{ type: 'comment', body: 'x' }] },
      ['automations:write'],
    ],
  };
  expect(Object.keys(needs)).toEqual((await agent.tools()).map(({ name }) => name));
  const from = await app.lastSequence();
  for (const [tool, [args, scopes]] of Object.entries(needs))
    for (const missing of scopes) {
      const others = allScopes.filter((scope) => !expandScopes([scope]).has(missing));
      const weak = await connect(app, await app.mintKey(others));
      const answer = await weak.call(tool, args);
      expect([tool, answer.code, answer.message]).toEqual([
        tool,
        'insufficient_scope',
        expect.stringContaining(missing),
      ]);
      await weak.close();
    }
  expect((await app.eventTypes(from)).filter((type) => !type.startsWith('api_key.'))).toEqual([]);
});

const actor = { kind: 'app', id: 'app_1', name: 'An app' } as const;
const granted = (guarded: [] | ['finish'] = []): Principal => ({
  scope: scopeOf(app.workspace.workspaceId, 'app_1'),
  actor: { ...actor, memberId: app.workspace.userId },
  scopes: expandScopes(allScopes),
  narrowed: null,
  tokenId: 'tok_1',
  grant: { id: 'grt_1', resource: 'mcp', guarded },
});

test('an app without a scope learns which to request, and one with it does not', () => {
  const few = { ...granted(), scopes: expandScopes(['issues:read']) };
  const { status, headers } = lackOf(few, ['issues:write'], 'https://acme.example')!;
  expect(status).toBe(403);
  expect(headers['www-authenticate']).toBe(
    'Bearer error="insufficient_scope", resource_metadata="https://acme.example/.well-known/oauth-protected-resource/api/mcp/streamable-http", scope="issues:read issues:write"',
  );
  expect(lackOf(granted(), ['issues:write'], 'https://acme.example')).toBeNull();
  // A challenge for a scope that no app can be granted would repeat without end.
  expect(lackOf(few, ['plugins:write'], 'https://acme.example')).toBeNull();
});

test('an app decides no proposal, with any scopes, and does not learn which actions are guarded', async () => {
  const issue = await rest('POST', '/issues', { team: 'ENG', title: 'Not by an app' });
  const { proposalId } = await agent.call('issues_update', { id: issue.id, title: 'Changed' });
  // The issue belongs to a member on whose behalf the app does not act.
  const member = await rest('POST', '/members', { name: 'Another', role: 'admin' });
  const { key } = await rest('POST', '/api-keys', {
    ...{ name: 'theirs', memberId: member.id, scopes: ['issues:write', 'proposals:write'] },
  });
  const propose = { 'tatami-mode': 'propose' };
  const path = `/api/v1/issues/${issue.id}`;
  const { json: theirs } = await app.clientOf(key)('PATCH', path, { priority: 'low' }, propose);
  const call = app.app.caller(asText);
  const ask = async (operation: string, input: object): Promise<string | undefined> =>
    (await call(app.app.route(operation), { principal: granted(), isCounted: false, params: {}, ...input }))
      .error?.code;
  for (const id of [proposalId, theirs.id]) {
    const params = { id };
    expect(await ask('proposals.approve', { params, body: { revision: 1 } })).toBe('forbidden');
    expect(await ask('proposals.reject', { params, body: { reason: 'x' } })).toBe('forbidden');
    expect(await ask('proposals.rerun', { params })).toBe('forbidden');
    expect((await rest('GET', `/proposals/${id}`)).status).toBe('open');
  }
  expect(await ask('workspace.update', { body: { guarded: [] } })).toBe('forbidden');
  expect((await rest('GET', '/workspace')).guarded).toHaveLength(4);
});

test('a stream ends at once when its token is revoked', async () => {
  const { key, id } = await rest('POST', '/api-keys', { name: 'brief', scopes: ['issues:read'] });
  const brief = await connect(app, key);
  const subscription = await brief.client.listen({ resourceSubscriptions: ['tatami://issues/ENG-1'] });
  await app.call('DELETE', `/api/v1/api-keys/${id}`);
  await subscription.closed;
  expect(
    await brief.tools().then(
      () => 'answered',
      () => 'refused',
    ),
  ).toBe('refused');
  await brief.close();
});

test('a subscriber is notified only of resources it can read', async () => {
  const issue = await rest('POST', '/issues', { team: 'ENG', title: 'Unheard' });
  const updatedUris: string[] = [];
  const deaf = await connect(app, await app.mintKey(['projects:read']));
  const other = await connect(app, await app.mintKey(['issues:read']));
  for (const one of [deaf, stranger])
    one.client.setNotificationHandler(
      'notifications/resources/updated',
      ({ params }: Json) => void updatedUris.push(params.uri),
    );
  let notify = (): void => undefined;
  const once = new Promise<void>((resolve) => (notify = resolve));
  other.client.setNotificationHandler('notifications/resources/updated', () => notify());
  const uris = { resourceSubscriptions: [`tatami://issues/${issue.identifier}`] };
  for (const one of [deaf, stranger, other]) await one.client.listen(uris);
  await rest('PATCH', `/issues/${issue.id}`, { priority: 'low' });
  await once;
  expect(updatedUris).toEqual([]);
  await deaf.close();
  await other.close();
});
