// People: a link gives a seat once, a password signs in, and what somebody may do here is theirs to see and to end.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';
import { createVisitor, saidBy, type Visitor } from './visitor.ts';

const dayMs = 86_400_000;
const password = 'seven geese over the pond';
let app: TestApp;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const pathOf = (url: string): string => new URL(url).pathname;

let made = 0;
async function addMember(fields: object = {}): Promise<string> {
  return (await app.call('POST', '/api/v1/members', { name: `Ben ${++made}`, ...fields })).json.id;
}

async function invite(id: string): Promise<string> {
  const { status, json } = await app.call('POST', `/api/v1/members/${id}/invitation`);
  expect(status).toBe(201);
  return pathOf(json.url);
}

interface Joined {
  id: string;
  email: string;
  visitor: Visitor;
}

/** Somebody who has joined, signed in. */
async function joined(): Promise<Joined> {
  const id = await addMember();
  const email = `person${made}@acme.example`;
  const visitor = createVisitor(app);
  const joins = await visitor.post(await invite(id), { name: 'Ben', email, password });
  expect(joins).toMatchObject({ status: 303, to: '/account' });
  expect((await visitor.get('/account')).status).toBe(200);
  return { id, email, visitor };
}

const signInOn = (visitor: Visitor, email: string, word = password, to?: string) =>
  visitor.post('/sign-in', { email, password: word, ...(to === undefined ? {} : { to }) });

