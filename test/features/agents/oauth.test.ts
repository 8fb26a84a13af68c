// The official clients of both protocol versions find the authorization server, register, ask for consent and
// use the token.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { bearerOf, signIn, type Person } from '../sign-in/person.ts';
import { browserOf, consent, registerApp, tokensOf, type Browser } from '../oauth/client.ts';
import { bearer, endpointOf, generations, post, toolCall } from './agents.ts';

let app: TestApp;
let person: Person;
let browser: Browser;
beforeAll(async () => {
  app = await startApp();
  person = await signIn(app);
  browser = await browserOf(app, person);
});
afterAll(() => app.stop());

const rest = async (method: string, path: string, body?: object): Promise<Json> =>
  (await app.call(method, `/api/v1${path}`, body)).json;
const redirectUri = 'http://127.0.0.1:9/callback';

/** The storage and callbacks that a client requires; the redirect completes the consent page. */
function createProvider(scope?: string) {
  const storage: Json = { walked: [] };
  return {
    kept: storage,
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: 'Night Owl',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      ...(scope === undefined ? {} : { scope }),
    },
    clientInformation: () => storage.client,
    saveClientInformation: (client: unknown) => void (storage.client = client),
    tokens: () => storage.tokens,
    saveTokens: (tokens: unknown) => void (storage.tokens = tokens),
    saveCodeVerifier: (verifier: string) => void (storage.verifier = verifier),
    codeVerifier: () => storage.verifier,
    state: () => 'a-state',
    redirectToAuthorization: (url: URL) => void storage.walked.push(url),
  };
}

type Provider = ReturnType<typeof createProvider>;

/**
 * Authorizes a client of a protocol version, with a person on the consent page.
 * @param change changes of the consent form
 */
async function walk(
  generation: (typeof generations)[number],
  provider: Provider,
  change: (form: URLSearchParams) => void = () => undefined,
): Promise<Json> {
  const info = { name: 'night-owl', version: '1.0.0' };
  const make = (): { client: Json; transport: Json } =>
    generation === 'current'
      ? {
          client: new Client(info, { versionNegotiation: { mode: 'auto' } }),
          transport: new StreamableHTTPClientTransport(endpointOf(app), { authProvider: provider as never }),
        }
      : {
          client: new EarlierClient(info),
          transport: new EarlierTransport(endpointOf(app), { authProvider: provider as never }),
        };
  const first = make();
  const refused = await first.client.connect(first.transport).then(
    () => 'connected',
    ({ message }: Error) => message,
  );
  expect(refused).toMatch(/unauthorized/i);
  const url: URL = provider.kept.walked.at(-1);
  const back = await consent(browser, `${url.pathname}${url.search}`, change);
  const { searchParams } = back;
  await first.transport.finishAuth(generation === 'current' ? searchParams : searchParams.get('code'));
  const second = make();
  await second.client.connect(second.transport);
  return second.client;
}

describe.each(generations.map((generation) => [generation] as const))(
  'a client of the %s protocol',
  (generation) => {
    test('goes from the address alone to the result of a tool', async () => {
      const provider = createProvider();
      const client = await walk(generation, provider);
      const created = await client.callTool({
        name: 'issues_create',
        arguments: { team: 'ENG', title: `By ${generation}` },
      });
      const issue = await rest('GET', `/issues/${created.structuredContent.id}`);
      expect(issue.creator).toMatchObject({ id: person.memberId });
      const { data } = await rest('GET', `/issues/${issue.id}/history`);
      expect(data[0].actor).toMatchObject({
        kind: 'app',
        id: provider.kept.client.client_id,
        name: 'Night Owl',
        memberId: person.memberId,
      });
      const authorization = provider.kept.walked[0].searchParams;
      expect([authorization.get('resource'), authorization.get('code_challenge_method')]).toEqual([
        endpointOf(app).href,
        'S256',
      ]);
      expect(authorization.get('scope').split(' ')).toContain('issues:write');
      await client.close();
    });
  },
);

test('the token is valid at this endpoint only, and a token for the API is rejected here', async () => {
  const provider = createProvider();
  const client = await walk('current', provider);
  const { access_token: token } = provider.kept.tokens;
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  expect((await post(app, list, bearer(token))).status).toBe(200);
  const elsewhere = await app.clientOf(token)('GET', '/api/v1/issues');
  expect([elsewhere.status, elsewhere.json.error.code]).toEqual([401, 'unauthorized']);
  await client.close();

  const ofApi = (await tokensOf(app, await registerApp(app), { browser })).access_token;
  expect((await app.clientOf(ofApi)('GET', '/api/v1/issues')).status).toBe(200);
  const { status, headers } = await post(app, list, bearer(ofApi));
  expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('invalid_token')]);
});

