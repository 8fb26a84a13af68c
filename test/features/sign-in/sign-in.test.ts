import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { createCommunity, password, type Community } from './joined.ts';
import { createVisitor, saidBy } from './visitor.ts';

let app: TestApp;
let people: Community;

beforeAll(async () => {
  app = await startApp();
  people = createCommunity(app);
});
afterAll(() => app.stop());

test('signing in gives a new session each time, and signing out ends it', async () => {
  const { email, visitor } = await people.joined();
  const first = visitor.cookies.get('__Host-tatami');
  const answer = await people.signInOn(visitor, email);
  expect(answer).toMatchObject({ status: 303, to: '/' });
  const lines = answer.headers.getSetCookie();
  for (const line of lines)
    expect(line).toMatch(/^__Host-.*; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/);
  expect(visitor.cookies.get('__Host-tatami')).not.toBe(first);
  // The earlier session of the browser has ended, so a planted cookie is worthless.
  const planted = createVisitor(app);
  planted.cookies.set('__Host-tatami', first!);
  expect((await planted.get('/account')).to).toStartWith('/sign-in');
  await visitor.get('/account');
  const sessionCookie = visitor.cookies.get('__Host-tatami')!;
  expect((await visitor.post('/sign-out')).to).toBe('/sign-in');
  const stale = createVisitor(app);
  stale.cookies.set('__Host-tatami', sessionCookie);
  expect((await stale.get('/account')).to).toStartWith('/sign-in');
});

test('signing in responds the same to an unknown address and to a wrong password', async () => {
  const { email } = await people.joined();
  const [unknown, wrong] = [
    await people.signInOn(createVisitor(app), 'nobody@acme.example', 'wrong'),
    await people.signInOn(createVisitor(app), email, 'wrong'),
  ];
  expect([unknown.status, saidBy(unknown)]).toEqual([422, saidBy(wrong)]);
  expect(wrong.status).toBe(422);
  expect(unknown.text.replace('nobody@acme.example', '')).toBe(wrong.text.replace(email, ''));
  expect(JSON.stringify(app.logs)).not.toContain('nobody@acme.example');
  expect(app.logs.filter(({ message }) => message.startsWith('sign-in refused')).length).toBeGreaterThan(1);
});

test('signing in redirects only to pages of this server', async () => {
  const { email, visitor } = await people.joined();
  for (const to of [
    '//evil.example',
    '/\\evil.example',
    '\\evil.example',
    'https:evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '/\t/evil.example',
    '/\n/evil.example',
    '/./\\evil.example',
    '/.//evil.example',
    '/%0d%0aset-cookie:x',
    'evil',
    '',
  ]) {
    const answer = await people.signInOn(createVisitor(app), email, password, to);
    const wanted = to.startsWith('/%') ? to : '/';
    expect([to, answer.to]).toEqual([to, wanted]);
    expect((await visitor.get(`/sign-in?to=${encodeURIComponent(to)}`)).to).toBe(wanted);
  }
  expect((await people.signInOn(createVisitor(app), email, password, '/device?code=AB-12')).to).toBe(
    '/device?code=AB-12',
  );
});

test('the page warns when the browser would not store a session', async () => {
  const open = await startApp({ flags: { baseUrl: 'http://tatami.example.com' } });
  try {
    const headers = { host: 'tatami.example.com' };
    expect(await (await fetch(`${open.url}/sign-in`, { headers })).text()).toContain('needs HTTPS');
    expect(saidBy(await createVisitor(app).get('/sign-in'))).toBe('');
  } finally {
    await open.stop();
  }
});

test('signing in is limited under repeated failures, and the person can still sign in on known devices', async () => {
  const { email, visitor } = await people.joined();
  const guesser = createVisitor(app);
  const guesses = await Promise.all(
    Array.from({ length: 14 }, () => people.signInOn(guesser, email, 'wrong')),
  );
  expect(guesses.filter(({ status }) => status === 422)).toHaveLength(10);
  const refused = guesses.find(({ status }) => status === 429)!;
  expect(Number(refused.headers.get('retry-after'))).toBeWithin(300, 361);
  // The correct password is not checked either, because a success would confirm the guess.
  expect((await people.signInOn(guesser, email)).status).toBe(429);
  expect((await people.signInOn(visitor, email)).status).toBe(303);
  for (let n = 0; n < 10; n++) expect((await people.signInOn(visitor, email, 'wrong')).status).toBe(422);
  expect((await people.signInOn(visitor, email)).status).toBe(429);
  app.clock.advance(6 * 60_000);
  expect((await people.signInOn(guesser, email)).status).toBe(303);
});

test('signing in is limited for each peer over all accounts, also with an invented device cookie', async () => {
  const { email, visitor } = await people.joined();
  const other = await people.joined();
  app.clock.advance(3_600_000);
  const [nonce, tag] = visitor.cookies.get('__Host-tatami-device')!.split('.');
  const forger = createVisitor(app);
  let refused = 0;
  for (let n = 0; n < 62; n++) {
    forger.cookies.set('__Host-tatami-device', `${nonce}.${tag}`);
    const { status } = await people.signInOn(forger, `somebody${n}@acme.example`, 'wrong');
    if (status === 429) refused++;
  }
  expect(refused).toBe(2);
  // The browser is known only to the account that signed in on it.
  expect((await people.signInOn(visitor, other.email)).status).toBe(429);
  expect((await people.signInOn(visitor, email)).status).toBe(303);
  expect((await people.signInOn(createVisitor(app), email)).status).toBe(429);
  app.clock.advance(3_600_000);
});

