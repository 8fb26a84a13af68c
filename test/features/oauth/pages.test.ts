import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { proveAgain, signIn, type Person } from '../sign-in/person.ts';
import { addMembership } from './seats.ts';
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
  type Page,
} from './client.ts';

let app: TestApp;
let ana: Person;
let browser: Browser;
let client: Client;
beforeAll(async () => {
  app = await startApp();
  ana = await signIn(app);
  browser = await browserOf(app, ana);
  client = await registerApp(app);
});
afterAll(() => app.stop());
// Tests advance the clock, and consent needs a recent sign-in.
beforeEach(() => proveAgain(app, ana));

/** Registers a client by itself, without a workspace. */
async function registerItself(
  name: string,
  redirectUris = ['https://stranger.example/back'],
): Promise<Client> {
  const response = await fetch(`${app.url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: name,
      redirect_uris: redirectUris,
      token_endpoint_auth_method: 'none',
    }),
  });
  const { client_id: id } = (await response.json()) as Json;
  return { id, secret: null, redirectUri: redirectUris[0]! };
}

async function openConsent(
  of: Client = client,
  params = {},
  as: Browser = browser,
): Promise<Page & { at: string }> {
  const { location } = await as.get(authorizePath(of, pkce().challenge, params));
  return { ...(await as.get(location!)), at: location! };
}
const textOf = ({ text }: Page): string =>
  text
    .slice(text.indexOf('<main>'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');
const allow = (page: Page): URLSearchParams => {
  const form = formOf(page);
  form.set('decision', 'allow');
  return form;
};

test('ASVS 10.7.2: the page names the app, the workspace, the redirect host, and each permission in a sentence', async () => {
  const page = await openConsent();
  const text = textOf(page);
  for (const part of [
    'Authorize Burndown?',
    'in the workspace Acme',
    'An admin of this workspace registered this app.',
    'You then return to client.example',
    'Read issues, and create, change and delete them. Deleted templates and relations cannot be restored.',
    'Read comments, with all their fields.',
  ])
    expect(text).toContain(part);
  expect(text).not.toContain('This app is not verified');
});

test('ASVS 10.4.7: the page marks the name of a self-registered app as unverified', async () => {
  const text = textOf(await openConsent(await registerItself('Acme <b>Official</b>')));
  expect(text).toContain(
    'This app is not verified. It chose the name “Acme &lt;b&gt;Official&lt;/b&gt;” itself.',
  );
  expect(text).toContain('trust stranger.example');
});

test('an app registered by another workspace is shown as unverified', async () => {
  const foreign = await app.addWorkspace('Beta', 'BET');
  const theirs = await app.clientOf(foreign.apiKey)('POST', '/api/v1/oauth-apps', {
    ...{ name: 'Theirs', confidential: false, redirectUris: ['https://theirs.example/back'] },
  });
  const page = await openConsent({
    id: theirs.json.id,
    secret: null,
    redirectUri: 'https://theirs.example/back',
  });
  expect(textOf(page)).toContain('This app is not verified.');
});

test('ASVS 10.7.1: each authorization asks for consent again', async () => {
  await tokensOf(app, client, { browser });
  expect((await openConsent()).status).toBe(200);
});

test('permissions that the role of the member lacks are shown as unavailable, and are not granted', async () => {
  const { json: guest } = await app.call('POST', '/api/v1/members', { name: 'Gus', role: 'guest' });
  const gus = await browserOf(app, await signIn(app, app.workspace, guest.id));
  const page = await openConsent(client, { scope: 'issues:write workflows:write projects:write' }, gus);
  expect(textOf(page)).toContain(
    'Deleted workflows, calendars and SLA policies cannot be restored. Not available: your role does not have this permission.',
  );
  const forced = allow(page);
  forced.append('scope', 'workflows:write');
  expect(forced.getAll('scope')).toContain('issues:write');
  const before = await app.lastSequence();
  await gus.post(page.at, forced);
  const { json } = await app.call('GET', `/api/v1/events?after=${before}`);
  expect(json.data[0].data.scopes).not.toContain('workflows:write');
});

test('the form cannot add scopes that were not requested, and cannot grant an empty set', async () => {
  const page = await openConsent();
  const more = allow(page);
  more.append('scope', 'projects:write');
  const before = await app.lastSequence();
  expect((await browser.post(page.at, more)).status).toBe(303);
  const { json } = await app.call('GET', `/api/v1/events?after=${before}`);
  expect(json.data[0].data.scopes).toEqual(['issues:write', 'comments:read']);

  const again = await openConsent();
  const nothing = allow(again);
  nothing.delete('scope');
  const answer = await browser.post(again.at, nothing);
  expect([answer.status, textOf(answer)]).toEqual([
    422,
    expect.stringContaining('Choose at least one permission'),
  ]);
});

test('the actions that need approval each time are chosen on the page and stored with the grant', async () => {
  const params = { resource: `${app.url}/api/mcp/streamable-http` };
  const page = await openConsent(client, params);
  expect(textOf(page)).toContain('Ask for approval each time the app');
  const before = await app.lastSequence();
  await browser.post(page.at, allow(page));
  const { json } = await app.call('GET', `/api/v1/events?after=${before}`);
  expect(json.data[0].data).toMatchObject({
    resource: 'mcp',
    guarded: ['delete', 'bulk', 'finish', 'others'],
  });
});

test('a person with memberships in several workspaces chooses one, and the app acts only there', async () => {
  const second = await app.addWorkspace('Gamma', 'GAM');
  await addMembership(app, ana, second);
  const proof = pkce();
  const back = await consent(browser, authorizePath(client, proof.challenge), (form) =>
    form.set('workspace', second.workspaceId),
  );
  const { json } = await exchange(app, client, back.searchParams.get('code'), proof);
  const me = await app.clientOf(json.access_token)('GET', '/api/v1/me');
  expect(me.json.workspace.id).toBe(second.workspaceId);
  const page = await openConsent();
  const chosen = formOf(page);
  chosen.set('workspace', second.workspaceId);
  expect(textOf(await browser.post(page.at, chosen))).toContain('in the workspace Gamma');

  const foreign = await app.addWorkspace('Delta', 'DEL');
  chosen.set('workspace', foreign.workspaceId);
  chosen.set('decision', 'allow');
  expect((await browser.post(page.at, chosen)).status).toBe(403);
});

test('RFC 9700 §4.16; ASVS 3.4.6: no consent page can be framed, loads a script, or is cached', async () => {
  const page = await openConsent();
  const policy = page.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain('unsafe-');
  expect(policy).not.toContain('script-src');
  expect(policy).toContain("form-action 'self' https://client.example");
  expect(page.headers.get('x-frame-options')).toBe('DENY');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
});

test('the page redirects to native apps by their scheme, and to IPv6 loopback by http', async () => {
  const native = await registerApp(app, {
    redirectUris: ['com.example.app:/callback', 'http://[::1]/callback'],
  });
  const policyOf = async (uri: string): Promise<string> =>
    (await openConsent(native, { redirect_uri: uri })).headers.get('content-security-policy') ?? '';
  expect(await policyOf('com.example.app:/callback')).toContain("form-action 'self' com.example.app:");
  expect(await policyOf('http://[::1]:7000/callback')).toContain("form-action 'self' http:");
});

test('RFC 9700 §4.7; ASVS 3.5.1: a form from another page decides nothing', async () => {
  const page = await openConsent();
  const form = allow(page);
  const elsewhere = await browser.post(page.at, form, { origin: 'https://evil.example' });
  const crossSite = await browser.post(page.at, form, { 'sec-fetch-site': 'cross-site' });
  const wrong = new URLSearchParams(form);
  wrong.set('form_token', 'x'.repeat(43));
  const bare = new URLSearchParams(form);
  bare.delete('form_token');
  const refused = [
    elsewhere,
    crossSite,
    await browser.post(page.at, wrong),
    await browser.post(page.at, bare),
  ];
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403]);
  const device = formOf(await browser.get('/device'));
  device.set('form_token', 'x'.repeat(43));
  expect((await browser.post('/device', device)).status).toBe(403);
});

test('RFC 9700 §4.7.1: a request started in another browser cannot be decided or taken over', async () => {
  const mallory = new Browser(app.url);
  const { location } = await mallory.get(authorizePath(client, pkce().challenge));
  expect((await browser.get(location!)).status).toBe(410);
  const own = await openConsent();
  expect((await browser.post(location!, allow(own))).status).toBe(410);
  // The address alone is not enough to continue, and a cookie without its signature is worthless.
  const uid = own.at.split('/').at(-1)!;
  const forger = await browserOf(app, ana);
  for (const name of ['__Secure-tatami-consent', '__Secure-tatami-resume']) {
    forger.addCookie(`${name}=${uid}`);
    forger.addCookie(`${name}.sig=${'a'.repeat(22)}`);
  }
  expect((await forger.get(own.at)).status).toBe(410);
  expect((await forger.get(`/oauth/authorize/${uid}`)).status).toBe(400);
  // The cookies of one request do not open another.
  const begun = await fetch(app.url + authorizePath(client, pkce().challenge), { redirect: 'manual' });
  const crossed = await browserOf(app, ana);
  for (const line of begun.headers.getSetCookie()) crossed.addCookie(line.split(';')[0]!);
  expect((await crossed.get(own.at)).status).toBe(410);
});

test('ASVS 3.3.1–3.3.4: cookies of a request are secure, hidden from scripts, and limited to its path', async () => {
  const response = await fetch(app.url + authorizePath(client, pkce().challenge), { redirect: 'manual' });
  const lines = response.headers.getSetCookie();
  expect(lines).toHaveLength(4);
  for (const line of lines) {
    expect(line).toMatch(/^__Secure-tatami-(consent|resume)(\.sig)?=/);
    expect(line.toLowerCase()).toMatch(/path=\/oauth\/(consent|authorize)\/[\w-]{43};/);
    for (const word of ['secure', 'httponly', 'samesite=lax']) expect(line.toLowerCase()).toContain(word);
  }
});

test('RFC 9700 §4.12: redirects after forms use GET without the form data', async () => {
  const page = await openConsent();
  const decided = await browser.post(page.at, allow(page));
  const resumed = await browser.get(decided.location!);
  expect([decided.status, resumed.status]).toEqual([303, 303]);
});

test('RFC 9700 §2.6: CORS covers the endpoints for apps, and never the pages for people', async () => {
  const readerOf = async (path: string, method = 'GET'): Promise<string | null> => {
    const headers = { origin: 'https://spa.example' };
    const response = await fetch(app.url + path, { method, headers, redirect: 'manual' });
    return response.headers.get('access-control-allow-origin');
  };
  for (const path of [
    '/oauth/token',
    '/oauth/revoke',
    '/oauth/introspect',
    '/oauth/device',
    '/oauth/register',
  ])
    expect([path, await readerOf(path, 'POST')]).toEqual([path, '*']);
  for (const path of [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource/api/v1',
  ])
    expect([path, await readerOf(path)]).toEqual([path, '*']);
  const own = await openConsent();
  for (const path of [authorizePath(client, pkce().challenge), own.at, '/device'])
    expect([path, await readerOf(path)]).toEqual([path, null]);
});

test('RFC 8628 §5.1: after ten wrong codes a person cannot enter another for ten minutes', async () => {
  const begun = await ask(app, '/oauth/device', { ...client, id: 'tatami-cli' }, {});
  const typed = formOf(await browser.get('/device'));
  for (let attempt = 0; attempt < 10; attempt++) {
    typed.set('user_code', `BCDF-GHJ${'KLMNPQRSTV'[attempt]}`);
    expect((await browser.post('/device', typed)).status).toBe(422);
  }
  typed.set('user_code', begun.json.user_code);
  app.clock.jump(60_000);
  const refused = await browser.post('/device', typed);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '540']);
  app.clock.jump(540_000);
  await proveAgain(app, ana);
  expect((await browser.post('/device', typed)).status).toBe(422);
  const later = await ask(app, '/oauth/device', { ...client, id: 'tatami-cli' }, {});
  typed.set('user_code', later.json.user_code);
  expect((await browser.post('/device', typed)).status).toBe(200);
});

test("removing a member revokes all of the member's grants", async () => {
  const { json: member } = await app.call('POST', '/api/v1/members', { name: 'Mo', role: 'member' });
  const mo = await browserOf(app, await signIn(app, app.workspace, member.id));
  const tokens = await tokensOf(app, client, { browser: mo });
  await app.call('DELETE', `/api/v1/members/${member.id}`);
  expect((await app.clientOf(tokens.access_token)('GET', '/api/v1/issues')).status).toBe(401);
  expect((await refresh(app, client, tokens.refresh_token)).json.error).toBe('invalid_grant');
});

test('a lowered role narrows the tokens of a member from the next request on', async () => {
  const { json: member } = await app.call('POST', '/api/v1/members', { name: 'Lo', role: 'member' });
  const lo = await browserOf(app, await signIn(app, app.workspace, member.id));
  const { access_token: token } = await tokensOf(app, client, {
    browser: lo,
    params: { scope: 'projects:write' },
  });
  const write = async (): Promise<number> =>
    (await app.clientOf(token)('POST', '/api/v1/projects', {})).status;
  expect(await write()).toBe(422);
  await app.call('PATCH', `/api/v1/members/${member.id}`, { role: 'guest' });
  expect(await write()).toBe(403);
});

test('RFC 9700 §4.2; ASVS 14.2.1: no log and no database contains a token, code or verifier in plain text', async () => {
  const proof = pkce();
  const back = await consent(browser, authorizePath(client, proof.challenge));
  const code = back.searchParams.get('code')!;
  const { json } = await exchange(app, client, code, proof);
  const device = await ask(app, '/oauth/device', { ...client, id: 'tatami-cli' }, {});
  await fetch(`${app.url}/oauth/token`, { method: 'POST', body: 'not a form' });
  const secrets: string[] = [code, proof.verifier, json.access_token, json.refresh_token];
  secrets.push(device.json.device_code, device.json.user_code.replace('-', ''));
  const files = readdirSync(app.dataDir).filter((name) => name.startsWith('tatami.db'));
  expect(files.length).toBeGreaterThan(0);
  const contents = Buffer.concat(files.map((name) => readFileSync(join(app.dataDir, name)))).toString(
    'latin1',
  );
  const logged = JSON.stringify(app.logs);
  for (const secret of secrets) {
    expect(contents.includes(secret)).toBe(false);
    expect(logged.includes(secret)).toBe(false);
  }
});
