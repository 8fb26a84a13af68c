import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { createSystemClock, startApp, type TestApp } from '../../app.ts';
import { forgetPassword, invite, join, password } from './member.ts';
import { startOutsideProvider, type OutsideProvider } from './outside-provider.ts';
import { createVisitor, saidBy, type PageResponse, type Visitor } from './visitor.ts';

let folder: string;
let north: OutsideProvider;
let south: OutsideProvider;
let app: TestApp;

beforeAll(async () => {
  [north, south] = await Promise.all([startOutsideProvider(), startOutsideProvider()]);
  folder = mkdtempSync(joinPath(tmpdir(), 'tatami-providers-'));
  writeFileSync(joinPath(folder, 'north.secret'), 'secret of north\n');
  const north_ = { key: 'north', name: 'North', issuer: north.issuer, clientId: 'tatami' };
  const south_ = { key: 'south', name: 'South', issuer: south.issuer, clientId: 'tatami' };
  const list = [
    { ...north_, clientSecretFile: 'north.secret', takesInvitations: true },
    { ...south_, clientSecretFile: 'north.secret', domains: ['acme.example'] },
  ];
  writeFileSync(joinPath(folder, 'providers.json'), JSON.stringify(list));
  app = await startApp({
    clock: createSystemClock(),
    flags: {
      ...{ host: 'localhost', egressAllow: '127.0.0.0/8' },
      identityProviders: joinPath(folder, 'providers.json'),
    },
  });
  for (const [provider, key] of [
    [north, 'north'],
    [south, 'south'],
  ] as const)
    provider.register({
      ...{ id: 'tatami', secret: 'secret of north' },
      redirectUri: `${app.url}/sign-in/with/${key}/return`,
    });
});
afterAll(async () => {
  await app.stop();
  await Promise.all([north.stop(), south.stop()]);
  rmSync(folder, { recursive: true });
});

let subjects = 0;
beforeEach(() => {
  for (const provider of [north, south]) {
    provider.person = { sub: `subject-${++subjects}`, name: 'Ana Outside' };
    provider.requested.length = 0;
  }
});

const addressIn = ({ headers }: PageResponse): string => headers.get('refresh')?.replace('0;url=', '') ?? '';
const pathOf = (url: URL): string => url.pathname + url.search;
const isIn = async (visitor: Visitor): Promise<boolean> => (await visitor.get('/account')).status === 200;

async function leave(visitor: Visitor, key = 'north', to = '/docs'): Promise<string> {
  const left = await visitor.post(`/sign-in/with/${key}`, { to });
  expect(left.status).toBe(200);
  return addressIn(left);
}

async function signIn(visitor: Visitor, provider = north, key = 'north'): Promise<PageResponse> {
  return visitor.get(pathOf(await provider.visit(await leave(visitor, key))));
}

/** Creates a person with a linked account at `north`. */
async function linked() {
  const joined = await join(app);
  await joined.visitor.get('/account');
  const left = await joined.visitor.post('/account/linked/north');
  const back = await joined.visitor.get(pathOf(await north.visit(addressIn(left))));
  expect(back.to).toBe('/account?done=linked');
  return joined;
}

test('a person with a linked account signs in by the provider', async () => {
  const { email } = await linked();
  const visitor = createVisitor(app);
  expect((await visitor.get('/sign-in?to=/docs')).text).toContain('Continue with North');
  expect(await signIn(visitor)).toMatchObject({ status: 303, to: '/docs' });
  expect((await visitor.get('/account')).text).toContain(email);
});

test('the request to the provider binds the response: state, nonce, PKCE with S256, and its own redirect URI', async () => {
  const { searchParams } = new URL(await leave(createVisitor(app)));
  const sent = Object.fromEntries(searchParams);
  expect(sent).toMatchObject({
    ...{ response_type: 'code', client_id: 'tatami', code_challenge_method: 'S256' },
    ...{ redirect_uri: `${app.url}/sign-in/with/north/return`, scope: 'openid profile email' },
  });
  for (const name of ['state', 'nonce', 'code_challenge']) expect(sent[name]).toMatch(/^[\w-]{43}$/);
  expect(new Set([sent.state, sent.nonce, sent.code_challenge]).size).toBe(3);
});

test('an unknown person is not signed in by an address, verified or not', async () => {
  const { email } = await join(app);
  for (const email_verified of [true, false]) {
    north.person = { sub: `stranger-${email_verified}`, email, email_verified };
    const visitor = createVisitor(app);
    const back = await signIn(visitor);
    expect(back.status).toBe(403);
    expect(saidBy(back)).toContain('No account on this server is linked');
    expect(await isIn(visitor)).toBe(false);
  }
});

