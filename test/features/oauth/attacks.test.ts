// Attacks on authorization servers, each with the rule in an RFC or OWASP ASVS 5.0 that forbids it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { signIn } from '../sign-in/person.ts';
import {
  Browser,
  ask,
  authorizePath,
  browserOf,
  consent,
  exchange,
  pkce,
  refresh,
  registerApp,
  tokensOf,
  type Client,
  type Page,
  type Params,
} from './client.ts';

let app: TestApp;
let browser: Browser;
let open: Client;
let other: Client;
let confidential: Client;
let native: Client;
beforeAll(async () => {
  app = await startApp();
  browser = await browserOf(app, await signIn(app));
  open = await registerApp(app);
  other = await registerApp(app, { name: 'Another', redirectUris: ['https://other.example/back'] });
  confidential = await registerApp(app, { confidential: true });
  native = await registerApp(app, {
    redirectUris: ['http://127.0.0.1/callback', 'http://[::1]/callback', 'com.example.app:/callback'],
  });
});
afterAll(() => app.stop());

const challenge = pkce().challenge;
const begin = (params: Params = {}, client = open): Promise<Page> =>
  browser.get(authorizePath(client, challenge, params));
/** Returns the parameters of a redirect: in the query, or in the fragment if a token was requested there. */
function callbackParams({ location }: Page): URLSearchParams {
  const { hash, searchParams } = new URL(location ?? 'about:blank');
  return hash === '' ? searchParams : new URLSearchParams(hash.slice(1));
}
const callbackError = (page: Page): string | null => callbackParams(page).get('error');
const codeOf = async (
  proof: ReturnType<typeof pkce>,
  client = open,
  params: Params = {},
): Promise<string | null> =>
  (await consent(browser, authorizePath(client, proof.challenge, params))).searchParams.get('code');
const bearer = async (token: string, path = '/api/v1/issues'): Promise<number> =>
  (await app.clientOf(token)('GET', path)).status;

/** Redirect URIs that differ from every registered one. */
const strangeRedirects: readonly (readonly [string, () => Client, string])[] = [
  ['another host', () => open, 'https://evil.example/callback'],
  ['a suffix to the path', () => open, 'https://client.example/callback/more'],
  ['a suffix to the host', () => open, 'https://client.example.evil.example/callback'],
  ['a subdomain', () => open, 'https://sub.client.example/callback'],
  ['another case of the path', () => open, 'https://client.example/Callback'],
  ['another case of the host', () => open, 'https://CLIENT.example/callback'],
  ['a port', () => open, 'https://client.example:8443/callback'],
  ['the default port written out', () => open, 'https://client.example:443/callback'],
  ['another scheme', () => open, 'http://client.example/callback'],
  ['user information', () => open, 'https://evil.example@client.example/callback'],
  ['a host that resembles user information', () => open, 'https://client.example@evil.example/callback'],
  ['a fragment', () => open, 'https://client.example/callback#at'],
  ['a query', () => open, 'https://client.example/callback?next=https://evil.example'],
  ['a path with dot segments', () => open, 'https://client.example/x/../callback'],
  ['an encoded path', () => open, 'https://client.example/%63allback'],
  ['a trailing slash', () => open, 'https://client.example/callback/'],
  ['a backslash', () => open, 'https://client.example\\@evil.example/callback'],
  ['a script', () => open, 'javascript:alert(1)'],
  ['nothing', () => open, ''],
  ['the redirect of another client', () => open, 'https://other.example/back'],
  ['loopback for a web client', () => open, 'http://127.0.0.1/callback'],
  ['loopback with another path', () => native, 'http://127.0.0.1:5000/other'],
  ['loopback over https', () => native, 'https://127.0.0.1:5000/callback'],
  ['a host that starts like loopback', () => native, 'http://127.0.0.1.evil.example:5000/callback'],
  ['user information on loopback', () => native, 'http://evil@127.0.0.1:5000/callback'],
  ['another scheme of an app', () => native, 'com.example.other:/callback'],
];

for (const [name, clientOf, uri] of strangeRedirects)
  test(`RFC 9700 §2.1, §4.1; ASVS 10.4.1: ${name} is an unregistered redirect URI and gets no redirect`, async () => {
    const page = await begin({ redirect_uri: uri }, clientOf());
    expect([page.status, page.location]).toEqual([400, null]);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  });

test('RFC 8252 §7.3: a registered loopback redirect URI matches with any port', async () => {
  for (const uri of ['http://127.0.0.1:5000/callback', 'http://[::1]:61023/callback'])
    expect((await begin({ redirect_uri: uri }, native)).status).toBe(303);
});

