// ID tokens are validated even though they come from the token endpoint of the provider (OpenID Connect Core
// 1.0 §3.1.3.7).
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { createSystemClock, startApp, type Json, type TestApp } from '../../app.ts';
import { join } from './member.ts';
import { createVisitor, type Visitor } from './visitor.ts';

const secret = 'the secret of the client, which both sides know';
const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const foreign = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Changes to an honest token. */
interface Lie {
  readonly header?: Json;
  readonly claims?: Json;
  readonly key?: KeyObject;
  /** URL of the key in its header (`jku`). */
  readonly elsewhere?: string;
  /** Replaces the signature over the first two parts. */
  readonly signature?: (signed: string) => string;
  /** Alters the whole token. */
  readonly altered?: (token: string) => string;
}

let folder: string;
let app: TestApp;
let provider: Bun.Server<undefined>;
/** The nonce of the latest authorization request. */
let nonce = '';
let lie: Lie = {};
let claimedIssuer: string | null = null;

const issuer = (): string => `http://127.0.0.1:${provider.port}`;
const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
const nowS = (): number => Math.floor(Date.now() / 1000);

function idToken(): string {
  const claims = {
    iss: issuer(),
    aud: 'tatami',
    sub: 'ana',
    nonce,
    iat: nowS(),
    exp: nowS() + 60,
    ...lie.claims,
  };
  const signed = `${encode({ alg: 'ES256', kid: 'one', ...lie.header, ...(lie.elsewhere && { jku: issuer() + lie.elsewhere }) })}.${encode(claims)}`;
  const byKey = (): string =>
    sign('sha256', Buffer.from(signed), {
      key: lie.key ?? own.privateKey,
      dsaEncoding: 'ieee-p1363',
    }).toString('base64url');
  const token = `${signed}.${lie.signature?.(signed) ?? byKey()}`;
  return lie.altered?.(token) ?? token;
}

function keysOf(key: KeyObject, kid: string): object {
  return { keys: [{ ...key.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }] };
}

/** The metadata claims support for every algorithm. */
const metadata = (): object => ({
  issuer: claimedIssuer ?? issuer(),
  authorization_endpoint: `${issuer()}/authorize`,
  token_endpoint: `${issuer()}/token`,
  jwks_uri: `${issuer()}/keys`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
});

beforeAll(async () => {
  provider = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === '/token')
        return Response.json({ access_token: 'x', token_type: 'Bearer', id_token: idToken() });
      if (pathname === '/keys') return Response.json(keysOf(own.publicKey, 'one'));
      if (pathname === '/foreign-keys') return Response.json(keysOf(foreign.publicKey, 'two'));
      return Response.json(metadata());
    },
  });
  folder = mkdtempSync(joinPath(tmpdir(), 'tatami-tokens-'));
  writeFileSync(joinPath(folder, 'secret'), secret);
  const one = { issuer: issuer(), clientId: 'tatami', clientSecretFile: 'secret' };
  const list = [
    { key: 'one', name: 'One', ...one },
    { key: 'other', name: 'Other', ...one },
  ];
  writeFileSync(joinPath(folder, 'providers.json'), JSON.stringify(list));
  app = await startApp({
    clock: createSystemClock(),
    flags: {
      ...{ host: 'localhost', egressAllow: '127.0.0.0/8' },
      identityProviders: joinPath(folder, 'providers.json'),
    },
  });
  const { visitor } = await join(app);
  await visitor.get('/account');
  expect(await back(visitor, '/account/linked/one')).toBe('/account?done=linked');
});
afterAll(async () => {
  await app.stop();
  await provider.stop(true);
  rmSync(folder, { recursive: true });
});

/** Goes to the provider and back. @returns the redirect target afterwards; null if an error page is shown */
async function back(visitor: Visitor, path = '/sign-in/with/one'): Promise<string | null> {
  const left = await visitor.post(path, { to: '/docs' });
  const { searchParams } = new URL(left.headers.get('refresh')!.replace('0;url=', ''));
  nonce = searchParams.get('nonce')!;
  const query = new URLSearchParams({ code: 'x', state: searchParams.get('state')! });
  return (await visitor.get(`/sign-in/with/one/return?${query}`)).to;
}

const lies: readonly (readonly [how: string, lie: Lie])[] = [
  ['without a signature', { header: { alg: 'none' }, signature: () => '' }],
  [
    'signed with the client secret as a key',
    {
      header: { alg: 'HS256' },
      signature: (signed) => createHmac('sha256', secret).update(signed).digest('base64url'),
    },
  ],
  ['signed with the key of another person', { key: foreign.privateKey }],
  [
    'signed with a key that the token contains',
    { key: foreign.privateKey, header: { jwk: foreign.publicKey.export({ format: 'jwk' }), kid: 'two' } },
  ],
  [
    'signed with a key that the token links to',
    { key: foreign.privateKey, header: { kid: 'two' }, elsewhere: '/foreign-keys' },
  ],
  [
    'with a payload altered after signing',
    { altered: (token) => token.replace(/\..*\./, `.${encode({ sub: 'ana' })}.`) },
  ],
  ['that has expired', { claims: { exp: nowS() - 300, iat: nowS() - 400 } }],
  ['for another client', { claims: { aud: 'another' } }],
  [
    'for several clients and requested by another',
    { claims: { aud: ['tatami', 'another'], azp: 'another' } },
  ],
  ['of another issuer', { claims: { iss: 'https://accounts.example' } }],
  ['with the nonce of another request', { claims: { nonce: 'A'.repeat(43) } }],
  ['without a nonce', { claims: { nonce: undefined } }],
  ['without a subject', { claims: { sub: undefined } }],
  ['that is malformed', { altered: () => 'e30' }],
];

for (const [how, claims] of lies)
  test(`an ID token ${how} is rejected`, async () => {
    lie = {};
    expect(await back(createVisitor(app))).toBe('/docs');
    lie = claims;
    const visitor = createVisitor(app);
    expect(await back(visitor)).toBeNull();
    expect((await visitor.get('/account')).status).toBe(303);
    lie = {};
  });

test('a provider whose metadata names another issuer is rejected', async () => {
  claimedIssuer = 'https://accounts.example';
  const left = await createVisitor(app).post('/sign-in/with/other', { to: '/docs' });
  expect([left.status, left.headers.get('refresh')]).toEqual([503, null]);
  claimedIssuer = null;
  expect((await createVisitor(app).post('/sign-in/with/other', { to: '/docs' })).status).toBe(200);
});
