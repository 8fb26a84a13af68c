import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { openMailbox, type Mailbox } from './mailbox.ts';
import { createVisitor, saidBy } from './visitor.ts';

const password = 'seven geese over the pond';
const another = 'nine herons at the mill';
let mailbox: Mailbox;
let app: TestApp;

beforeAll(async () => {
  mailbox = await openMailbox();
  const smtpUrl = `smtp://tatami:s%40fe@127.0.0.1:${mailbox.port}`;
  app = await startApp({ flags: { smtpUrl, mailFrom: 'Tatami <tatami@acme.example>' } });
});
afterAll(async () => {
  await app.stop();
  mailbox.close();
});

const linkIn = (mail: string): string =>
  new URL(/http:\S+/g.exec(mail.slice(mail.lastIndexOf('http')))![0]).pathname;

/** A person who joined by the link in the mail, signed in. */
async function joinedByMail(email: string) {
  const { json: member } = await app.call('POST', '/api/v1/members', { name: 'Ana', email });
  const { json } = await app.call('POST', `/api/v1/members/${member.id}/invitation`);
  expect(json.sentTo).toBe(email);
  const mail = await mailbox.next();
  const visitor = createVisitor(app);
  expect((await visitor.post(linkIn(mail), { name: 'Ana', email, password })).status).toBe(303);
  return { mail, visitor, invitation: json };
}

test('an invitation is sent to the address of the member, from the configured sender', async () => {
  const { mail, invitation } = await joinedByMail('ana@acme.example');
  expect(mail).toContain('From: Tatami <tatami@acme.example>');
  expect(mail).toContain('To: ana@acme.example');
  expect(mail).toContain('Subject: Acme owner invites you to Acme on Tatami');
  // The inviter has a different link, so the one in the mail proves the address.
  expect(linkIn(mail)).toMatch(/^\/join\/[\w-]+$/);
  expect(linkIn(mail)).not.toBe(new URL(invitation.url).pathname);
  const auth = Buffer.from('\0tatami\0s@fe').toString('base64');
  expect(mailbox.commands).toContain(`AUTH PLAIN ${auth}`);
});

test('a password reset link works once, for half an hour, and ends all sessions', async () => {
  const email = 'ben@acme.example';
  const { visitor } = await joinedByMail(email);
  const forgetful = createVisitor(app);
  expect((await forgetful.get('/reset')).text).toContain('Send link');
  const asks = (of: string) => forgetful.post('/reset', { email: of });
  const unknown = await asks('nobody@acme.example');
  const known = await asks(email.toUpperCase());
  expect([unknown.status, unknown.text]).toEqual([known.status, known.text]);
  // The first mail belongs to the existing account.
  const mail = await mailbox.next();
  expect(mail).toContain(`To: ${email}`);
  const path = linkIn(mail);

  expect((await forgetful.get(path)).text).toContain('Choose a new password');
  expect(saidBy(await forgetful.post(path, { password: 'short' }))).toContain('at least 12');
  expect((await visitor.get('/account')).status).toBe(200);
  expect((await forgetful.post(path, { password: another })).to).toBe('/sign-in?reset');
  expect(await mailbox.next()).toContain('The password was reset with a link.');
  expect(saidBy(await forgetful.get('/sign-in?reset'))).toContain('password was changed');
  expect((await visitor.get('/account')).to).toStartWith('/sign-in');
  expect((await forgetful.post(path, { password })).status).toBe(404);
  const signIn = (word: string) => createVisitor(app).post('/sign-in', { email, password: word });
  expect([(await signIn(password)).status, (await signIn(another)).status]).toEqual([422, 303]);

  await asks(email);
  const second = linkIn(await mailbox.next());
  await asks(email);
  const third = linkIn(await mailbox.next());
  expect((await forgetful.get(second)).status).toBe(404);
  app.clock.jump(30 * 60_000);
  expect((await forgetful.get(third)).status).toBe(404);
  expect((await forgetful.post(third, { password })).status).toBe(404);
});

test('the owner of an account is notified of a new password or address at the previous address', async () => {
  const { visitor } = await joinedByMail('fay@acme.example');
  await visitor.get('/account');
  await visitor.post('/account/password', { password, new_password: another });
  expect(await mailbox.next()).toMatch(/To: fay@acme\.example[^]*The password was changed\./);
  await visitor.post('/account/profile', { name: 'Fay', email: 'fay@other.example' });
  expect(await mailbox.next()).toMatch(/To: fay@acme\.example[^]*The e-mail address for sign-in was changed/);
});

test('each address gets at most three links an hour', async () => {
  const email = 'cleo@acme.example';
  await joinedByMail(email);
  const visitor = createVisitor(app);
  for (let n = 0; n < 5; n++) expect((await visitor.post('/reset', { email })).status).toBe(200);
  for (let n = 0; n < 3; n++) expect(await mailbox.next()).toContain(`To: ${email}`);
  app.clock.advance(3_600_000);
  await visitor.post('/reset', { email });
  expect(await mailbox.next()).toContain(`To: ${email}`);
  await joinedByMail('dora@acme.example');
});

test('a person who reset the password signs in despite failed attempts of others', async () => {
  const email = 'emil@acme.example';
  await joinedByMail(email);
  const guesser = createVisitor(app);
  for (let n = 0; n < 11; n++) await guesser.post('/sign-in', { email, password: 'wrong' });
  const forgetful = createVisitor(app);
  expect((await forgetful.post('/sign-in', { email, password })).status).toBe(429);
  await forgetful.post('/reset', { email });
  await forgetful.post(linkIn(await mailbox.next()), { password: another });
  expect(await mailbox.next()).toContain('reset with a link');
  expect((await forgetful.post('/sign-in', { email, password: another })).status).toBe(303);
});

test('a remote mail server without encryption receives nothing', async () => {
  const commandCount = mailbox.commands.length;
  // Connections to this address reach the local machine, although the address is not a loopback address.
  const smtpUrl = `smtp://tatami:s%40fe@0.0.0.0:${mailbox.port}`;
  const strict = await startApp({ flags: { smtpUrl, mailFrom: 'tatami@acme.example' } });
  try {
    strict.services.mail!.post({ to: 'ana@acme.example', subject: 'Hello', text: 'secret' });
    await strict.services.mail!.settled();
    expect(strict.logs.map(({ message }) => message)).toContain('a mail could not be sent');
    expect(JSON.stringify(strict.logs)).not.toMatch(/s@fe|s%40fe|secret/);
    expect(
      mailbox.commands.slice(commandCount).filter((line) => !/^(EHLO|STARTTLS|QUIT)/.test(line)),
    ).toEqual([]);
  } finally {
    await strict.stop();
  }
});

test('without a mail server the page names a contact, and the invitation link is delivered by hand', async () => {
  const silent = await startApp();
  try {
    expect((await createVisitor(silent).get('/reset')).text).toContain('tatami members reset');
    const { json: member } = await silent.call('POST', '/api/v1/members', {
      name: 'A',
      email: 'a@acme.example',
    });
    const { json } = await silent.call('POST', `/api/v1/members/${member.id}/invitation`);
    expect(json).toMatchObject({ sentTo: null, url: expect.stringContaining('/join/') });
  } finally {
    await silent.stop();
  }
});