describe('an invitation', () => {
  test('of the first start makes the account of the owner, once, and signs them in', async () => {
    const after = await app.lastSequence();
    const path = pathOf(app.workspace.setUpUrl);
    const ana = createVisitor(app);
    expect((await ana.get(path)).text).toContain('Join Acme');
    expect(await ana.post(path, { name: 'Ana', email: 'ana@acme.example', password })).toMatchObject({
      status: 303,
      to: '/account',
    });
    expect((await ana.get('/account')).text).toContain('ana@acme.example');
    const { json: owner } = await app.call('GET', '/api/v1/members/me');
    expect(owner).toMatchObject({ name: 'Ana', joinedAt: '2026-11-20T12:00:00.000Z' });
    expect(await app.eventTypes(after)).toEqual(['member.updated']);
    const { json: log } = await app.call('GET', '/api/v1/audit-log?limit=1');
    expect(log.data[0].actor).toMatchObject({ kind: 'user', id: owner.id, name: 'Ana' });
    const other = createVisitor(app);
    expect((await other.get(path)).status).toBe(404);
    expect((await other.post(path, { name: 'Eve', email: 'eve@acme.example', password })).status).toBe(404);
    expect((await app.call('POST', `/api/v1/members/${owner.id}/invitation`)).json.error).toMatchObject({
      code: 'conflict',
    });
  });

  test('is used by no GET, gives way to a newer one, is withdrawn, and expires after a week', async () => {
    const id = await addMember();
    const first = await invite(id);
    const visitor = createVisitor(app);
    for (let n = 0; n < 3; n++) expect((await visitor.get(first)).status).toBe(200);
    const second = await invite(id);
    expect((await visitor.get(first)).status).toBe(404);
    expect((await visitor.get(second)).status).toBe(200);
    expect((await app.call('DELETE', `/api/v1/members/${id}/invitation`)).status).toBe(204);
    expect((await visitor.get(second)).status).toBe(404);
    expect((await app.call('DELETE', `/api/v1/members/${id}/invitation`)).status).toBe(404);
    const third = await invite(id);
    app.clock.jump(7 * dayMs - 1);
    expect((await visitor.get(third)).status).toBe(200);
    app.clock.jump(1);
    const late = await visitor.post(third, { name: 'Late', email: 'late@acme.example', password });
    expect(late.status).toBe(404);
    expect(late.text).toContain('does not work');
  });

  test('taken by many at once seats one of them', async () => {
    const path = await invite(await addMember());
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        createVisitor(app).post(path, { name: 'Racer', email: `racer${n}@acme.example`, password }),
      ),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404, 404, 404, 404, 404]);
    const winner = answers.findIndex(({ status }) => status === 303);
    // Those who lost left no account behind.
    for (let n = 0; n < 6; n++)
      expect((await signInOn(createVisitor(app), `racer${n}@acme.example`)).status).toBe(
        n === winner ? 303 : 422,
      );
  });

  test('is made by who may add a member of that role, and by no plugin or scope that lacks it', async () => {
    const asMember = app.clientOf(await keyOf(await addMember()));
    const other = await addMember();
    expect((await asMember('POST', `/api/v1/members/${other}/invitation`)).json.error.code).toBe('forbidden');
    const asAdmin = app.clientOf(await keyOf(await addMember({ role: 'admin' })));
    const owner = await addMember({ role: 'owner' });
    expect((await asAdmin('POST', `/api/v1/members/${other}/invitation`)).status).toBe(201);
    expect((await asAdmin('POST', `/api/v1/members/${owner}/invitation`)).json.error.code).toBe('forbidden');
    const foreign = await app.addWorkspace('Foreign', 'FOR');
    const missing = await app.call('POST', '/api/v1/members/usr_00000000000000000000000000/invitation');
    const theirs = await app.call('POST', `/api/v1/members/${foreign.userId}/invitation`);
    expect([theirs.status, theirs.json.error.message]).toEqual([404, missing.json.error.message]);
  });

  test('is taken with the account of who is signed in, once they say so; a second seat in a workspace is refused', async () => {
    const { visitor, email } = await joined();
    const other = await app.addWorkspace('Beta', 'BET');
    const path = pathOf(other.setUpUrl);
    expect((await visitor.get(path)).text).toContain(`(${email})`);
    expect(await visitor.post(path)).toMatchObject({ status: 303, to: '/account' });
    const again = await invite(await addMember());
    expect(saidBy(await visitor.get(again))).toContain('member of Acme already');
    await visitor.post(again);
    expect((await createVisitor(app).get(again)).status).toBe(200);
  });

  test('leads who has an account to sign in, and keeps the link out of every further address', async () => {
    const { email } = await joined();
    const path = pathOf((await app.addWorkspace('Gamma', 'GAM')).setUpUrl);
    const visitor = createVisitor(app);
    await visitor.get(path);
    const leads = await visitor.post(path, { do: 'sign-in' });
    expect(leads.to).toBe('/sign-in?to=%2Fjoin');
    expect((await signInOn(visitor, email, password, '/join')).to).toBe('/join');
    expect((await visitor.get('/join')).text).toContain('Join Gamma');
    expect(await visitor.post('/join')).toMatchObject({ status: 303, to: '/account' });
    expect((await visitor.get('/join')).status).toBe(404);
  });

  test('refuses a password that is short, common or made of what others know, and an address that is taken', async () => {
    const { email } = await joined();
    const path = await invite(await addMember());
    const asks = async (fields: Record<string, string>) => {
      const answer = await createVisitor(app).post(path, {
        name: 'Cleo',
        email: 'cleo@acme.example',
        password,
        ...fields,
      });
      return [answer.status, saidBy(answer)];
    };
    expect(await asks({ password: 'elevenchars' })).toEqual([422, expect.stringContaining('11 characters')]);
    expect(await asks({ password: 'x7'.repeat(80) })).toEqual([
      422,
      expect.stringContaining('longer than 128'),
    ]);
    for (const common of [
      'password12345',
      'Qwertyuiop123',
      'aaaaaaaaaaaa',
      'abcabcabcabcabc',
      '123456789012',
      'Passw0rd2024!',
    ])
      expect(await asks({ password: common })).toEqual([422, expect.stringContaining('tried first')]);
    expect(await asks({ password: 'cleo@acme.example' })).toEqual([
      422,
      expect.stringContaining('your name or address'),
    ]);
    expect(await asks({ email: email.toUpperCase() })).toEqual([
      422,
      expect.stringContaining('Sign in to it'),
    ]);
    expect(await asks({ email: 'nobody' })).toEqual([422, expect.stringContaining('e-mail address')]);
    expect(await asks({ name: ' ' })).toEqual([422, expect.stringContaining('name')]);
    expect(await asks({ password: 'ünïcödé ßtraße 12' })).toEqual([303, '']);
  });

  test('stands in the database as a hash alone, and in no log', async () => {
    const path = await invite(await addMember());
    const token = path.slice('/join/'.length);
    await createVisitor(app).post(path, { name: 'Dan', email: 'dan@acme.example', password });
    const { Database } = await import('bun:sqlite');
    using db = new Database(`${app.dataDir}/tatami.db`, { readonly: true });
    const rows = JSON.stringify([
      db.query('SELECT * FROM invitations').all(),
      db.query('SELECT * FROM accounts').all(),
      db.query('SELECT * FROM sessions').all(),
    ]);
    expect(rows).not.toContain(token);
    expect(rows).not.toContain(password);
    expect(rows).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
    expect(JSON.stringify(app.logs)).not.toContain(token);
  });
});

async function keyOf(memberId: string): Promise<string> {
  const body = { name: 'k', scopes: ['members:read', 'members:write'], memberId };
  return (await app.call('POST', '/api/v1/api-keys', body)).json.key;
}

