import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { createCommunity, password, type Community } from '../sign-in/joined.ts';
import { makeGrant } from '../oauth/grant.ts';
import { createVisitor, saidBy, type Visitor } from '../sign-in/visitor.ts';

let app: TestApp;
let people: Community;

beforeAll(async () => {
  app = await startApp();
  people = createCommunity(app);
});
afterAll(() => app.stop());

describe('the account page', () => {
  test('changes the name, and requires recent authentication for a new address', async () => {
    const { email, visitor } = await people.joined();
    const moved = `moved.${email}`;
    const save = (address: string) => visitor.post('/account/profile', { name: 'Benjamin', email: address });
    app.clock.jump(10 * 60_000);
    expect((await save(email)).to).toBe('/account?done=profile');
    expect((await save(moved)).to).toBe('/sign-in/again?to=%2Faccount');
    expect((await visitor.get('/sign-in/again?to=%2Faccount')).text).toContain('Confirm it’s you');
    const wrong = await visitor.post('/sign-in/again', { to: '/account', password: 'wrong' });
    expect([wrong.status, saidBy(wrong)]).toEqual([422, 'The password is wrong. Try again.']);
    expect((await visitor.post('/sign-in/again', { to: '/account', password })).to).toBe('/account');
    expect((await save(moved)).to).toBe('/account?done=profile');
    expect(saidBy(await visitor.get('/account?done=profile'))).toBe('Your profile was saved.');
    expect((await people.signInOn(createVisitor(app), email)).status).toBe(422);
    expect((await people.signInOn(createVisitor(app), moved)).status).toBe(303);
    const { email: known } = await people.joined();
    expect((await save(known)).to).toBe('/account?wrong=profile-known');
  });

  test('changes the password given the current one, and ends all other sessions', async () => {
    const { email, visitor } = await people.joined();
    const elsewhere = createVisitor(app);
    await people.signInOn(elsewhere, email);
    const change = (fields: Record<string, string>) =>
      visitor.post('/account/password', { password, new_password: 'nine herons at the mill', ...fields });
    expect((await change({ password: 'wrong' })).to).toBe('/account?wrong=password-old');
    expect((await change({ new_password: 'short' })).to).toBe('/account?wrong=password-weak');
    expect((await elsewhere.get('/account')).status).toBe(200);
    expect((await change({})).to).toBe('/account?done=password');
    expect((await elsewhere.get('/account')).to).toStartWith('/sign-in');
    expect((await visitor.get('/account')).status).toBe(200);
    expect((await people.signInOn(createVisitor(app), email)).status).toBe(422);
    expect((await people.signInOn(createVisitor(app), email, 'nine herons at the mill')).status).toBe(303);
  });

  test('lists the sessions, and ends one or all of them', async () => {
    const { email, visitor } = await people.joined();
    const phone = createVisitor(app, 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605');
    await people.signInOn(phone, email);
    const page = await visitor.get('/account');
    expect(page.text).toContain('Safari on iOS');
    const ids = [...page.text.matchAll(/name="id" value="(ses_\w+)"/g)].map(([, id]) => id!);
    expect(ids).toHaveLength(1);
    const stranger = (await people.joined()).visitor;
    await stranger.post('/account/end-session', { id: ids[0]! });
    expect((await phone.get('/account')).status).toBe(200);
    expect((await visitor.post('/account/end-session', { id: ids[0]! })).to).toBe('/account?done=session');
    expect((await phone.get('/account')).to).toStartWith('/sign-in');
    await people.signInOn(phone, email);
    await visitor.get('/account');
    expect((await visitor.post('/account/end-sessions')).to).toBe('/sign-in');
    for (const one of [visitor, phone]) expect((await one.get('/account')).to).toStartWith('/sign-in');
  });

  test('lists the grants of apps, which only their owner revokes, and revoked ones lose their tokens', async () => {
    const { id, visitor } = await people.joined();
    expect((await visitor.get('/account')).text).toContain('No app has access to your account');
    const grant = await makeGrant(app, {
      memberId: id,
      scopes: ['issues:write'],
      client: { name: 'A <b>tool' },
    });
    await makeGrant(app, { client: { name: 'Of the owner' } });
    const { text } = await visitor.get('/account');
    expect(text).toContain('A &lt;b&gt;tool');
    expect(text).toContain('(not verified)');
    expect(text).toContain('Read issues, and create, change and delete them.');
    expect(text).not.toContain('Of the owner');
    const fields = { workspace: app.workspace.workspaceId, id: grant };
    const end = async (by: Visitor) => (await by.post('/account/end-grant', fields)).to;
    const stranger = (await people.joined()).visitor;
    await stranger.get('/account');
    expect(await end(stranger)).toBe('/account?wrong=grant-gone');
    const before = await app.lastSequence();
    await visitor.get('/account');
    expect(await end(visitor)).toBe('/account?done=grant');
    await app.settled();
    expect(await app.eventTypes(before)).toEqual(['grant.revoked']);
    expect((await visitor.get('/account')).text).toContain('No app has access to your account');
    expect(await end(visitor)).toBe('/account?wrong=grant-gone');
  });
});

describe('forms', () => {
  const paths = [
    '/sign-in',
    '/sign-in/again',
    '/sign-out',
    '/reset',
    '/reset/x',
    '/join',
    '/join/x',
    '/account/profile',
    '/account/password',
    '/account/end-session',
    '/account/end-sessions',
  ];

  test('of another site, or without a browser, are rejected without effect', async () => {
    const { visitor } = await people.joined();
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      { origin: '' },
      { origin: app.url, 'sec-fetch-site': 'cross-site' },
      { origin: app.url, 'sec-fetch-site': 'same-site' },
    ];
    for (const path of paths)
      for (const headers of foreign)
        expect([path, headers, (await visitor.post(path, {}, headers)).status]).toEqual([path, headers, 403]);
    expect((await visitor.get('/account')).status).toBe(200);
  });

  test('of another session are rejected', async () => {
    const [mine, theirs] = [await people.joined(), await people.joined()];
    const token = /name="form_token" value="([^"]+)"/.exec((await theirs.visitor.get('/account')).text)![1]!;
    for (const path of paths.filter((path) => /account|out|again/.test(path)))
      for (const form_token of [token, '', 'x'])
        expect([path, (await mine.visitor.post(path, { form_token })).status]).toEqual([path, 403]);
    expect((await mine.visitor.get('/account')).status).toBe(200);
  });

  test('and pages cannot be framed or cached and send no referrer', async () => {
    const { visitor } = await people.joined();
    for (const path of ['/sign-in', '/account', '/reset', '/join/x', '/sign-in/again']) {
      const { headers } = await createVisitor(app).get(path);
      expect([path, headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
        path,
        'no-store',
        'no-referrer',
      ]);
    }
    const { headers } = await visitor.get('/account');
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('x-frame-options')).toBe('DENY');
  });
});