test('an invited person joins by a verified address, once, as the invited member', async () => {
  const { memberId } = await invite(app, 'new@acme.example');
  north.person = { ...north.person, email: 'New@Acme.example', email_verified: true };
  const visitor = createVisitor(app);
  const after = await app.lastSequence();
  expect((await signIn(visitor)).to).toBe('/docs');
  expect(await app.eventTypes(after)).toEqual(['member.updated']);
  expect((await app.call('GET', `/api/v1/members/${memberId}`)).json.joinedAt).not.toBeNull();
  expect((await signIn(createVisitor(app))).to).toBe('/docs');
  north.person = { ...north.person, sub: 'somebody else' };
  expect((await signIn(createVisitor(app))).status).toBe(403);
});

test('an account with a proven address is not entered by that address, also with an invitation of another workspace', async () => {
  const email = 'held@acme.example';
  await invite(app, email);
  north.person = { ...north.person, email, email_verified: true };
  expect((await signIn(createVisitor(app))).status).toBe(303);
  const other = await app.addWorkspace('Other', 'OTH');
  await invite({ call: app.clientOf(other.apiKey) }, email);
  north.person = { ...north.person, sub: 'another subject' };
  const visitor = createVisitor(app);
  const back = await signIn(visitor);
  expect(saidBy(back)).toContain('An account with this address exists');
  expect(await isIn(visitor)).toBe(false);
});

test('an unverified address accepts no invitation, and neither does an address from an untrusted provider', async () => {
  await invite(app, 'late@acme.example');
  const claimed = { email: 'late@acme.example' };
  for (const email_verified of [false, undefined, 'true' as unknown as boolean]) {
    north.person = {
      sub: north.person.sub,
      ...claimed,
      ...(email_verified === undefined ? {} : { email_verified }),
    };
    expect((await signIn(createVisitor(app))).status).toBe(403);
  }
  south.person = { ...south.person, ...claimed, email_verified: true };
  expect((await signIn(createVisitor(app), south, 'south')).status).toBe(403);
});

test('a person who opened the invitation link joins by any provider with a verified address', async () => {
  const { link } = await invite(app, 'invited@acme.example');
  const visitor = createVisitor(app);
  await visitor.post(link, { do: 'sign-in' });
  south.person = { ...south.person, email: 'me@acme.example', email_verified: true };
  expect((await signIn(visitor, south, 'south')).to).toBe('/docs');
  expect((await visitor.get('/account')).text).toContain('me@acme.example');
});

test('a person who joins by a provider ends on the welcome page, and the browser forgets the invitation', async () => {
  const { link, memberId } = await invite(app, 'joining@acme.example');
  const visitor = createVisitor(app);
  const { to } = await visitor.post(link, { do: 'sign-in' });
  expect(visitor.cookies.has('__Host-tatami-join')).toBe(true);
  const going = new URL(to!, app.url).searchParams.get('to')!;
  south.person = { ...south.person, email: 'joining@acme.example', email_verified: true };
  const after = await app.lastSequence();
  const back = await visitor.get(pathOf(await south.visit(await leave(visitor, 'south', going))));
  expect(back).toMatchObject({ status: 303, to: '/welcome' });
  expect(visitor.cookies.has('__Host-tatami-join')).toBe(false);
  expect((await visitor.get('/account')).text).toContain('joining@acme.example');
  expect(await app.eventTypes(after)).toEqual(['member.updated']);
  expect((await app.call('GET', `/api/v1/members/${memberId}`)).json.joinedAt).not.toBeNull();
});

test('a person with a linked account is still offered the membership of the invitation after signing in', async () => {
  await linked();
  const { link } = await invite(
    { call: app.clientOf((await app.addWorkspace('Third', 'THI')).apiKey) },
    'x@acme.example',
  );
  const visitor = createVisitor(app);
  await visitor.post(link, { do: 'sign-in' });
  const back = await visitor.get(pathOf(await north.visit(await leave(visitor, 'north', '/join'))));
  expect(back.to).toBe('/join');
  expect((await visitor.get('/join')).text).toContain('Join Third');
});

