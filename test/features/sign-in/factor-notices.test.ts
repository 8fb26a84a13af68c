import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Secret, TOTP } from 'otpauth';
import { startApp, type TestApp } from '../../app.ts';
import { createAuthenticator } from './authenticator.ts';
import { openMailbox, type Mailbox } from './mailbox.ts';
import { ask, formTokenOf, password } from './member.ts';
import { createVisitor, type Visitor } from './visitor.ts';

let mailbox: Mailbox;
let app: TestApp;

beforeAll(async () => {
  mailbox = await openMailbox();
  const smtpUrl = `smtp://tatami:s%40fe@127.0.0.1:${mailbox.port}`;
  app = await startApp({ flags: { host: 'localhost', smtpUrl, mailFrom: 'Tatami <tatami@acme.example>' } });
});
afterAll(async () => {
  await app.stop();
  mailbox.close();
});

async function owner(): Promise<Visitor> {
  const visitor = createVisitor(app);
  const { pathname } = new URL(app.workspace.setUpUrl);
  await visitor.post(pathname, { name: 'Ana', email: 'ana@acme.example', password });
  return visitor;
}

async function resetTo(word: string): Promise<Visitor> {
  const visitor = createVisitor(app);
  await visitor.post('/reset', { email: 'ana@acme.example' });
  const [link = ''] = /http\S+\/reset\/\S+/.exec(await mailbox.next()) ?? [];
  expect((await visitor.post(new URL(link).pathname, { password: word })).to).toBe('/sign-in?reset');
  await mailbox.next();
  return visitor;
}

test('the owner is notified by mail of a new passkey and of codes, and a password reset leaves codes on', async () => {
  const visitor = await owner();
  // The first reset by mail proves the address and clears earlier factors, so this test uses a second one.
  const first = 'eleven swans by the lock';
  await resetTo(first);
  await visitor.post('/sign-in', { email: 'ana@acme.example', password: first });
  const form_token = await formTokenOf(visitor);
  const { json: creationOptions } = await ask(app, visitor, '/account/passkeys/options', { form_token });
  const credential = createAuthenticator(app.url).create(creationOptions);
  await ask(app, visitor, '/account/passkeys', { form_token, name: 'Phone', credential });
  expect(await mailbox.next()).toContain('A passkey was added');

  await visitor.post('/account/one-time-codes');
  const { text } = await visitor.get('/account/one-time-codes');
  const secret = Secret.fromBase32(/class="code">([A-Z2-7 ]+)</.exec(text)![1]!.replaceAll(' ', ''));
  const codeOf = (): string => new TOTP({ secret }).generate({ timestamp: app.clock.now() });
  await visitor.post('/account/one-time-codes/confirm', { code: codeOf() });
  expect(await mailbox.next()).toContain('One-time codes were turned on.');

  const another = 'nine herons at the mill';
  const forgetful = await resetTo(another);
  const signsIn = { email: 'ana@acme.example', password: another };
  expect((await forgetful.post('/sign-in', signsIn)).to).toBe('/sign-in/code');
  app.clock.advance(30_000);
  expect((await forgetful.post('/sign-in/code', { code: codeOf() })).status).toBe(303);
  await forgetful.get('/account');
  await forgetful.post('/account/one-time-codes/off');
  expect(await mailbox.next()).toContain('One-time codes were turned off');
});