describe('signing in', () => {
  test('gives a new session each time, and signing out ends it', async () => {
    const { email, visitor } = await joined();
    const first = visitor.cookies.get('__Host-tatami');
    const answer = await signInOn(visitor, email);
    expect(answer).toMatchObject({ status: 303, to: '/account' });
    const lines = answer.headers.getSetCookie();
    for (const line of lines)
      expect(line).toMatch(/^__Host-.*; Path=\/; Max-Age=\d+; Secure; HttpOnly; SameSite=Lax$/);
    expect(visitor.cookies.get('__Host-tatami')).not.toBe(first);
    // The session that the browser had is no more, so a cookie that somebody planted is worth nothing.
    const planted = createVisitor(app);
    planted.cookies.set('__Host-tatami', first!);
    expect((await planted.get('/account')).to).toStartWith('/sign-in');
    await visitor.get('/account');
    const kept = visitor.cookies.get('__Host-tatami')!;
    expect((await visitor.post('/sign-out')).to).toBe('/sign-in');
    const stale = createVisitor(app);
    stale.cookies.set('__Host-tatami', kept);
    expect((await stale.get('/account')).to).toStartWith('/sign-in');
  });

  test('says the same of an unknown address and of a wrong password', async () => {
    const { email } = await joined();
    const [unknown, wrong] = [
      await signInOn(createVisitor(app), 'nobody@acme.example', 'wrong'),
      await signInOn(createVisitor(app), email, 'wrong'),
    ];
    expect([unknown.status, saidBy(unknown)]).toEqual([422, saidBy(wrong)]);
    expect(wrong.status).toBe(422);
    expect(unknown.text.replace('nobody@acme.example', '')).toBe(wrong.text.replace(email, ''));
    expect(JSON.stringify(app.logs)).not.toContain('nobody@acme.example');
    expect(app.logs.filter(({ message }) => message.startsWith('sign-in refused')).length).toBeGreaterThan(1);
  });

  test('leads to a page of this server alone', async () => {
    const { email, visitor } = await joined();
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
      const answer = await signInOn(createVisitor(app), email, password, to);
      const wanted = to.startsWith('/%') ? to : '/account';
      expect([to, answer.to]).toEqual([to, wanted]);
      expect((await visitor.get(`/sign-in?to=${encodeURIComponent(to)}`)).to).toBe(wanted);
    }
    expect((await signInOn(createVisitor(app), email, password, '/device?code=AB-12')).to).toBe(
      '/device?code=AB-12',
    );
  });

  test('is limited where somebody guesses, and the person goes on signing in on devices of their own', async () => {
    const { email, visitor } = await joined();
    const guesser = createVisitor(app);
    const guesses = await Promise.all(Array.from({ length: 14 }, () => signInOn(guesser, email, 'wrong')));
    expect(guesses.filter(({ status }) => status === 422)).toHaveLength(10);
    const refused = guesses.find(({ status }) => status === 429)!;
    expect(Number(refused.headers.get('retry-after'))).toBeWithin(300, 361);
    // Not even the right password is looked at: it would say that the guess was good.
    expect((await signInOn(guesser, email)).status).toBe(429);
    expect((await signInOn(visitor, email)).status).toBe(303);
    for (let n = 0; n < 10; n++) expect((await signInOn(visitor, email, 'wrong')).status).toBe(422);
    expect((await signInOn(visitor, email)).status).toBe(429);
    app.clock.advance(6 * 60_000);
    expect((await signInOn(guesser, email)).status).toBe(303);
  });

  test('is limited for each peer, over all accounts; a device that was made up is a stranger', async () => {
    const { email, visitor } = await joined();
    app.clock.advance(3_600_000);
    const [nonce, tag] = visitor.cookies.get('__Host-tatami-device')!.split('.');
    const forger = createVisitor(app);
    let refused = 0;
    for (let n = 0; n < 62; n++) {
      forger.cookies.set('__Host-tatami-device', `${nonce}.${tag}`);
      const { status } = await signInOn(forger, `somebody${n}@acme.example`, 'wrong');
      if (status === 429) refused++;
    }
    expect(refused).toBe(2);
    expect((await signInOn(visitor, email)).status).toBe(303);
    expect((await signInOn(createVisitor(app), email)).status).toBe(429);
    app.clock.advance(3_600_000);
  });

  test('shows nothing but that to who was removed', async () => {
    const { id, email, visitor } = await joined();
    const open = await invite(await addMember());
    expect((await app.call('DELETE', `/api/v1/members/${id}`)).status).toBe(204);
    const page = await visitor.get('/account');
    expect([page.status, page.text.includes('No workspace')]).toEqual([403, true]);
    expect(page.text).not.toContain('/account/password');
    const back = createVisitor(app);
    expect((await signInOn(back, email)).status).toBe(303);
    expect((await back.get('/account')).status).toBe(403);
    // Another invitation seats the account again.
    await back.get(open);
    expect((await back.post(open)).to).toBe('/account');
    expect((await back.get('/account')).status).toBe(200);
  });

  test('removing a member takes the invitation along', async () => {
    const id = await addMember();
    const path = await invite(id);
    await app.call('DELETE', `/api/v1/members/${id}`);
    expect((await createVisitor(app).get(path)).status).toBe(404);
    expect((await app.call('POST', `/api/v1/members/${id}/invitation`)).status).toBe(404);
  });
});

