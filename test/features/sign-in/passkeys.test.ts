import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { createAuthenticator, type Authenticator, type Wrongs } from './authenticator.ts';
import { ask, forgetPassword, formTokenOf, join, type Joined } from './member.ts';
import { signIn as signInPerson } from './person.ts';
import { createVisitor, saidBy, type Visitor } from './visitor.ts';

let app: TestApp;
beforeAll(async () => {
  // Browsers allow passkeys for host names only, not for IP addresses.
  app = await startApp({ flags: { host: 'localhost' } });
});
afterAll(() => app.stop());

async function add(
  visitor: Visitor,
  authenticator: Authenticator,
  wrongs: Wrongs = {},
): Promise<{ status: number; json: Json }> {
  const form_token = await formTokenOf(visitor);
  const { json: options } = await ask(app, visitor, '/account/passkeys/options', { form_token });
  const credential = authenticator.create(options, wrongs);
  return ask(app, visitor, '/account/passkeys', { form_token, name: 'Phone', credential });
}

async function signIn(
  authenticator: Authenticator,
  wrongs: Wrongs = {},
  visitor: Visitor = createVisitor(app),
): Promise<{ status: number; json: Json; visitor: Visitor }> {
  const { json: options } = await ask(app, visitor, '/sign-in/passkey/options', {});
  const credential = authenticator.get(options, wrongs);
  const answer = await ask(app, visitor, '/sign-in/passkey', { to: '/docs', credential });
  return { ...answer, visitor };
}

async function withPasskey(): Promise<Joined & { authenticator: Authenticator }> {
  const joined = await join(app);
  const authenticator = createAuthenticator(app.url);
  expect((await add(joined.visitor, authenticator)).status).toBe(200);
  return { ...joined, authenticator };
}

const idOf = ({ text }: { text: string }): string => /name="id" value="(psk_\w+)"/.exec(text)?.[1] ?? '';

test('a passkey signs in without an address, a password or a code, each time with a new session', async () => {
  const { authenticator, email } = await withPasskey();
  const first = await signIn(authenticator);
  expect(first).toMatchObject({ status: 200, json: { to: `${app.url}/docs` } });
  expect((await first.visitor.get('/account')).text).toContain(email);
  const session = first.visitor.cookies.get('__Host-tatami');
  const second = await signIn(authenticator, {}, first.visitor);
  expect(second.status).toBe(200);
  expect(second.visitor.cookies.get('__Host-tatami')).not.toBe(session!);
});

const wrongs: readonly (readonly [string, Wrongs])[] = [
  ['for another origin', { origin: 'https://evil.example' }],
  ['for another server', { rpId: 'evil.example' }],
  ['for a challenge of its own', { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }],
  ['by a device that is not unlocked', { isVerified: false }],
  ['for another purpose', { type: 'payment.get' }],
];

for (const [how, wrong] of wrongs)
  test(`a response signed ${how} neither adds a passkey nor signs in`, async () => {
    const { visitor, authenticator } = await withPasskey();
    expect((await add(visitor, createAuthenticator(app.url), wrong)).status).toBe(403);
    const attempt = await signIn(authenticator, wrong);
    expect(attempt.status).toBe(403);
    expect(attempt.visitor.cookies.has('__Host-tatami')).toBe(false);
    expect(app.logs.at(-1)).toMatchObject({ level: 'info', message: 'sign-in refused: passkey' });
  });

test('a passkey is rejected in the name of another account', async () => {
  const { authenticator } = await withPasskey();
  const userHandle = Buffer.from('acc_01hzzzzzzzzzzzzzzzzzzzzzzz').toString('base64url');
  expect((await signIn(authenticator, { userHandle })).status).toBe(403);
  expect((await signIn(createAuthenticator(app.url))).json.error.message).toContain(
    'has no such passkey registered',
  );
});

test('a passkey with a lower counter than the last one is rejected as cloned', async () => {
  const { authenticator } = await withPasskey();
  expect((await signIn(authenticator, { counter: 7 })).status).toBe(200);
  for (const counter of [7, 3, 0]) expect((await signIn(authenticator, { counter })).status).toBe(403);
  expect((await signIn(authenticator, { counter: 8 })).status).toBe(200);
});

