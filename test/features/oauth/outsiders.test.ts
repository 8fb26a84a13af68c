// Tests interoperability with an unmodified OAuth client (oauth4webapi) that starts from an address.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import * as oauth from 'oauth4webapi';
import { startApp, type TestApp } from '../../app.ts';
import { Browser, browserOf, consent, formOf, registerApp } from './client.ts';

/** Tests listen on loopback without TLS. */
const plain = { [oauth.allowInsecureRequests]: true };

let app: TestApp;
let browser: Browser;
let server: oauth.AuthorizationServer;
beforeAll(async () => {
  app = await startApp();
  browser = await browserOf(app);
  server = await discover();
});
afterAll(() => app.stop());

/** Finds the authorization server from a 401 of the resource (RFC 9728 §5, RFC 8414 §3). */
async function discover(): Promise<oauth.AuthorizationServer> {
  const api = new URL(`${app.url}/api/v1`);
  const refused = await fetch(`${api}/issues`);
  const metadataUrl = /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '')?.[1];
  expect(metadataUrl).toBe(`${app.url}/.well-known/oauth-protected-resource/api/v1`);
  const resource = await oauth.processResourceDiscoveryResponse(
    api,
    await oauth.resourceDiscoveryRequest(api, plain),
  );
  const issuer = new URL(resource.authorization_servers![0]!);
  const discovery = await oauth.discoveryRequest(issuer, { ...plain, algorithm: 'oauth2' });
  return oauth.processDiscoveryResponse(issuer, discovery);
}

/** Runs the flow from consent to tokens, their use, refresh and revocation. */
async function walk(client: oauth.Client, auth: oauth.ClientAuth, redirectUri: string): Promise<void> {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(server.authorization_endpoint!);
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'issues:write teams:read',
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
    resource: `${app.url}/api/v1`,
  }).toString();
  const back = await consent(browser, url.pathname + url.search);
  const params = oauth.validateAuthResponse(server, client, back, state);
  const exchanged = await oauth.authorizationCodeGrantRequest(
    ...([server, client, auth, params, redirectUri, verifier, plain] as const),
  );
  const first = await oauth.processAuthorizationCodeResponse(server, client, exchanged);

  const issues = new URL(`${app.url}/api/v1/issues`);
  const answer = await oauth.protectedResourceRequest(
    first.access_token,
    'POST',
    issues,
    new Headers({ 'content-type': 'application/json' }),
    JSON.stringify({ title: 'From outside', team: 'ENG' }),
    plain,
  );
  expect(answer.status).toBe(201);

  const refreshed = await oauth.refreshTokenGrantRequest(server, client, auth, first.refresh_token!, plain);
  const second = await oauth.processRefreshTokenResponse(server, client, refreshed);
  expect(second.refresh_token).not.toBe(first.refresh_token);
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(server, client, auth, second.refresh_token!, plain),
  );
  const again = oauth.protectedResourceRequest(second.access_token, 'GET', issues, undefined, null, plain);
  expect((await again.catch((error: oauth.WWWAuthenticateChallengeError) => error)).status).toBe(401);
}

test('the metadata documents list what is supported and nothing else', () => {
  expect(server).toMatchObject({
    issuer: app.url,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  });
  const endpoints = Object.entries(server).filter(([name]) => name.endsWith('_endpoint'));
  expect(endpoints).toHaveLength(6);
  for (const [, url] of endpoints) expect(url).toStartWith(`${app.url}/oauth/`);
});

test('a public client completes the flow', async () => {
  const { id, redirectUri } = await registerApp(app);
  await walk({ client_id: id, token_endpoint_auth_method: 'none' }, oauth.None(), redirectUri);
});

test('a confidential client completes the flow, with either authentication method', async () => {
  const { id, secret, redirectUri } = await registerApp(app, { confidential: true });
  for (const auth of [oauth.ClientSecretBasic(secret!), oauth.ClientSecretPost(secret!)])
    await walk({ client_id: id }, auth, redirectUri);
});

test('a client that registers itself completes the flow', async () => {
  const redirectUri = 'http://127.0.0.1:7777/callback';
  const response = await oauth.dynamicClientRegistrationRequest(
    server,
    {
      client_name: 'Outsider',
      redirect_uris: [redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    },
    plain,
  );
  const client = await oauth.processDynamicClientRegistrationResponse(response);
  await walk(client, oauth.None(), redirectUri);
});

test('a confidential client introspects its token', async () => {
  const { id, secret } = await registerApp(app, { confidential: true });
  const auth = oauth.ClientSecretBasic(secret!);
  const response = await oauth.introspectionRequest(server, { client_id: id }, auth, 'unknown', plain);
  expect(await oauth.processIntrospectionResponse(server, { client_id: id }, response)).toEqual({
    active: false,
  });
});

test('a device completes the flow', async () => {
  const client = { client_id: 'tatami-cli' };
  const begun = await oauth.processDeviceAuthorizationResponse(
    server,
    client,
    await oauth.deviceAuthorizationRequest(server, client, oauth.None(), { scope: 'issues:read' }, plain),
  );
  const { pathname, search } = new URL(begun.verification_uri_complete!);
  const form = formOf(await browser.post(pathname, formOf(await browser.get(pathname + search))));
  form.set('decision', 'allow');
  await browser.post(pathname, form);
  const tokens = await oauth.processDeviceCodeResponse(
    server,
    client,
    await oauth.deviceCodeGrantRequest(server, client, oauth.None(), begun.device_code, plain),
  );
  expect(tokens.scope).toBe('issues:read');
});

test('RFC 9207 §2.4: a response from another server is rejected by the client', async () => {
  const other = new URL('https://client.example/callback?code=x&state=s&iss=https%3A%2F%2Fevil.example');
  expect(() => oauth.validateAuthResponse(server, { client_id: 'x' }, other, 's')).toThrow('iss');
});