test('a provider that is not trusted with addresses gives a new person no address that an account of the workspace uses', async () => {
  const { email } = await join(app);
  const { link, memberId } = await invite(app, 'newcomer@acme.example');
  const visitor = createVisitor(app);
  await visitor.post(link, { do: 'sign-in' });
  south.person = { sub: 'newcomer', email, email_verified: true };
  const after = await app.lastSequence();
  expect(saidBy(await signIn(visitor, south, 'south'))).toContain('An account with this address exists');
  expect(await isIn(visitor)).toBe(false);
  expect(await app.eventTypes(after)).toEqual([]);
  expect((await app.call('GET', `/api/v1/members/${memberId}`)).json.joinedAt).toBeNull();
});

test('a provider limited to domains signs in no person from other domains', async () => {
  const { visitor } = await join(app);
  await visitor.get('/account');
  for (const person of [
    { email: 'ana@evil.example', email_verified: true },
    { email: 'ana@acme.example', email_verified: false },
    { email: 'ana@acme.example@evil.example', email_verified: true },
    {},
  ]) {
    south.person = { sub: south.person.sub, ...person };
    const left = await visitor.post('/account/linked/south');
    const back = await visitor.get(pathOf(await south.visit(addressIn(left))));
    expect(saidBy(back)).toContain('a verified address at acme.example.');
  }
});

test('a callback is accepted once', async () => {
  await linked();
  const visitor = createVisitor(app);
  const back = await north.visit(await leave(visitor));
  const cookies = new Map(visitor.cookies);
  expect((await visitor.get(pathOf(back))).status).toBe(303);
  const again = createVisitor(app);
  for (const [name, value] of cookies) again.cookies.set(name, value);
  expect((await again.get(pathOf(back))).status).toBe(403);
  expect(await isIn(again)).toBe(false);
});

test('a stolen or injected code does not sign in another browser', async () => {
  await linked();
  const back = await north.visit(await leave(createVisitor(app)));
  const thief = createVisitor(app);
  expect((await thief.get(pathOf(back))).status).toBe(403);
  await leave(thief);
  expect((await thief.get(pathOf(back))).status).toBe(403);
  expect(await isIn(thief)).toBe(false);
});

test('a code of one provider is not sent to another (mix-up)', async () => {
  await linked();
  const visitor = createVisitor(app);
  const back = await north.visit(await leave(visitor));
  south.requested.length = 0;
  const mixed = await visitor.get(`/sign-in/with/south/return${back.search}`);
  expect(mixed.status).toBe(403);
  // This check precedes the issuer check, because some providers do not send the `iss` parameter.
  expect(saidBy(mixed)).toContain('started in another browser');
  expect(south.requested).toEqual([]);

  const second = createVisitor(app);
  const honest = await north.visit(await leave(second));
  honest.searchParams.set('iss', south.issuer);
  north.requested.length = 0;
  expect((await second.get(pathOf(honest))).status).toBe(403);
  expect(north.requested).toEqual([]);
});

test('another nonce, another state and another verifier are rejected', async () => {
  await linked();
  for (const name of ['nonce', 'state', 'code_challenge']) {
    const visitor = createVisitor(app);
    const address = new URL(await leave(visitor));
    address.searchParams.set(name, 'A'.repeat(43));
    const back = await visitor.get(pathOf(await north.visit(address.href)));
    expect([name, back.status]).toEqual([name, 403]);
    expect(await isIn(visitor)).toBe(false);
  }
});

test('an error of the provider is shown in words of this server', async () => {
  const visitor = createVisitor(app);
  const { searchParams } = new URL(await leave(visitor));
  const said = new URLSearchParams({ error: 'access_denied', error_description: '<b>Pay here</b>' });
  said.set('state', searchParams.get('state')!);
  const back = await visitor.get(`/sign-in/with/north/return?${said}`);
  expect(back.status).toBe(403);
  expect(saidBy(back)).toBe('North did not sign you in. Try again, or sign in another way.');
  expect(back.text).not.toContain('Pay here');
});

test('the callback redirects only to pages of this server', async () => {
  await linked();
  for (const to of [
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '/\t/evil.example',
    'javascript:1',
  ]) {
    const visitor = createVisitor(app);
    const address = await leave(visitor, 'north', to);
    expect((await visitor.get(pathOf(await north.visit(address)))).to).toBe('/');
  }
});

