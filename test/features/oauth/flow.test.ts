import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { proveAgain, signIn, type Person } from '../sign-in/person.ts';
import {
  Browser,
  ask,
  authorizePath,
  browserOf,
  consent,
  exchange,
  formOf,
  pkce,
  refresh,
  registerApp,
  tokensOf,
  type Client,
} from './client.ts';

let app: TestApp;
let ana: Person;
let browser: Browser;
let open: Client;
let confidential: Client;
const commandLine: Client = { id: 'tatami-cli', secret: null, redirectUri: 'http://127.0.0.1/callback' };
beforeAll(async () => {
  app = await startApp();
  ana = await signIn(app);
  browser = await browserOf(app, ana);
  open = await registerApp(app);
  confidential = await registerApp(app, { confidential: true, name: 'Server side' });
});
afterAll(() => app.stop());
// Tests advance the clock, and consent needs a recent sign-in.
beforeEach(() => proveAgain(app, ana));

const status = async (token: string, path = '/api/v1/issues', method = 'GET', body?: unknown) =>
  (await app.clientOf(token)(method, path, body)).status;
const grantOf = async (): Promise<Json> => (await app.call('GET', '/api/v1/grants')).json.data[0];
const lastEvent = async (): Promise<Json> => {
  const after = (await app.lastSequence()) - 1;
  return (await app.call('GET', `/api/v1/events?after=${after}`)).json.data[0];
};

for (const clientType of ['public', 'confidential'] as const)
  test(`a ${clientType} app acts for the member who authorized it, with the scopes that the member left on`, async () => {
    const client = clientType === 'public' ? open : confidential;
    const tokens = await tokensOf(app, client, {
      browser,
      change: (form) => form.delete('scope', 'comments:read'),
    });
    expect(tokens).toEqual({
      access_token: expect.stringMatching(/^tta_[\w-]{43}$/),
      refresh_token: expect.stringMatching(/^ttr_[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'issues:write',
    });
    expect(await lastEvent()).toMatchObject({
      type: 'grant.created',
      actor: { kind: 'user', id: app.workspace.userId },
    });
    expect(await status(tokens.access_token, '/api/v1/teams')).toBe(403);
    const newIssue = { title: 'By an app', team: 'ENG' };
    expect(await status(tokens.access_token, '/api/v1/issues', 'POST', newIssue)).toBe(201);
    expect((await lastEvent()).actor).toMatchObject({
      kind: 'app',
      id: client.id,
      memberId: app.workspace.userId,
    });
  });

test('a signed-out person signs in first, and returns to the request', async () => {
  const stranger = new Browser(app.url);
  const begun = await stranger.get(authorizePath(open, pkce().challenge));
  const page = await stranger.get(begun.location!);
  expect([page.status, page.location]).toEqual([
    303,
    `${app.url}/sign-in?to=${encodeURIComponent(begun.location!)}`,
  ]);
});

test('denying a request sends the app back with access_denied and nothing else', async () => {
  const back = await consent(browser, authorizePath(open, pkce().challenge), (form) =>
    form.set('decision', 'deny'),
  );
  expect(Object.fromEntries(back.searchParams)).toEqual({
    error: 'access_denied',
    error_description:
      'The person denied the request. Ask again only if the person wants to allow the access.',
    state: 'st',
    iss: app.url,
  });
});

test('a refresh token is valid once, and its reuse revokes the grant and all of its tokens', async () => {
  const first = await tokensOf(app, open, { browser });
  const second = (await refresh(app, open, first.refresh_token)).json;
  expect(await status(second.access_token)).toBe(200);
  expect((await refresh(app, open, first.refresh_token)).json).toMatchObject({ error: 'invalid_grant' });
  expect(await lastEvent()).toMatchObject({ type: 'grant.revoked', actor: { kind: 'system', id: 'oauth' } });
  for (const { access_token } of [first, second]) expect(await status(access_token)).toBe(401);
  expect((await refresh(app, open, second.refresh_token)).json).toMatchObject({ error: 'invalid_grant' });
});

test('of eight concurrent refreshes exactly one succeeds, and its tokens are then revoked', async () => {
  const tokens = await tokensOf(app, open, { browser });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => refresh(app, open, tokens.refresh_token)),
  );
  const succeeded = answers.filter((answer) => answer.status === 200);
  expect(succeeded).toHaveLength(1);
  expect(answers.filter(({ json }) => json.error === 'invalid_grant')).toHaveLength(7);
  const { access_token, refresh_token } = succeeded[0]!.json;
  expect(await status(access_token)).toBe(401);
  expect((await refresh(app, open, refresh_token)).json.error).toBe('invalid_grant');
});

