// A server on the same machine, which people reach as 127.0.0.1 and as localhost.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { createAuthenticator } from './authenticator.ts';
import { ask, formTokenOf, join, password } from './member.ts';
import { createVisitor } from './visitor.ts';

let app: TestApp;
let local: { url: string };
beforeAll(async () => {
  app = await startApp();
  local = { url: app.url.replace('127.0.0.1', 'localhost') };
});
afterAll(() => app.stop());

test('at 127.0.0.1 the account page links to localhost, where a passkey can be added and used', async () => {
  const { visitor, email } = await join(app);
  const atAddress = await visitor.get('/account');
  expect(atAddress.text).toContain(`href="${local.url}/account"`);
  expect(atAddress.text).not.toContain('data-passkey');
  const atSignIn = await createVisitor(app).get('/sign-in?to=/inbox');
  expect(atSignIn.text).toContain(`href="${local.url}/sign-in?to=%2Finbox"`);

  const here = createVisitor(local);
  expect((await here.get('/account')).headers.get('location')).toBe(`${local.url}/sign-in?to=%2Faccount`);
  const signedIn = await here.post('/sign-in', { email, password, to: '/account' });
  expect(signedIn.headers.get('location')).toBe(`${local.url}/account`);
  expect((await here.get('/account')).text).toContain('data-passkey="create"');

  const form_token = await formTokenOf(here);
  const authenticator = createAuthenticator(local.url);
  const { json: toAdd } = await ask(local, here, '/account/passkeys/options', { form_token });
  const added = { form_token, name: 'Phone', credential: authenticator.create(toAdd) };
  expect(await ask(local, here, '/account/passkeys', added)).toEqual({
    status: 200,
    json: { to: `${local.url}/account?done=passkey-added` },
  });
  const back = createVisitor(local);
  const { json: toUse } = await ask(local, back, '/sign-in/passkey/options', {});
  const used = await ask(local, back, '/sign-in/passkey', { credential: authenticator.get(toUse) });
  expect(used).toEqual({ status: 200, json: { to: `${local.url}/` } });
  expect((await back.get('/account')).text).toContain(email);

  // A browser would refuse the passkey there, so the server says where it works.
  const refused = await ask(app, createVisitor(app), '/sign-in/passkey/options', {});
  expect([refused.status, refused.json.error.message]).toEqual([409, expect.stringContaining(local.url)]);
});

test('a form of one loopback name is rejected at another, and so is one of another port', async () => {
  const { email } = await join(app);
  const elsewhere = local.url.replace(/\d+$/, '1');
  for (const headers of [{ origin: app.url }, { origin: elsewhere }, { 'sec-fetch-site': 'same-site' }])
    expect((await createVisitor(local).post('/sign-in', { email, password }, headers)).status).toBe(403);
  const otherPort = createVisitor(app, undefined, new URL(elsewhere).host);
  expect((await otherPort.get('/sign-in')).status).toBe(403);
});

test('a server with a public base URL is not reached as localhost', async () => {
  const shared = await startApp({ flags: { baseUrl: 'https://tatami.example.com' } });
  try {
    const page = await createVisitor(shared, undefined, 'localhost').get('/sign-in');
    expect([page.status, page.text.includes('<form')]).toEqual([403, false]);
    const own = await createVisitor(shared, undefined, 'tatami.example.com').get('/account');
    expect([own.status, own.to]).toEqual([303, 'https://tatami.example.com/sign-in?to=%2Faccount']);
  } finally {
    await shared.stop();
  }
});
