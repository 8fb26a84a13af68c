// An address belongs to an account only after verification by mail: until then it blocks nobody, and gives no access.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Secret, TOTP } from 'otpauth';
import { newAccount, addMembershipOp } from '../../core/features/people/accounts.ts';
import { startApp, type Client, type TestApp } from '../app.ts';
import { createAuthenticator, type Authenticator } from '../features/sign-in/authenticator.ts';
import { openMailbox, type Mailbox } from '../features/sign-in/mailbox.ts';
import { ask, formTokenOf, password } from '../features/sign-in/member.ts';
import { createVisitor, saidBy, type PageResponse, type Visitor } from '../features/sign-in/visitor.ts';
import { makeGrant } from '../features/oauth/grant.ts';

const another = 'nine herons at the mill';
const setUp = '/account/one-time-codes';
let mailbox: Mailbox;
let app: TestApp;
/** An owner of another workspace. */
let callB: Client;

beforeAll(async () => {
  mailbox = await openMailbox();
  const smtpUrl = `smtp://127.0.0.1:${mailbox.port}`;
  app = await startApp({ flags: { host: 'localhost', smtpUrl, mailFrom: 'tatami@acme.example' } });
  callB = app.clientOf((await app.addWorkspace('Beta', 'BET')).apiKey);
});
afterAll(async () => {
  await app.stop();
  mailbox.close();
});

/** Link in the mail to an address; mail to others and notifications are skipped. */
async function linkTo(email: string, path: string): Promise<string> {
  for (;;) {
    const mail = await mailbox.next();
    if (mail.includes(`To: ${email}`) && mail.includes(`/${path}/`))
      return new RegExp(`/${path}/[\\w.-]+`).exec(mail)![0];
  }
}

async function invited(
  call: Client,
  fields: object,
): Promise<{ id: string; path: string; sentTo: string | null }> {
  const { json: created } = await call('POST', '/api/v1/members', { name: 'Vic', ...fields });
  const { json } = await call('POST', `/api/v1/members/${created.id}/invitation`);
  return { id: created.id, path: new URL(json.url).pathname, sentTo: json.sentTo };
}

const joins = (visitor: Visitor, path: string, email: string, more: object = {}): Promise<PageResponse> =>
  visitor.post(path, { name: 'Vic', email, password, ...more });

/** A guest of the first workspace who enters an address of another person. */
async function squatter(email: string): Promise<{ visitor: Visitor; memberId: string }> {
  const { id, path } = await invited(app.call, { role: 'guest' });
  const visitor = createVisitor(app);
  expect((await joins(visitor, path, email)).status).toBe(303);
  return { visitor, memberId: id };
}

async function addPasskey(visitor: Visitor): Promise<Authenticator> {
  const authenticator = createAuthenticator(app.url);
  const form_token = await formTokenOf(visitor);
  const { json: options } = await ask(app, visitor, '/account/passkeys/options', { form_token });
  const credential = authenticator.create(options);
  const added = await ask(app, visitor, '/account/passkeys', { form_token, name: 'Phone', credential });
  expect(added.status).toBe(200);
  return authenticator;
}

async function signsIn(authenticator: Authenticator): Promise<number> {
  const visitor = createVisitor(app);
  const { json: options } = await ask(app, visitor, '/sign-in/passkey/options', {});
  const credential = authenticator.get(options);
  return (await ask(app, visitor, '/sign-in/passkey', { to: '/docs', credential })).status;
}

async function turnOnCodes(visitor: Visitor): Promise<void> {
  await visitor.get('/account');
  await visitor.post(setUp);
  const { text } = await visitor.get(setUp);
  const secret = /<code class="code">([A-Z2-7 ]+)</.exec(text)![1]!.replaceAll(' ', '');
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: app.clock.now() });
  expect((await visitor.post(`${setUp}/confirm`, { code })).status).toBe(200);
}