test('signing in after removal shows only the removal', async () => {
  const { id, email, visitor } = await people.joined();
  const open = await people.invite(await people.addMember());
  expect((await app.call('DELETE', `/api/v1/members/${id}`)).status).toBe(204);
  const page = await visitor.get('/account');
  expect([page.status, page.text.includes('No workspace')]).toEqual([403, true]);
  expect(page.text).not.toContain('/account/password');
  // The addresses of the web app, at which a sign-in ends, show the same page.
  for (const path of ['/', '/my-issues']) {
    const shown = await visitor.get(path);
    expect([path, shown.status, shown.text.includes('No workspace')]).toEqual([path, 403, true]);
    expect(shown.text).toContain('Ask an admin of the workspace for an invitation');
  }
  expect((await visitor.post('/account/profile', { name: 'Still here', email })).to).toBe('/account');
  expect((await visitor.get('/account')).text).not.toContain('Still here');
  const back = createVisitor(app);
  expect((await people.signInOn(back, email)).status).toBe(303);
  expect((await back.get('/account')).status).toBe(403);
  // Another invitation adds the account again.
  await back.get(open);
  expect((await back.post(open)).to).toBe('/welcome');
  expect((await back.get('/account')).status).toBe(200);
  expect((await back.get('/welcome')).status).toBe(200);
});

test.each(['/sign-out', '/account/end-sessions'])('%s clears the storage of the browser', async (path) => {
  const { visitor } = await people.joined();
  await visitor.get('/account');
  const { to, headers } = await visitor.post(path);
  expect({ to, clears: headers.get('clear-site-data') }).toEqual({ to: '/sign-in', clears: '"storage"' });
});

test('a form of another site, which comes without a cookie, does not clear the storage', async () => {
  const { status, headers } = await createVisitor(app).post(
    '/sign-out',
    {},
    { origin: 'https://evil.example' },
  );
  expect({ status, clears: headers.get('clear-site-data') }).toEqual({ status: 403, clears: null });
});

test('a sign-out to join with another account clears the storage of the browser', async () => {
  const { visitor } = await people.joined();
  const open = await people.invite(await people.addMember());
  await visitor.get(open);
  const { to, headers } = await visitor.post(open, { do: 'other-account' });
  expect({ to, clears: headers.get('clear-site-data') }).toEqual({
    to: '/sign-in?to=%2Fjoin',
    clears: '"storage"',
  });
  expect((await visitor.get(open)).headers.get('clear-site-data')).toBe(null);
});

test('a person without a workspace can sign out on the page that says so', async () => {
  const { id, visitor } = await people.joined();
  expect((await app.call('DELETE', `/api/v1/members/${id}`)).status).toBe(204);
  await visitor.get('/');
  expect((await visitor.post('/sign-out')).to).toBe('/sign-in');
  expect((await visitor.get('/')).to).toStartWith('/sign-in');
});

test('removing a member deletes the invitation', async () => {
  const id = await people.addMember();
  const path = await people.invite(id);
  await app.call('DELETE', `/api/v1/members/${id}`);
  expect((await createVisitor(app).get(path)).status).toBe(404);
  expect((await app.call('POST', `/api/v1/members/${id}/invitation`)).status).toBe(404);
});

test('under another host name a page links to the base URL, and a form is rejected', async () => {
  const { email } = await people.joined();
  const { json: issue } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Proposed' });
  const propose = { 'tatami-mode': 'propose' };
  const { json } = await app.call('PATCH', `/api/v1/issues/${issue.id}`, { priority: 'low' }, propose);
  const other = createVisitor(app, undefined, 'tatami.example.com');
  for (const path of ['/sign-in?to=%2Fdocs', '/account', '/join/x', '/device', `/proposals/${json.id}`]) {
    const page = await other.get(path);
    expect([path, page.status]).toEqual([path, 403]);
    expect(page.text).toContain(`href="${app.url}${path}"`);
    expect(page.text).not.toContain('<form');
  }
  const after = await app.lastSequence();
  // Browsers send these for a form of a page without a referrer, whatever the host name.
  const own = { origin: 'null', 'sec-fetch-site': 'same-origin' };
  const refused = await other.post('/sign-in', { email, password }, own);
  expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
  expect(saidBy(refused)).toContain(app.url);
  const script = await fetch(`${app.url}/sign-in/passkey/options`, {
    ...{ method: 'POST', body: '{}' },
    headers: { ...own, 'content-type': 'application/json', host: 'tatami.example.com' },
  });
  expect(script.status).toBe(403);
  expect(await app.eventTypes(after)).toEqual([]);
  expect((await createVisitor(app).post('/sign-in', { email, password }, own)).status).toBe(303);
});

test('a proxy may omit the port from the forwarded host', async () => {
  const { hostname } = new URL(app.url);
  const page = await fetch(`${app.url}/sign-in`, { headers: { host: hostname } });
  expect(page.status).toBe(200);
  const otherPort = await fetch(`${app.url}/sign-in`, { headers: { host: `${hostname}:1` } });
  expect(otherPort.status).toBe(403);
});

test('a server that listens on all addresses accepts the host of its base URL', async () => {
  const open = await startApp({ flags: { host: '0.0.0.0' } });
  try {
    const url = `http://127.0.0.1:${new URL(open.url).port}`;
    expect((await createVisitor({ url }).get('/account')).to).toStartWith('/sign-in');
    expect((await createVisitor({ url }).get('/sign-in')).status).toBe(200);
  } finally {
    await open.stop();
  }
});
