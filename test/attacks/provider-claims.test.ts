// Address claims of an outside provider count only if explicit, and only for a person with a subject.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { createSystemClock, startApp, type Json, type TestApp } from '../app.ts';
import { ask, formTokenOf, invite, join, password } from '../features/sign-in/member.ts';
import { createAuthenticator } from '../features/sign-in/authenticator.ts';
import { createVisitor, type PageResponse, type Visitor } from '../features/sign-in/visitor.ts';

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
let folder: string;
let app: TestApp;
let provider: Bun.Server<undefined>;
let nonce = '';
/** Claims of the provider, by location. */
let idToken: Json = {};
let userinfo: Json = {};
let subjects = 0;

const issuer = (): string => `http://127.0.0.1:${provider.port}`;
const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

function signedToken(): string {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer(), aud: 'tatami', nonce, iat: now, exp: now + 60, ...idToken };
  const signed = `${encode({ alg: 'ES256', kid: 'one' })}.${encode(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

function answer(request: Request): Response {
  const { pathname } = new URL(request.url);
  if (pathname === '/token')
    return Response.json({ access_token: 'x', token_type: 'Bearer', id_token: signedToken() });
  if (pathname === '/userinfo') return Response.json(userinfo);
  if (pathname === '/keys')
    return Response.json({
      keys: [{ ...key.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'ES256', use: 'sig' }],
    });
  return Response.json({
    issuer: issuer(),
    authorization_endpoint: `${issuer()}/authorize`,
    token_endpoint: `${issuer()}/token`,
    userinfo_endpoint: `${issuer()}/userinfo`,
    jwks_uri: `${issuer()}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  });
}

beforeAll(async () => {
  provider = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: answer });
  folder = mkdtempSync(joinPath(tmpdir(), 'tatami-claims-'));
  const identityProviders = joinPath(folder, 'providers.json');
  const one = { key: 'one', name: 'One', issuer: issuer(), clientId: 'tatami', takesInvitations: true };
  writeFileSync(identityProviders, JSON.stringify([one]));
  app = await startApp({
    clock: createSystemClock(),
    flags: { host: 'localhost', egressAllow: '127.0.0.0/8', identityProviders },
  });
});
afterAll(async () => {
  await app.stop();
  await provider.stop(true);
  rmSync(folder, { recursive: true });
});
beforeEach(() => says({}));

/** Sets the same subject in both locations, and further claims in each. */
function says(inIdToken: Json, inUserinfo: Json = {}): void {
  const sub = `subject-${++subjects}`;
  idToken = { sub, ...inIdToken };
  userinfo = { sub, ...inUserinfo };
}

async function back(visitor: Visitor, path = '/sign-in/with/one'): Promise<PageResponse> {
  const left = await visitor.post(path, { to: '/docs' });
  const { searchParams } = new URL(left.headers.get('refresh')!.replace('0;url=', ''));
  nonce = searchParams.get('nonce')!;
  const query = new URLSearchParams({ code: 'x', state: searchParams.get('state')! });
  return visitor.get(`/sign-in/with/one/return?${query}`);
}
const comesIn = async (): Promise<boolean> => (await back(createVisitor(app))).to === '/docs';

test('an address counts as verified only if the source of the address verifies it and nothing denies it', async () => {
  const email = 'claims@acme.example';
  await invite(app, email);
  const [yes, no] = [{ email_verified: true }, { email_verified: false }];
  const unverified: readonly (readonly [Json, Json])[] = [
    [yes, { email, ...no }],
    [yes, { email }],
    [no, { email, ...yes }],
    [{ email }, { email, ...yes }],
    [{ email, ...no }, yes],
    [
      { email: 'other@acme.example', ...yes },
      { email, ...yes },
    ],
    [{ email, email_verified: 'true' }, {}],
    [{}, { email, email_verified: 1 }],
  ];
  for (const [inIdToken, inUserinfo] of unverified) {
    says(inIdToken, inUserinfo);
    expect([inIdToken, inUserinfo, await comesIn()]).toEqual([inIdToken, inUserinfo, false]);
  }
  says({}, { email, ...yes });
  expect(await comesIn()).toBe(true);
  await invite(app, 'second@acme.example');
  says({ email: 'second@acme.example', ...yes });
  expect(await comesIn()).toBe(true);
});

test('a person without a subject is rejected', async () => {
  await invite(app, 'nobody@acme.example');
  for (const sub of ['', ' ', '\t'])
    for (const claims of [{ email: 'nobody@acme.example', email_verified: true }, {}]) {
      says({ ...claims, sub }, { sub });
      expect((await back(createVisitor(app))).status).toBe(403);
    }
});

test('a verified address that only resembles the invited one cannot accept the invitation', async () => {
  const { memberId } = await invite(app, 'mike@acme.example');
  for (const email of ['mi\u212ae@acme.example', 'm\u0456ke@acme.example', 'mike@\u0430cme.example']) {
    says({ email, email_verified: true });
    expect([email, await comesIn()]).toEqual([email, false]);
  }
  expect((await app.call('GET', `/api/v1/members/${memberId}`)).json.joinedAt).toBeNull();
  says({ email: 'MIKE@Acme.Example', email_verified: true });
  expect(await comesIn()).toBe(true);
});

test('an account with an unverified address neither blocks its holder nor takes over their membership', async () => {
  const { visitor: squat, email } = await join(app);
  const other = await app.addWorkspace('Other', 'OTH');
  const { memberId } = await invite({ call: app.clientOf(other.apiKey) }, email);
  says({ email, email_verified: true });
  expect(await comesIn()).toBe(true);
  const { json: membership } = await app.clientOf(other.apiKey)('GET', `/api/v1/members/${memberId}`);
  expect(membership.joinedAt).not.toBeNull();
  expect((await squat.get('/account')).text).not.toContain('Other');
  // The address is verified now: another account cannot claim it.
  const third = await app.addWorkspace('Third', 'THI');
  await invite({ call: app.clientOf(third.apiKey) }, email);
  says({ email, email_verified: true });
  expect(await comesIn()).toBe(false);
});

test('linking with a verified address is its first verification: earlier passkeys end', async () => {
  const { visitor, email } = await join(app);
  const authenticator = createAuthenticator(app.url);
  const form_token = await formTokenOf(visitor);
  const { json: options } = await ask(app, visitor, '/account/passkeys/options', { form_token });
  const credential = authenticator.create(options);
  await ask(app, visitor, '/account/passkeys', { form_token, name: 'Phone', credential });
  const elsewhere = createVisitor(app);
  await elsewhere.post('/sign-in', { email, password });
  await visitor.get('/account');
  says({ email, email_verified: true });
  expect((await back(visitor, '/account/linked/one')).to).toBe('/account?done=linked');
  const phone = createVisitor(app);
  const { json: passkeyOptions } = await ask(app, phone, '/sign-in/passkey/options', {});
  const used = await ask(app, phone, '/sign-in/passkey', { credential: authenticator.get(passkeyOptions) });
  expect(used.status).toBe(403);
  expect((await elsewhere.get('/account')).to).toStartWith('/sign-in');
  expect(await comesIn()).toBe(true);
});