async function resetByMail(email: string, word: string): Promise<Visitor> {
  const visitor = createVisitor(app);
  await visitor.post('/reset', { email });
  const set = await visitor.post(await linkTo(email, 'reset'), { password: word });
  expect(set.to).toBe('/sign-in?reset');
  return visitor;
}

const signIn = (visitor: Visitor, email: string, word = password): Promise<PageResponse> =>
  visitor.post('/sign-in', { email, password: word });
const revokedAt = async (id: string): Promise<string | null> =>
  (await app.call('GET', `/api/v1/grants/${id}`)).json.revokedAt;

/** The workspaces whose invitation reports that the account is already a member. */
async function membershipsOf(visitor: Visitor, calls = [app.call, callB]): Promise<string[]> {
  const pageTexts = await Promise.all(
    calls.map(async (call) => saidBy(await visitor.get((await invited(call, {})).path))),
  );
  return pageTexts.flatMap((text) => /is a member of (\w+) already/.exec(text)?.[1] ?? []);
}

test('the first verification of a mailbox ends earlier passkeys, codes, grants and sessions', async () => {
  const email = 'vic@acme.example';
  const { visitor: squat, memberId } = await squatter(email);
  const authenticator = await addPasskey(squat);
  await turnOnCodes(squat);
  const grant = await makeGrant(app, { memberId });
  expect(await signsIn(authenticator)).toBe(200);
  const membership = await invited(callB, { email, role: 'owner' });
  expect(membership.sentTo).toBe(email);
  const link = await linkTo(email, 'join');

  const after = await app.lastSequence();
  const vic = await resetByMail(email, another);
  expect(await app.eventTypes(after)).toEqual(['grant.revoked']);
  // No code is requested that the owner of the address does not have.
  expect((await signIn(vic, email, another)).to).toBe('/');
  await vic.get(link);
  expect((await vic.post(link)).to).toBe('/welcome');
  expect((await callB('GET', `/api/v1/members/${membership.id}`)).json.joinedAt).not.toBeNull();
  expect(await signsIn(authenticator)).toBe(403);
  expect((await squat.get('/account')).to).toStartWith('/sign-in');
  expect(await revokedAt(grant)).not.toBeNull();
});

test('a second reset by mail preserves the passkeys and codes of a verified account', async () => {
  const email = 'pia@acme.example';
  await squatter(email);
  const pia = await resetByMail(email, another);
  expect((await signIn(pia, email, another)).to).toBe('/');
  const authenticator = await addPasskey(pia);
  await turnOnCodes(pia);
  const again = await resetByMail(email, password);
  expect((await signIn(again, email)).to).toBe('/sign-in/code');
  expect(await signsIn(authenticator)).toBe(200);
});

test('an unverified address does not block its holder, who opens the link in the mail', async () => {
  const email = 'rita@acme.example';
  const { visitor: squat } = await squatter(email);
  await invited(callB, { email, role: 'owner' });
  const rita = createVisitor(app);
  expect((await joins(rita, await linkTo(email, 'join'), email, { password: another })).to).toBe('/welcome');
  expect([await membershipsOf(squat), await membershipsOf(rita)]).toEqual([['Acme'], ['Beta']]);
  // Each person signs in to their own account.
  const [one, two] = [createVisitor(app), createVisitor(app)];
  expect([(await signIn(one, email)).status, (await signIn(two, email, another)).status]).toEqual([303, 303]);
  expect([await membershipsOf(one), await membershipsOf(two)]).toEqual([['Acme'], ['Beta']]);
  // After verification the address belongs to one account only.
  const third = await invited(app.call, { role: 'guest' });
  const late = await joins(createVisitor(app), third.path, email, { another: 'yes' });
  expect([late.status, saidBy(late)]).toEqual([422, expect.stringContaining('Sign in to it')]);
});

test('a link that is handed over verifies no mailbox, even if the account has the address of the link', async () => {
  const email = 'sam@acme.example';
  const { path } = await invited(callB, { email, role: 'admin' });
  // The creator of the link knows it as well.
  expect(await linkTo(email, 'join')).not.toBe(path);
  const inviter = createVisitor(app);
  expect((await joins(inviter, path, email)).to).toBe('/welcome');
  const authenticator = await addPasskey(inviter);
  await resetByMail(email, another);
  expect(await signsIn(authenticator)).toBe(403);
});