/** Requests whose error is sent to the registered redirect URI. */
const refusedRequests: readonly (readonly [string, Params, string])[] = [
  ['RFC 7636 §4.4.1; RFC 9700 §2.1.1; ASVS 10.4.6: without PKCE', none('code_challenge'), 'invalid_request'],
  ['RFC 7636 §4.2; ASVS 10.4.6: a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
  [
    'RFC 7636 §4.3: a challenge without a method, which means plain',
    { code_challenge_method: undefined },
    'invalid_request',
  ],
  ['RFC 7636 §4.2: a challenge too short', { code_challenge: 'abc' }, 'invalid_request'],
  ['RFC 9700 §2.1.2; ASVS 10.4.4: the implicit grant', { response_type: 'token' }, 'invalid_request'],
  ['ASVS 10.4.4: an id token', { response_type: 'id_token', nonce: 'n' }, 'invalid_request'],
  ['ASVS 10.4.4: a hybrid flow', { response_type: 'code token' }, 'invalid_request'],
  ['ASVS 10.4.12: a response in the fragment', { response_mode: 'fragment' }, 'unsupported_response_mode'],
  ['ASVS 10.4.12: a response as a form', { response_mode: 'form_post' }, 'unsupported_response_mode'],
  ['RFC 9101 §5: a request object', { request: 'e30.e30.' }, 'request_not_supported'],
  [
    'RFC 9101 §5.2: a request by reference',
    { request_uri: 'https://evil.example/r' },
    'request_uri_not_supported',
  ],
  ['RFC 8707 §2: an unknown resource', { resource: 'https://evil.example/api' }, 'invalid_target'],
  ['RFC 8707 §2: a resource with another path', { resource: 'http://127.0.0.1/api/v2' }, 'invalid_target'],
  [
    'OpenID Connect Core §3.1.2.1: prompt=none for a request that needs a page',
    { prompt: 'none' },
    'interaction_required',
  ],
];

function none(...names: string[]): Params {
  return Object.fromEntries(['code_challenge_method', ...names].map((name) => [name, undefined]));
}

for (const [name, params, error] of refusedRequests)
  test(`${name} is rejected with ${error}`, async () => {
    for (const client of [open, confidential]) {
      const page = await begin(params, client);
      expect([page.status, callbackError(page)]).toEqual([303, error]);
      // RFC 9207 §2: every response, also an error, names its issuer, so that none passes for one of another
      // server.
      expect(page.location).toStartWith('https://client.example/callback');
      expect(callbackParams(page).get('iss')).toBe(app.url);
    }
  });

test('OpenID Connect Core §3.1.2.6: prompt=none without a session returns its own error', async () => {
  const page = await new Browser(app.url).get(authorizePath(open, challenge, { prompt: 'none' }));
  expect(callbackError(page)).toBe('login_required');
});

test('RFC 6749 §3.1: a repeated parameter is rejected without a redirect', async () => {
  const twice = `${authorizePath(open, challenge)}&redirect_uri=${encodeURIComponent('https://evil.example/')}`;
  const page = await browser.get(twice);
  expect([page.status, page.location]).toEqual([400, null]);
});

test('RFC 8707 §2: a token is for one resource', async () => {
  const both = ['/api/v1', '/api/mcp/streamable-http'].map(
    (path) => `&resource=${encodeURIComponent(app.url + path)}`,
  );
  expect(callbackError(await browser.get(authorizePath(open, challenge) + both.join('')))).toBe(
    'invalid_target',
  );
});

test('RFC 6749 §3.3: scopes that no app can get are rejected with invalid_scope', async () => {
  for (const scope of ['openid', 'approvals:write', 'api-keys:write grants:write']) {
    const begun = await begin({ scope });
    const consentPage = await browser.get(begun.location!);
    expect(consentPage.status).toBe(303);
    expect(callbackError(await browser.get(consentPage.location!))).toBe('invalid_scope');
  }
});

test('RFC 6749 §4.1.2.1: an unknown client gets an error page and no redirect', async () => {
  for (const id of ['', 'app_unknown', 'constructor', '__proto__', "' OR 1=1"]) {
    const page = await begin({ client_id: id });
    expect([id, page.status, page.location]).toEqual([id, 400, null]);
  }
});

test('RFC 6749 §4.1.2; RFC 9700 §2.1.1; ASVS 10.4.2: a reused code revokes the tokens that it gave', async () => {
  const proof = pkce();
  const code = await codeOf(proof);
  const { json } = await exchange(app, open, code, proof);
  expect(await bearer(json.access_token)).toBe(200);
  expect((await exchange(app, open, code, proof)).json.error).toBe('invalid_grant');
  expect(await bearer(json.access_token)).toBe(401);
  expect((await refresh(app, open, json.refresh_token)).json.error).toBe('invalid_grant');
});

test('RFC 6749 §4.1.2; ASVS 10.4.3: a code is valid for a minute', async () => {
  const proof = pkce();
  const code = await codeOf(proof);
  app.clock.advance(60_000);
  expect((await exchange(app, open, code, proof)).json.error).toBe('invalid_grant');
});

/** Rejected exchanges of a valid code. */
const refusedExchanges: readonly (readonly [
  string,
  (code: string | null, verifier: string) => Promise<unknown>,
])[] = [
  [
    'RFC 9700 §4.5; ASVS 10.4.6: an injected code without the verifier of its request',
    (code) => exchange(app, open, code, pkce()),
  ],
  [
    'RFC 7636 §4.6: a code without a verifier',
    (code, verifier) => exchange(app, open, code, { verifier, challenge }, { code_verifier: undefined }),
  ],
  [
    'RFC 7636 §4.1: a verifier too short',
    (code) => exchange(app, open, code, { verifier: 'abc', challenge }),
  ],
  [
    'RFC 6749 §4.1.3; RFC 9700 §4.5: the code of another client',
    (code, verifier) =>
      exchange(app, other, code, { verifier, challenge }, { redirect_uri: open.redirectUri }),
  ],
  [
    'RFC 6749 §4.1.3: a redirect URI other than the requested one',
    (code, verifier) =>
      exchange(app, open, code, { verifier, challenge }, { redirect_uri: other.redirectUri }),
  ],
  [
    'RFC 6749 §4.1.3: no redirect',
    (code, verifier) => exchange(app, open, code, { verifier, challenge }, { redirect_uri: undefined }),
  ],
  [
    'RFC 8707 §2.2: a resource other than the consented one',
    (code, verifier) =>
      exchange(app, open, code, { verifier, challenge }, { resource: `${app.url}/api/mcp/streamable-http` }),
  ],
];

for (const [name, attempt] of refusedExchanges)
  test(`${name} gets no token`, async () => {
    const proof = pkce();
    const answer = await attempt(await codeOf(proof), proof.verifier);
    expect(answer).toMatchObject({
      status: 400,
      json: { error: expect.stringMatching(/^invalid_(grant|request|target)$/) },
    });
  });

test('RFC 6749 §5.2; ASVS 10.4.4: other grant types are rejected', async () => {
  for (const type of ['password', 'client_credentials', 'urn:ietf:params:oauth:grant-type:jwt-bearer', ''])
    expect((await ask(app, '/oauth/token', open, { grant_type: type })).json.error).toMatch(
      /^(unsupported_grant_type|invalid_request)$/,
    );
});

test('RFC 6749 §3.2.1; ASVS 10.4.10: an unauthenticated confidential client gets no token', async () => {
  const proof = pkce();
  const code = await codeOf(proof, confidential);
  const unproven: Client = { ...confidential, secret: null };
  const wrong: Client = { ...confidential, secret: `ttms_${'a'.repeat(38)}` };
  const stand: Client = { ...confidential, secret: 'only its hash is kept' };
  for (const client of [unproven, wrong, stand]) {
    const { status, json } = await exchange(app, client, code, proof);
    expect([status, json.error]).toEqual([401, 'invalid_client']);
  }
  expect((await exchange(app, confidential, code, proof)).status).toBe(200);
});

test('RFC 6749 §2.3: a client uses one authentication method at a time, and a public client none', async () => {
  const both = await ask(app, '/oauth/token', confidential, {
    ...{ grant_type: 'refresh_token', refresh_token: 'x', client_secret: confidential.secret ?? '' },
  });
  expect(both.json.error).toBe('invalid_request');
  const claimed = await ask(
    app,
    '/oauth/token',
    { ...open, secret: 'x' },
    { grant_type: 'refresh_token', refresh_token: 'x' },
  );
  expect(claimed.json.error).toBe('invalid_client');
});

test('RFC 6749 §10.4; RFC 9700 §2.2.2; ASVS 10.4.5: the refresh token of another client is rejected', async () => {
  const tokens = await tokensOf(app, open, { browser });
  expect((await refresh(app, other, tokens.refresh_token)).json.error).toBe('invalid_grant');
  // The failed attempt does not revoke the token.
  expect((await refresh(app, open, tokens.refresh_token)).status).toBe(200);
});

test('RFC 6749 §6: a refresh grants at most the original scopes, and fewer on request', async () => {
  const tokens = await tokensOf(app, open, { browser });
  const more = await refresh(app, open, tokens.refresh_token, { scope: 'issues:write teams:read' });
  expect(more.json.error).toBe('invalid_scope');
  const fewer = await refresh(app, open, tokens.refresh_token, { scope: 'comments:read' });
  expect(fewer.json.scope).toBe('comments:read');
  expect(await bearer(fewer.json.access_token)).toBe(403);
});

test('ASVS 10.4.8: a grant ends after a year, with any number of refreshes', async () => {
  const own = await startApp();
  try {
    const client = await registerApp(own);
    let { refresh_token: token } = await tokensOf(own, client, { browser: await browserOf(own) });
    for (let days = 0; days < 350; days += 50) {
      own.clock.jump(50 * 86_400_000);
      ({ refresh_token: token } = (await refresh(own, client, token)).json);
    }
    own.clock.jump(16 * 86_400_000);
    expect((await refresh(own, client, token)).json.error).toBe('invalid_grant');
  } finally {
    await own.stop();
  }
});

test('RFC 7009 §2.1; ASVS 10.4.9: revoking a refresh token ends the grant, and revoking an access token ends only that token', async () => {
  const first = await tokensOf(app, open, { browser });
  expect(await bearer(first.access_token)).toBe(200);
  expect((await ask(app, '/oauth/revoke', open, { token: first.access_token })).status).toBe(200);
  expect(await bearer(first.access_token)).toBe(401);
  const second = (await refresh(app, open, first.refresh_token)).json;
  expect((await ask(app, '/oauth/revoke', open, { token: second.refresh_token })).status).toBe(200);
  expect(await bearer(second.access_token)).toBe(401);
});

test('RFC 7009 §2.1: a client cannot revoke the token of another, and an unknown token is no error', async () => {
  const tokens = await tokensOf(app, open, { browser });
  for (const token of [tokens.access_token, tokens.refresh_token, 'unknown'])
    expect((await ask(app, '/oauth/revoke', other, { token })).status).toBe(200);
  expect(await bearer(tokens.access_token)).toBe(200);
  expect((await refresh(app, open, tokens.refresh_token)).status).toBe(200);
});

test('RFC 7662 §2.1, §4: only an authenticated client introspects tokens, and only its own', async () => {
  const mine = await tokensOf(app, confidential, { browser });
  const foreign = await tokensOf(app, open, { browser });
  const lookUp = async (client: Client | null, token: string) =>
    (await ask(app, '/oauth/introspect', client, { token })).json;
  expect(await lookUp(confidential, mine.access_token)).toMatchObject({
    active: true,
    client_id: confidential.id,
    scope: 'issues:write comments:read',
    aud: `${app.url}/api/v1`,
    sub: app.workspace.userId,
  });
  expect(await lookUp(confidential, foreign.access_token)).toEqual({ active: false });
  expect(await lookUp(open, foreign.access_token)).toEqual({ active: false });
  expect(await lookUp(null, mine.access_token)).toMatchObject({ error: 'invalid_request' });
  await ask(app, '/oauth/revoke', confidential, { token: mine.refresh_token });
  expect(await lookUp(confidential, mine.access_token)).toEqual({ active: false });
});

test('RFC 8707 §3; RFC 9700 §2.3: the API rejects a token for the MCP endpoint', async () => {
  const resource = `${app.url}/api/mcp/streamable-http`;
  const tokens = await tokensOf(app, open, { browser, params: { resource } });
  expect(await bearer(tokens.access_token)).toBe(401);
});

test('RFC 6750 §5.3; RFC 9700 §4.3.2: the API rejects a token in the URL', async () => {
  const { access_token: token } = await tokensOf(app, open, { browser });
  const response = await fetch(`${app.url}/api/v1/issues?access_token=${token}`);
  expect(response.status).toBe(401);
});

test('RFC 6750 §3; RFC 9728 §5.1: a request without a valid token learns where to get one', async () => {
  for (const token of [null, 'tta_unknown', `tta_${'a'.repeat(43)}`]) {
    const { status, headers } = await app.clientOf(token)('GET', '/api/v1/issues');
    expect([status, headers.get('www-authenticate')]).toEqual([
      401,
      `Bearer realm="tatami", resource_metadata="${app.url}/.well-known/oauth-protected-resource/api/v1"`,
    ]);
  }
});

test('a refresh token, a code and a device code are not accepted as an access token', async () => {
  const proof = pkce();
  const tokens = await tokensOf(app, open, { browser });
  const device = await ask(app, '/oauth/device', { ...open, id: 'tatami-cli' }, {});
  for (const text of [tokens.refresh_token, await codeOf(proof), device.json.device_code])
    expect(await bearer(text)).toBe(401);
});