test('an app approves nothing, and its member does, by the session of a browser', async () => {
  const provider = createProvider();
  // The person cannot turn off the approvals that the workspace requires.
  const client = await walk('current', provider, (form) => expect(form.getAll('guarded')).toEqual([]));
  expect((await rest('GET', '/grants?limit=1')).data[0].guarded).toHaveLength(4);
  const created = await rest('POST', '/issues', { team: 'ENG', title: 'Of a person' });
  const call = async (name: string, args: object): Promise<Json> =>
    (await client.callTool({ name, arguments: args })).structuredContent;
  const proposed = await call('issues_delete', { id: created.id });
  expect(proposed.status).toBe('proposed');
  const { data } = await rest('GET', '/inbox?limit=10');
  expect(data[0]).toMatchObject({ kind: 'proposal_made', target: { id: proposed.proposalId } });
  expect(data[0].title).toMatch(/^Night Owl, for .+, proposes a change$/);
  const ofPerson = app.clientOf(await bearerOf(app, person));
  const path = `/api/v1/proposals/${proposed.proposalId}`;
  expect((await ofPerson('GET', path)).json).toMatchObject({
    ...{ author: { id: person.memberId }, through: { kind: 'app', name: 'Night Owl' } },
  });
  expect((await app.clientOf(provider.kept.tokens.access_token)('POST', `${path}/approve`, {})).status).toBe(
    401,
  );
  expect((await ofPerson('POST', `${path}/approve`, { revision: 1 })).status).toBe(200);
  expect((await rest('GET', `/issues/${created.id}`)).error?.code).toBe('not_found');
  await client.close();
});

test('an approval required by the person at consent applies, also if the workspace requires none', async () => {
  await rest('PATCH', '/workspace', { guarded: [] });
  const provider = createProvider();
  const client = await walk('current', provider, (form) => {
    expect(form.getAll('guarded').sort()).toEqual(['bulk', 'delete', 'finish', 'others']);
    form.delete('guarded');
    form.append('guarded', 'finish');
  });
  const issue = await rest('POST', '/issues', { team: 'ENG', title: 'Guarded by consent' });
  const update = async (args: object): Promise<string> =>
    (await client.callTool({ name: 'issues_update', arguments: { id: issue.id, ...args } })).structuredContent
      .status;
  expect(await update({ priority: 'low' })).toBe('done');
  expect(await update({ state: 'Done' })).toBe('proposed');
  await rest('PATCH', '/workspace', { guarded: ['delete', 'bulk', 'finish', 'others'] });
  await client.close();
});

test('an agent that requests no scopes gets read scopes only', async () => {
  const provider = createProvider();
  const client = await walk('current', provider, (form) => {
    for (const scope of form.getAll('scope').filter((one) => one.endsWith(':write')))
      form.delete('scope', scope);
  });
  const { access_token: token, scope } = provider.kept.tokens;
  expect(scope).not.toContain(':write');
  expect((await client.callTool({ name: 'issues_search', arguments: {} })).isError).toBeUndefined();
  const writing = toolCall('issues_create', { team: 'ENG', title: 'Not let in' });
  expect((await post(app, writing, bearer(token))).status).toBe(403);
  await client.close();
});

test('a missing scope is requested when a tool needs it, and a revoked consent ends all access', async () => {
  const provider = createProvider();
  const client = await walk('current', provider, (form) => form.delete('scope', 'comments:write'));
  const { access_token: token } = provider.kept.tokens;
  const lacking = await post(app, toolCall('comments_add', { id: 'ENG-1', body: 'Seen' }), bearer(token));
  const challenge = lacking.headers.get('www-authenticate') ?? '';
  expect([lacking.status, challenge]).toEqual([403, expect.stringContaining('error="insufficient_scope"')]);
  expect(challenge).toContain('comments:write');
  expect(challenge).toContain('issues:write');

  const watching = await client.listen({ resourceSubscriptions: ['tatami://issues/ENG-1'] });
  const [grant] = (await rest('GET', '/grants?limit=1')).data;
  expect((await app.call('DELETE', `/api/v1/grants/${grant.id}`)).status).toBeLessThan(300);
  await watching.closed;
  expect((await post(app, toolCall('issues_search'), bearer(token))).status).toBe(401);
  await client.close();
});