test('a mailed link verifies only the address that it was sent to', async () => {
  const email = 'tom@acme.example';
  await invited(callB, { email });
  const tom = createVisitor(app);
  expect((await joins(tom, await linkTo(email, 'join'), 'not-tom@acme.example')).to).toBe('/welcome');
  const authenticator = await addPasskey(tom);
  await resetByMail('not-tom@acme.example', another);
  expect(await signsIn(authenticator)).toBe(403);
});

test('an address is confirmed by a mailed link only in a session of the account that requested it', async () => {
  const email = 'vera@acme.example';
  const { visitor: squat } = await squatter(email);
  const authenticator = await addPasskey(squat);
  const elsewhere = createVisitor(app);
  await signIn(elsewhere, email);
  expect((await squat.get('/account')).text).toContain('Confirm your address');
  expect((await squat.post('/account/confirm-address')).to).toBe('/account?done=confirm-sent');
  const link = await linkTo(email, 'confirm');
  // The holder of the mailbox confirms nothing for another account.
  const vera = createVisitor(app);
  expect([(await vera.get(link)).to, (await vera.post(link)).to]).toEqual([
    expect.stringContaining('/sign-in'),
    expect.stringContaining('/sign-in'),
  ]);
  const { visitor: other } = await squatter('vera-too@acme.example');
  await other.get('/account');
  expect([(await other.get(link)).status, (await other.post(link)).status]).toEqual([404, 404]);
  expect(await signsIn(authenticator)).toBe(200);

  expect((await squat.get(link)).status).toBe(200);
  expect((await squat.post(link, { form_token: 'of another page' })).status).toBe(403);
  expect((await squat.post(link, {}, { origin: 'https://evil.example' })).status).toBe(403);
  expect((await squat.get('/account')).text).toContain('Confirm your address');
  expect((await squat.post(link)).to).toBe('/account?done=confirmed');
  expect((await squat.get('/account')).text).not.toContain('Confirm your address');
  expect((await elsewhere.get('/account')).to).toStartWith('/sign-in');
  expect(await signsIn(authenticator)).toBe(403);
});

test('a changed address has to be verified again', async () => {
  const email = 'uma@acme.example';
  await squatter(email);
  const uma = await resetByMail(email, another);
  await signIn(uma, email, another);
  await uma.get('/account');
  const moved = await uma.post('/account/profile', { name: 'Uma', email: 'other-uma@acme.example' });
  expect(moved.to).toBe('/account?done=profile');
  const authenticator = await addPasskey(uma);
  await resetByMail('other-uma@acme.example', password);
  expect(await signsIn(authenticator)).toBe(403);
});

test('a reset link ends with the password and with the address that it was sent for', async () => {
  const email = 'wim@acme.example';
  const { visitor: wim } = await squatter(email);
  const asks = async (of: string) => {
    await createVisitor(app).post('/reset', { email: of });
    return linkTo(of, 'reset');
  };
  const first = await asks(email);
  await wim.get('/account');
  expect((await wim.post('/account/password', { password, new_password: another })).to).toBe(
    '/account?done=password',
  );
  const thief = createVisitor(app);
  expect([(await thief.get(first)).status, (await thief.post(first, { password })).status]).toEqual([
    404, 404,
  ]);

  const second = await asks(email);
  await wim.post('/account/profile', { name: 'Wim', email: 'new-wim@acme.example' });
  expect([(await thief.get(second)).status, (await thief.post(second, { password })).status]).toEqual([
    404, 404,
  ]);
  expect((await signIn(createVisitor(app), 'new-wim@acme.example', another)).status).toBe(303);
});

