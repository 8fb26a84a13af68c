import { afterAll, beforeAll, expect, test } from 'bun:test';
import * as client from 'openid-client';
import { startApp, type TestApp } from '../../app.ts';
import { browserOf, consent, registerApp } from './client.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

test('an app on openid-client completes the flow with its secret, and with no other', async () => {
  const { id, secret, redirectUri } = await registerApp(app, { confidential: true });
  const configOf = (proof: string): Promise<client.Configuration> =>
    client.discovery(new URL(app.url), id, {}, client.ClientSecretBasic(proof), {
      algorithm: 'oauth2',
      // Tests listen on loopback without TLS.
      execute: [client.allowInsecureRequests],
    });
  const config = await configOf(secret!);
  const verifier = client.randomPKCECodeVerifier();
  const state = client.randomState();
  const authorizationUrl = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'issues:write',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state,
  });
  const back = await consent(await browserOf(app), authorizationUrl.pathname + authorizationUrl.search);
  const checks = { pkceCodeVerifier: verifier, expectedState: state };
  const stranger = await configOf('ttms_wrong');
  const refusal = await client
    .authorizationCodeGrant(stranger, back, checks)
    .catch((error: unknown) => error);
  expect(refusal).toMatchObject({ status: 401, cause: [{ scheme: 'basic' }] });

  const first = await client.authorizationCodeGrant(config, back, checks);
  expect(first).toMatchObject({ token_type: 'bearer', scope: 'issues:write', expires_in: 3600 });
  const issues = new URL(`${app.url}/api/v1/issues`);
  const read = (token: string): Promise<Response> =>
    client.fetchProtectedResource(config, token, issues, 'GET');
  expect((await read(first.access_token)).status).toBe(200);

  const second = await client.refreshTokenGrant(config, first.refresh_token!);
  expect(await client.tokenIntrospection(config, second.access_token)).toMatchObject({
    active: true,
    client_id: id,
    scope: 'issues:write',
  });
  await client.tokenRevocation(config, second.refresh_token!);
  expect(await client.tokenIntrospection(config, second.access_token)).toEqual({ active: false });
  expect(
    await read(second.access_token).then(
      () => null,
      ({ status }) => status,
    ),
  ).toBe(401);
});