describe('the account page', () => {
  test('changes the name; another address takes a proof that is not old', async () => {
    const { email, visitor } = await joined();
    const moved = `moved.${email}`;
    const save = (address: string) => visitor.post('/account/profile', { name: 'Benjamin', email: address });
    app.clock.jump(10 * 60_000);
    expect((await save(email)).to).toBe('/account?done=profile');
    expect((await save(moved)).to).toBe('/sign-in/again?to=%2Faccount');
    expect((await visitor.get('/sign-in/again?to=%2Faccount')).text).toContain('Is it you?');
    const wrong = await visitor.post('/sign-in/again', { to: '/account', password: 'wrong' });
    expect([wrong.status, saidBy(wrong)]).toEqual([422, 'The password is wrong.']);
    expect((await visitor.post('/sign-in/again', { to: '/account', password })).to).toBe('/account');
    expect((await save(moved)).to).toBe('/account?done=profile');
    expect(saidBy(await visitor.get('/account?done=profile'))).toBe('Name and address are changed.');
    expect((await signInOn(createVisitor(app), email)).status).toBe(422);
    expect((await signInOn(createVisitor(app), moved)).status).toBe(303);
    const { email: known } = await joined();
    expect((await save(known)).to).toBe('/account?wrong=profile-known');
  });

  test('changes the password by the one there is, and ends all other sessions', async () => {
    const { email, visitor } = await joined();
    const elsewhere = createVisitor(app);
    await signInOn(elsewhere, email);
    const change = (fields: Record<string, string>) =>
      visitor.post('/account/password', { password, new_password: 'nine herons at the mill', ...fields });
    expect((await change({ password: 'wrong' })).to).toBe('/account?wrong=password-old');
    expect((await change({ new_password: 'short' })).to).toBe('/account?wrong=password-weak');
    expect((await elsewhere.get('/account')).status).toBe(200);
    expect((await change({})).to).toBe('/account?done=password');
    expect((await elsewhere.get('/account')).to).toStartWith('/sign-in');
    expect((await visitor.get('/account')).status).toBe(200);
    expect((await signInOn(createVisitor(app), email)).status).toBe(422);
    expect((await signInOn(createVisitor(app), email, 'nine herons at the mill')).status).toBe(303);
  });

  test('lists where somebody is signed in; each session ends by itself, or all of them', async () => {
    const { email, visitor } = await joined();
    const phone = createVisitor(app, 'Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Safari/605');
    await signInOn(phone, email);
    const page = await visitor.get('/account');
    expect(page.text).toContain('Safari on iOS');
    const ids = [...page.text.matchAll(/name="id" value="(ses_\w+)"/g)].map(([, id]) => id!);
    expect(ids).toHaveLength(1);
    const stranger = (await joined()).visitor;
    await stranger.post('/account/end-session', { id: ids[0]! });
    expect((await phone.get('/account')).status).toBe(200);
    expect((await visitor.post('/account/end-session', { id: ids[0]! })).to).toBe('/account?done=session');
    expect((await phone.get('/account')).to).toStartWith('/sign-in');
    await signInOn(phone, email);
    await visitor.get('/account');
    expect((await visitor.post('/account/end-sessions')).to).toBe('/sign-in');
    for (const one of [visitor, phone]) expect((await one.get('/account')).to).toStartWith('/sign-in');
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

  test('of another site, or without a browser, are refused, and do nothing', async () => {
    const { visitor } = await joined();
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

  test('of another session are refused', async () => {
    const [mine, theirs] = [await joined(), await joined()];
    const token = /name="form_token" value="([^"]+)"/.exec((await theirs.visitor.get('/account')).text)![1]!;
    for (const path of paths.filter((path) => /account|out|again/.test(path)))
      for (const form_token of [token, '', 'x'])
        expect([path, (await mine.visitor.post(path, { form_token })).status]).toEqual([path, 403]);
    expect((await mine.visitor.get('/account')).status).toBe(200);
  });

  test('and pages are framed by nobody, kept by nobody, and tell other sites nothing', async () => {
    const { visitor } = await joined();
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