test('of eight concurrent exchanges of one code at most one succeeds, and its tokens are then revoked', async () => {
  const proof = pkce();
  const back = await consent(browser, authorizePath(open, proof.challenge));
  const code = back.searchParams.get('code');
  const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(app, open, code, proof)));
  const succeeded = answers.filter((answer) => answer.status === 200);
  expect(succeeded.length).toBeLessThanOrEqual(1);
  for (const { json } of succeeded) expect(await status(json.access_token)).toBe(401);
});

test('of eight concurrent answers to one consent page exactly one creates a grant', async () => {
  const begun = await browser.get(authorizePath(open, pkce().challenge));
  const form = formOf(await browser.get(begun.location!));
  form.set('decision', 'allow');
  const before = await app.lastSequence();
  const answers = await Promise.all(Array.from({ length: 8 }, () => browser.post(begun.location!, form)));
  expect(answers.filter((answer) => answer.status === 303)).toHaveLength(1);
  expect(await app.eventTypes(before)).toEqual(['grant.created']);
});

test('a grant revoked over REST invalidates its tokens from the next request on', async () => {
  const tokens = await tokensOf(app, open, { browser });
  expect(await status(tokens.access_token)).toBe(200);
  await app.call('DELETE', `/api/v1/grants/${(await grantOf()).id}`);
  expect(await status(tokens.access_token)).toBe(401);
  expect((await refresh(app, open, tokens.refresh_token)).json.error).toBe('invalid_grant');
});

test('a grant narrowed over REST narrows its tokens from the next request on', async () => {
  const tokens = await tokensOf(app, open, { browser });
  expect(await status(tokens.access_token, '/api/v1/issues', 'POST', {})).toBe(422);
  await app.call('PATCH', `/api/v1/grants/${(await grantOf()).id}`, { scopes: ['comments:read'] });
  expect(await status(tokens.access_token, '/api/v1/issues', 'POST', {})).toBe(403);
  const again = await refresh(app, open, tokens.refresh_token);
  expect(again.json.scope).toBe('comments:read');
});

const pollOf = (client: Client, code: string) => () =>
  ask(app, '/oauth/token', client, {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: code,
  });

test('a device is authorized once by a person who types its code elsewhere', async () => {
  const begun = await ask(app, '/oauth/device', commandLine, { scope: 'issues:read' });
  expect(begun.json).toEqual({
    device_code: expect.stringMatching(/^[\w-]{43}$/),
    user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
    verification_uri: `${app.url}/device`,
    verification_uri_complete: `${app.url}/device?user_code=${begun.json.user_code}`,
    expires_in: 600,
    interval: 5,
  });
  const poll = pollOf(commandLine, begun.json.device_code);
  expect((await poll()).json.error).toBe('authorization_pending');
  expect((await poll()).json.error).toBe('slow_down');

  const typed = formOf(await browser.get('/device'));
  typed.set('user_code', begun.json.user_code.toLowerCase().replace('-', ' '));
  const page = await browser.post('/device', typed);
  expect(page.text).toContain('Authorize Tatami command line?');
  const form = formOf(page);
  form.set('decision', 'allow');
  expect((await browser.post('/device', form)).text).toContain('Your device is connected');
  expect((await browser.post('/device', form)).status).toBe(422);

  app.clock.advance(10_000);
  const { json } = await poll();
  expect(json).toMatchObject({ scope: 'issues:read', token_type: 'Bearer' });
  expect(await status(json.access_token)).toBe(200);
  app.clock.advance(10_000);
  expect((await poll()).json.error).toBe('invalid_grant');
  expect(await status(json.access_token)).toBe(401);
});

test('a device learns that it was denied, or that its code has expired', async () => {
  const begun = await ask(app, '/oauth/device', commandLine, {});
  const typed = formOf(await browser.get(`/device?user_code=${begun.json.user_code}`));
  const form = formOf(await browser.post('/device', typed));
  form.set('decision', 'deny');
  await browser.post('/device', form);
  expect((await pollOf(commandLine, begun.json.device_code)()).json.error).toBe('access_denied');

  const late = await ask(app, '/oauth/device', commandLine, {});
  app.clock.advance(600_000);
  expect((await pollOf(commandLine, late.json.device_code)()).json.error).toBe('expired_token');
});

test('an access token lasts an hour, and a refresh token sixty days from its last use', async () => {
  const tokens = await tokensOf(app, open, { browser });
  app.clock.jump(3_599_000);
  expect(await status(tokens.access_token)).toBe(200);
  app.clock.advance(1_000);
  expect(await status(tokens.access_token)).toBe(401);
  app.clock.jump(59 * 86_400_000);
  const again = await refresh(app, open, tokens.refresh_token);
  expect(again.status).toBe(200);
  app.clock.jump(59 * 86_400_000);
  const third = await refresh(app, open, again.json.refresh_token);
  expect(third.status).toBe(200);
  app.clock.jump(60 * 86_400_000);
  expect((await refresh(app, open, third.json.refresh_token)).json.error).toBe('invalid_grant');
});