test('an invitation ends with the address and with the role that it was created for', async () => {
  const { id, path } = await invited(app.call, { role: 'member' });
  const status = async (): Promise<number> => (await createVisitor(app).get(path)).status;
  expect(await status()).toBe(200);
  await app.call('PATCH', `/api/v1/members/${id}`, { role: 'admin' });
  expect(await status()).toBe(404);
  expect((await joins(createVisitor(app), path, 'xena@acme.example')).status).toBe(404);

  const addressed = await invited(app.call, { email: 'yan@acme.example' });
  const sent = await linkTo('yan@acme.example', 'join');
  await app.call('PATCH', `/api/v1/members/${addressed.id}`, { email: 'zoe@acme.example' });
  for (const link of [sent, addressed.path]) expect((await createVisitor(app).get(link)).status).toBe(404);
});

test('signing out everywhere revokes the grants of apps, and the page states it', async () => {
  const email = 'noor@acme.example';
  const { visitor: noor, memberId } = await squatter(email);
  const grant = await makeGrant(app, { memberId });
  expect((await noor.get('/account')).text.replaceAll(/\s+/g, ' ')).toContain(
    'Ends all sessions, including this one, and revokes the access of all apps and of <code>tatami login</code>',
  );
  const after = await app.lastSequence();
  expect((await noor.post('/account/end-sessions')).to).toBe('/sign-in');
  expect(await revokedAt(grant)).not.toBeNull();
  expect(await app.eventTypes(after)).toEqual(['grant.revoked']);
});

test('a reset by mail revokes the grants of apps, also for a verified account', async () => {
  const email = 'otto@acme.example';
  const { memberId } = await squatter(email);
  await resetByMail(email, another);
  const grant = await makeGrant(app, { memberId });
  const visitor = createVisitor(app);
  await visitor.post('/reset', { email });
  const link = await linkTo(email, 'reset');
  expect((await visitor.get(link)).text).toContain('revokes the access of all apps');
  expect(await revokedAt(grant)).toBeNull();
  await visitor.post(link, { password });
  expect(await revokedAt(grant)).not.toBeNull();
});

test('one workspace cannot use up the account candidates of a password sign-in', async () => {
  const email = 'wanda@acme.example';
  await squatter(email);
  const { store, ids, nowMs } = app.services;
  const beta = await callB('GET', '/api/v1/workspace');
  for (let n = 0; n < 22; n++) {
    const { json: membership } = await callB('POST', '/api/v1/members', { name: 'Claim' });
    const account = newAccount({ ids, nowMs }, { name: 'Claim', email, passwordHash: null });
    await store.commit([account.op, addMembershipOp(account.id, beta.json.id, membership.id, nowMs())]);
  }
  const again = createVisitor(app);
  expect((await signIn(again, email)).to).toBe('/');
  expect(await membershipsOf(again, [app.call])).toEqual(['Acme']);
});

test('without a mail server an address blocks nobody and gives no access elsewhere', async () => {
  const silent = await startApp();
  try {
    const email = 'vic@acme.example';
    const other = await silent.addWorkspace('Beta', 'BET');
    const calls = [silent.call, silent.clientOf(other.apiKey)];
    const guest = await invited(silent.call, { role: 'guest' });
    const membership = await invited(calls[1]!, { email, role: 'owner' });
    const squat = createVisitor(silent);
    expect((await joins(squat, guest.path, email)).status).toBe(303);
    expect(await membershipsOf(squat, calls)).toEqual(['Acme']);

    const vic = createVisitor(silent);
    const reply = await joins(vic, membership.path, email, { password: another });
    expect([reply.status, saidBy(reply)]).toEqual([422, expect.stringContaining('Sign in to it')]);
    const created = await joins(vic, membership.path, email, { password: another, another: 'yes' });
    expect(created.to).toBe('/welcome');
    const [one, two] = [createVisitor(silent), createVisitor(silent)];
    expect([(await signIn(one, email)).status, (await signIn(two, email, another)).status]).toEqual([
      303, 303,
    ]);
    expect([await membershipsOf(one, calls), await membershipsOf(two, calls)]).toEqual([['Acme'], ['Beta']]);
  } finally {
    await silent.stop();
  }
});
