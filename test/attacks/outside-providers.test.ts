// Attacks with a real OpenID provider: a provider that is not trusted with addresses, a person who is already signed in
// there, changed addresses, and rotated keys.
import { afterAll, beforeAll, beforeEach, expect, setSystemTime, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { createSystemClock, startApp, type Client, type TestApp } from '../app.ts';
import { forgetPassword, invite, join } from '../features/sign-in/member.ts';
import { startOutsideProvider, type OutsideProvider } from '../features/sign-in/outside-provider.ts';
import { createVisitor, type PageResponse, type Visitor } from '../features/sign-in/visitor.ts';

const secret = 'secret of both';
let folder: string;
/** Provider that is trusted with addresses. */
let north: OutsideProvider;
/** Provider at which anyone can claim any address. */
let south: OutsideProvider;
let app: TestApp;
/** An owner of another workspace. */
let callB: Client;

const clientOf = (key: string) => ({
  ...{ id: 'tatami', secret },
  redirectUri: `${app.url}/sign-in/with/${key}/return`,
});

beforeAll(async () => {
  [north, south] = await Promise.all([startOutsideProvider(), startOutsideProvider()]);
  folder = mkdtempSync(joinPath(tmpdir(), 'tatami-outside-'));
  writeFileSync(joinPath(folder, 'secret'), secret);
  const common = { clientId: 'tatami', clientSecretFile: 'secret' };
  const list = [
    { ...common, key: 'north', name: 'North', issuer: north.issuer, takesInvitations: true },
    { ...common, key: 'south', name: 'South', issuer: south.issuer },
  ];
  const identityProviders = joinPath(folder, 'providers.json');
  writeFileSync(identityProviders, JSON.stringify(list));
  const flags = { host: 'localhost', egressAllow: '127.0.0.0/8', identityProviders };
  app = await startApp({ clock: createSystemClock(), flags });
  north.register(clientOf('north'));
  south.register(clientOf('south'));
  callB = app.clientOf((await app.addWorkspace('Beta', 'BET')).apiKey);
});
afterAll(async () => {
  setSystemTime();
  await app.stop();
  await Promise.all([north.stop(), south.stop()]);
  rmSync(folder, { recursive: true });
});

let subjects = 0;
beforeEach(() => {
  const sub = `subject-${++subjects}`;
  for (const provider of [north, south]) {
    provider.person = { sub };
    provider.before = () => Promise.resolve();
  }
});

const addressIn = ({ headers }: PageResponse): string => headers.get('refresh')?.replace('0;url=', '') ?? '';
const pathOf = (url: URL): string => url.pathname + url.search;

async function goes(
  visitor: Visitor,
  path: string,
  provider = north,
  browser?: Map<string, string>,
): Promise<PageResponse> {
  const left = await visitor.post(path, { to: '/docs' });
  return visitor.get(pathOf(await provider.visit(addressIn(left), browser)));
}
const signIn = (visitor: Visitor, key = 'north'): Promise<PageResponse> =>
  goes(visitor, `/sign-in/with/${key}`, key === 'north' ? north : south);
const linkSouth = (visitor: Visitor): Promise<PageResponse> => goes(visitor, '/account/linked/south', south);
const accountOf = async (visitor: Visitor): Promise<string> => (await visitor.get('/account')).text;

test('only a provider that is trusted with addresses verifies an address', async () => {
  const { visitor: squat, email } = await join(app);
  south.person = { ...south.person, email, email_verified: true };
  await squat.get('/account');
  expect((await linkSouth(squat)).to).toBe('/account?done=linked');
  // A person with an address that South claims joins by a link.
  const other = 'held@acme.example';
  const { link } = await invite(app, 'guest@acme.example');
  const newcomer = createVisitor(app);
  await newcomer.post(link, { do: 'sign-in' });
  south.person = { sub: 'newcomer', email: other, email_verified: true };
  expect((await signIn(newcomer, 'south')).to).toBe('/docs');

  // Neither claim keeps the holder out of the other workspace or joins it in their place.
  for (const [sub, address] of [
    ['holder-1', email],
    ['holder-2', other],
  ] as const) {
    const { memberId } = await invite({ call: callB }, address);
    north.person = { sub, email: address, email_verified: true };
    const holder = createVisitor(app);
    expect((await signIn(holder)).to).toBe('/docs');
    expect((await callB('GET', `/api/v1/members/${memberId}`)).json.joinedAt).not.toBeNull();
    expect(await accountOf(holder)).toContain(address);
  }
  for (const visitor of [squat, newcomer]) expect(await accountOf(visitor)).not.toContain('Beta');
});

test('a confirmation through a provider requires a recent sign-in there, also if the browser removes the prompt', async () => {
  const { visitor, email } = await join(app);
  const browser = new Map<string, string>();
  await visitor.get('/account');
  expect((await goes(visitor, '/account/linked/north', north, browser)).to).toBe('/account?done=linked');
  await forgetPassword(app, email);
  app.clock.jump(11 * 60_000);
  setSystemTime(app.clock.nowMs());
  const prove = async (dropped: readonly string[]): Promise<PageResponse> => {
    await visitor.get('/sign-in/again?to=/account');
    const address = new URL(addressIn(await visitor.post('/sign-in/with/north', { to: '/account' })));
    for (const name of dropped) address.searchParams.delete(name);
    return visitor.get(pathOf(await north.visit(address.href, browser)));
  };
  expect((await prove(['prompt', 'max_age'])).status).toBe(403);
  expect((await visitor.post('/account/linked/south')).to).toBe('/sign-in/again?to=%2Faccount');
  expect((await prove([])).to).toBe('/account');
  await visitor.get('/account');
  expect((await visitor.post('/account/linked/south')).status).toBe(200);
});

test('one subject at two providers is two people', async () => {
  const [ana, ben] = [await join(app), await join(app)];
  await ana.visitor.get('/account');
  expect((await goes(ana.visitor, '/account/linked/north')).to).toBe('/account?done=linked');
  expect((await signIn(createVisitor(app), 'south')).status).toBe(403);
  await ben.visitor.get('/account');
  expect((await linkSouth(ben.visitor)).to).toBe('/account?done=linked');
  for (const [key, { email }] of [
    ['north', ana],
    ['south', ben],
  ] as const) {
    const visitor = createVisitor(app);
    await signIn(visitor, key);
    expect(await accountOf(visitor)).toContain(email);
  }
});

test('a changed address or signing key at the provider changes no account', async () => {
  for (const claimsInIdToken of [false, true]) {
    // `register` rotates the key. Provider keys are refetched once they are a minute old.
    north.register({ ...clientOf('north'), claimsInIdToken });
    setSystemTime(Date.now() + 61_000);
    const first = `first-${claimsInIdToken}@acme.example`;
    const second = `second-${claimsInIdToken}@acme.example`;
    north.person = { sub: first, email: first, email_verified: true };
    await invite(app, first);
    expect((await signIn(createVisitor(app))).to).toBe('/docs');
    // An invitation exists for the new address, and the account of the old one cannot accept it.
    const { memberId } = await invite({ call: callB }, second);
    north.person = { sub: first, email: second, email_verified: true };
    const visitor = createVisitor(app);
    expect((await signIn(visitor)).to).toBe('/docs');
    expect(await accountOf(visitor)).toContain(first);
    expect((await callB('GET', `/api/v1/members/${memberId}`)).json.joinedAt).toBeNull();
    // The present holder of the address is another person.
    north.person = { sub: `heir of ${first}`, email: first, email_verified: true };
    expect((await signIn(createVisitor(app))).status).toBe(403);
  }
});

test('an aborted sign-in, and one whose browser has signed in as another person meanwhile, leave nothing behind', async () => {
  const { visitor, email } = await join(app);
  await visitor.get('/account');
  const left = await visitor.post('/account/linked/north');
  const back = pathOf(await north.visit(addressIn(left)));
  // The requesting session ends at the provider's page.
  await visitor.post('/account/end-sessions');
  expect((await visitor.get(back)).status).toBe(403);
  expect((await signIn(createVisitor(app))).status).toBe(403);
  await visitor.post('/sign-in', { email, password: 'seven geese over the pond' });
  expect((await visitor.get(back)).status).toBe(403);
  expect((await signIn(createVisitor(app))).status).toBe(403);
});

test('no account is linked by a session that ends before the provider responds', async () => {
  const { visitor } = await join(app);
  const { cookies } = visitor;
  const elsewhere = createVisitor(app);
  await visitor.get('/account');
  for (const [name, value] of cookies) elsewhere.cookies.set(name, value);
  await elsewhere.get('/account');
  north.before = async (requestLine) => {
    if (requestLine === 'POST /token') await elsewhere.post('/account/end-sessions');
  };
  expect((await goes(visitor, '/account/linked/north')).status).toBe(403);
  north.before = () => Promise.resolve();
  expect((await visitor.get('/account')).to).toStartWith('/sign-in');
  expect((await signIn(createVisitor(app))).status).toBe(403);
});