test('a response is accepted once, also under concurrency, and only in the browser that was challenged', async () => {
  // Many authenticators send no counter, so only the challenge distinguishes their responses.
  const { visitor: owner } = await join(app);
  const authenticator = createAuthenticator(app.url);
  await add(owner, authenticator, { counter: 0 });
  const visitor = createVisitor(app);
  const { json: options } = await ask(app, visitor, '/sign-in/passkey/options', {});
  const credential = authenticator.get(options, { counter: 0 });
  const stranger = createVisitor(app);
  await ask(app, stranger, '/sign-in/passkey/options', {});
  expect((await ask(app, stranger, '/sign-in/passkey', { credential })).status).toBe(403);
  expect((await ask(app, createVisitor(app), '/sign-in/passkey', { credential })).status).toBe(403);

  const before = new Map(visitor.cookies);
  const answers = await Promise.all(
    Array.from({ length: 4 }, () =>
      ask(app, { cookies: new Map(before) }, '/sign-in/passkey', { credential }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 403, 403, 403]);
});

test('a challenge is valid for ten minutes', async () => {
  const { authenticator } = await withPasskey();
  const visitor = createVisitor(app);
  const { json: options } = await ask(app, visitor, '/sign-in/passkey/options', {});
  const credential = authenticator.get(options);
  app.clock.advance(600_000);
  expect((await ask(app, visitor, '/sign-in/passkey', { credential })).status).toBe(403);
});

test('neither another origin nor a form can start or finish a challenge', async () => {
  const { visitor } = await withPasskey();
  const form_token = await formTokenOf(visitor);
  const paths = [
    '/sign-in/passkey/options',
    '/sign-in/passkey',
    '/account/passkeys/options',
    '/account/passkeys',
  ];
  for (const path of paths) {
    const foreign = { origin: 'https://evil.example' };
    expect((await ask(app, visitor, path, { form_token }, foreign)).status).toBe(403);
    const across = { 'sec-fetch-site': 'same-site' };
    expect((await ask(app, visitor, path, { form_token }, across)).status).toBe(403);
    expect((await ask(app, visitor, path, {}, { 'content-type': 'text/plain' })).status).toBe(415);
  }
  expect((await ask(app, visitor, '/account/passkeys/options', { form_token: 'x' })).status).toBe(403);
});

test('a challenge to sign in cannot add a passkey and vice versa, nor serve another account', async () => {
  const { visitor, authenticator } = await withPasskey();
  const other = await join(app);
  const form_token = await formTokenOf(visitor);
  const { json: options } = await ask(app, visitor, '/account/passkeys/options', { form_token });
  const credential = createAuthenticator(app.url).create(options);
  const theirs = await formTokenOf(other.visitor);
  const cookie = '__Host-tatami-add-passkey';
  other.visitor.cookies.set(cookie, visitor.cookies.get(cookie)!);
  const stolen = { form_token: theirs, name: 'Mine', credential };
  expect((await ask(app, other.visitor, '/account/passkeys', stolen)).status).toBe(403);

  const { json: toAdd } = await ask(app, visitor, '/account/passkeys/options', { form_token });
  const asked = createVisitor(app);
  asked.cookies.set('__Host-tatami-use-passkey', visitor.cookies.get(cookie)!);
  const signed = authenticator.get({ challenge: toAdd.challenge, rpId: toAdd.rp.id });
  expect((await ask(app, asked, '/sign-in/passkey', { credential: signed })).status).toBe(403);
});

test('adding and removing a passkey require recent authentication, which a passkey provides', async () => {
  const { visitor, authenticator } = await withPasskey();
  app.clock.advance(11 * 60_000);
  const form_token = await formTokenOf(visitor);
  const { json: asked } = await ask(app, visitor, '/account/passkeys/options', { form_token });
  expect(asked).toEqual({ to: `${app.url}/sign-in/again?to=%2Faccount` });
  const id = idOf(await visitor.get('/account'));
  expect((await visitor.post('/account/passkeys/remove', { id })).to).toBe('/sign-in/again?to=%2Faccount');
  expect((await visitor.get('/sign-in/again?to=/account')).text).toContain('data-passkey="get"');

  const { json: options } = await ask(app, visitor, '/sign-in/passkey/options', {});
  const proof = { form_token, to: '/account', credential: authenticator.get(options) };
  expect(await ask(app, visitor, '/sign-in/passkey', proof)).toMatchObject({
    status: 200,
    json: { to: `${app.url}/account` },
  });
  expect((await visitor.post('/account/passkeys/remove', { id })).to).toBe('/account?done=passkey-removed');
  expect((await signIn(authenticator)).status).toBe(403);
});

test('a passkey of another person does not authenticate', async () => {
  const { visitor } = await withPasskey();
  const { authenticator: other } = await withPasskey();
  const form_token = await formTokenOf(visitor);
  const { json: options } = await ask(app, visitor, '/sign-in/passkey/options', {});
  const credential = other.get(options);
  expect((await ask(app, visitor, '/sign-in/passkey', { form_token, credential })).status).toBe(403);
});

test('only the owner of a passkey names and renames it', async () => {
  const { visitor } = await withPasskey();
  const eve = await join(app);
  const id = idOf(await visitor.get('/account'));
  await eve.visitor.get('/account');
  expect((await eve.visitor.post('/account/passkeys/rename', { id, name: 'Mine' })).status).toBe(404);
  await eve.visitor.post('/account/passkeys/remove', { id });
  await visitor.get('/account');
  expect((await visitor.post('/account/passkeys/rename', { id, name: '' })).status).toBe(422);
  expect((await visitor.post('/account/passkeys/rename', { id, name: '<b>Key</b>' })).status).toBe(303);
  expect((await visitor.get('/account')).text).toContain('<strong>&lt;b&gt;Key&lt;/b&gt;</strong>');
});

test('the last way to sign in stays, also under two concurrent removals', async () => {
  const { visitor, authenticator, email } = await withPasskey();
  const second = createAuthenticator(app.url);
  expect((await add(visitor, second)).status).toBe(200);
  const ids = [
    ...(await visitor.get('/account')).text.matchAll(/remove"[^]*?name="id" value="(psk_\w+)"/g),
  ].map(([, id]) => id!);
  await forgetPassword(app, email);
  const answers = await Promise.all(ids.map((id) => visitor.post('/account/passkeys/remove', { id })));
  expect(answers.map(({ to }) => to).sort()).toEqual([
    '/account?done=passkey-removed',
    '/account?wrong=passkey-last',
  ]);
  expect(saidBy(await visitor.get('/account?wrong=passkey-last'))).toContain(
    'only way to sign in to your account',
  );
  const left = await Promise.all([signIn(authenticator), signIn(second)]);
  expect(left.map(({ status }) => status).sort()).toEqual([200, 403]);
});

test('the same passkey is added once', async () => {
  const { visitor, authenticator } = await withPasskey();
  expect((await add(visitor, authenticator)).status).toBe(409);
});

test('a server without a host name offers no passkeys', async () => {
  const plain = await startApp({ flags: { baseUrl: 'http://192.0.2.7' } });
  try {
    const { cookie } = await signInPerson(plain);
    const headers = { cookie, host: '192.0.2.7', origin: 'http://192.0.2.7' };
    const account = await fetch(`${plain.url}/account`, { headers });
    expect(await account.text()).toContain('Passkeys do not work at the address');
    const again = await fetch(`${plain.url}/sign-in/again`, { headers });
    expect(await again.text()).not.toMatch(/data-passkey|localhost/);
    const asked = await ask(plain, createVisitor(plain), '/sign-in/passkey/options', {}, headers);
    expect([asked.status, asked.json.error.message]).toEqual([409, expect.stringContaining('require https')]);
  } finally {
    await plain.stop();
  }
});

test('the script is served by this server and cached permanently', async () => {
  const { text, headers } = await createVisitor(app).get('/sign-in');
  expect(headers.get('content-security-policy')).toContain("script-src 'self'");
  const [, src = ''] = /<script src="([^"]+)"/.exec(text) ?? [];
  const script = await fetch(app.url + src);
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
});