test('a link is added to the account that requested it, while it is signed in, and to one account only', async () => {
  const { visitor, email } = await join(app);
  await visitor.get('/account');
  const left = await visitor.post('/account/linked/north');
  const back = pathOf(await north.visit(addressIn(left)));
  const other = await join(app);
  const cookie = '__Host-tatami-outside';
  other.visitor.cookies.set(cookie, visitor.cookies.get(cookie)!);
  expect((await other.visitor.get(back)).status).toBe(403);

  const again = await visitor.post('/account/linked/north');
  expect((await visitor.get(pathOf(await north.visit(addressIn(again))))).to).toBe('/account?done=linked');
  await other.visitor.get('/account');
  const theirs = await other.visitor.post('/account/linked/north');
  expect((await other.visitor.get(pathOf(await north.visit(addressIn(theirs))))).status).toBe(409);
  const signedIn = createVisitor(app);
  await signIn(signedIn);
  expect((await signedIn.get('/account')).text).toContain(email);
});

test('the last way to sign in is not unlinked, and any other is', async () => {
  const { visitor, email } = await linked();
  const [, id = ''] = /name="id" value="(out_\w+)"/.exec((await visitor.get('/account')).text) ?? [];
  const eve = await join(app);
  await eve.visitor.get('/account');
  await eve.visitor.post('/account/unlink', { id });
  await visitor.get('/account');
  await forgetPassword(app, email);
  expect((await visitor.post('/account/unlink', { id })).to).toBe('/account?wrong=linked-last');
  expect((await signIn(createVisitor(app))).status).toBe(303);
});

test('an unlinked account does not sign in', async () => {
  const { visitor } = await linked();
  const [, id = ''] = /name="id" value="(out_\w+)"/.exec((await visitor.get('/account')).text) ?? [];
  expect((await visitor.post('/account/unlink', { id })).to).toBe('/account?done=unlinked');
  expect((await signIn(createVisitor(app))).status).toBe(403);
});

test('linking requires recent authentication, which the provider can supply', async () => {
  const { visitor, email } = await linked();
  await forgetPassword(app, email);
  app.clock.jump(11 * 60_000);
  const page = await visitor.get('/sign-in/again?to=/docs');
  expect(page.text).toContain('Continue with North');
  expect(page.text).not.toContain('Continue with South');
  expect((await visitor.post('/account/linked/south')).to).toBe('/sign-in/again?to=%2Faccount');

  const wrongly = await visitor.post('/sign-in/with/north', { to: '/account' });
  const { sub } = north.person;
  north.person = { sub: 'somebody else' };
  expect((await visitor.get(pathOf(await north.visit(addressIn(wrongly))))).status).toBe(403);
  north.person = { sub };
  const proving = await visitor.post('/sign-in/with/north', { to: '/account' });
  expect(new URL(addressIn(proving)).searchParams.get('prompt')).toBe('login');
  expect((await visitor.get(pathOf(await north.visit(addressIn(proving))))).to).toBe('/account');
  expect((await visitor.post('/account/linked/south')).status).toBe(200);
});

test('only pages of this server can start a sign-in', async () => {
  const { visitor } = await linked();
  const foreign = { origin: 'https://evil.example' };
  expect((await visitor.post('/sign-in/with/north', { to: '/' }, foreign)).status).toBe(403);
  expect((await visitor.post('/account/linked/north', {}, foreign)).status).toBe(403);
  expect((await visitor.post('/sign-in/with/north', { form_token: 'x' })).status).toBe(403);
  expect((await createVisitor(app).post('/sign-in/with/nowhere')).status).toBe(404);
});

test('an unreachable provider is reported as such, and the others still work', async () => {
  const list = [{ key: 'gone', name: 'Gone', issuer: 'http://127.0.0.1:9', clientId: 'tatami' }];
  writeFileSync(joinPath(folder, 'gone.json'), JSON.stringify(list));
  const identityProviders = joinPath(folder, 'gone.json');
  const alone = await startApp({ flags: { host: 'localhost', identityProviders } });
  try {
    const visitor = createVisitor(alone);
    const left = await visitor.post('/sign-in/with/gone');
    expect(left.status).toBe(503);
    expect(saidBy(left)).toBe('Gone cannot be reached. Try again, or sign in another way.');
    // Providers are subject to the SSRF guard of outgoing requests.
    expect(JSON.stringify(alone.logs)).toContain('not public');
  } finally {
    await alone.stop();
  }
});

test('no log contains a secret, a code or an address', async () => {
  const { email } = await linked();
  const back = await north.visit(await leave(createVisitor(app)));
  await createVisitor(app).get(pathOf(back));
  const logs = JSON.stringify(app.logs);
  for (const text of ['secret of north', back.searchParams.get('code')!, email, password])
    expect(logs).not.toContain(text);
});
