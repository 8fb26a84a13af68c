// Each end of a session ends its bearers on the next request, and its event streams at once.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { openMailbox, type Mailbox } from './mailbox.ts';
import { ask, formTokenOf, join, password, type Joined } from './member.ts';
import { createVisitor, type Visitor } from './visitor.ts';

let mailbox: Mailbox;
let app: TestApp;
let person: Joined;
beforeAll(async () => {
  mailbox = await openMailbox();
  const smtpUrl = `smtp://tatami:s%40fe@127.0.0.1:${mailbox.port}`;
  app = await startApp({ flags: { smtpUrl, mailFrom: 'Tatami <tatami@acme.example>' } });
});
afterAll(async () => {
  await app.stop();
  mailbox.close();
});
beforeEach(async () => {
  person = await join(app);
});

const dayMs = 86_400_000;
const heartbeatMs = 15_000;
const other = 'eleven swans by the lock';

/** Exchanges the session of a browser, as the web app does. */
async function bearerOf(visitor: Visitor): Promise<string> {
  const formToken = await formTokenOf(visitor);
  const { json } = await ask(app, visitor, '/session/token', { formToken, workspace: null });
  return json.token as string;
}

const statusOf = async (token: string): Promise<number> =>
  (await app.clientOf(token)('GET', '/api/v1/me')).status;

/** @returns a function that reads the stream to its end */
async function openStream(token: string): Promise<() => Promise<void>> {
  const response = await fetch(`${app.url}/api/v1/events/stream`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const reader = response.body!.getReader();
  expect((await reader.read()).done).toBe(false);
  return async () => {
    while (!(await reader.read()).done);
  };
}

/** Signs the person in with another browser. */
async function elsewhere({ email }: Joined): Promise<Visitor> {
  const visitor = createVisitor(app);
  await visitor.post('/sign-in', { email, password });
  await visitor.get('/account');
  return visitor;
}

/** Returns the path of the next mailed link that matches. */
async function mailedPath(link: RegExp): Promise<string> {
  for (;;) {
    const [url] = link.exec(await mailbox.next()) ?? [];
    if (url !== undefined) return new URL(url).pathname;
  }
}

async function resetPassword({ email }: Joined): Promise<void> {
  const visitor = createVisitor(app);
  await visitor.post('/reset', { email });
  const path = await mailedPath(/http\S+\/reset\/\S+/);
  expect((await visitor.post(path, { password: other })).to).toBe('/sign-in?reset');
}

async function confirmAddress(of: Joined): Promise<void> {
  const visitor = await elsewhere(of);
  await visitor.post('/account/confirm-address');
  const path = await mailedPath(/http\S+\/confirm\/\S+/);
  await visitor.get(path);
  await visitor.post(path);
  expect(await statusOf(await bearerOf(visitor))).toBe(200);
}

async function changePassword(of: Joined): Promise<void> {
  const visitor = await elsewhere(of);
  await visitor.post('/account/password', { password, new_password: other });
  expect(await statusOf(await bearerOf(visitor))).toBe(200);
}

async function endAll(of: Joined): Promise<void> {
  await (await elsewhere(of)).post('/account/end-sessions');
}

const removeSeat = ({ memberId }: Joined): Promise<unknown> =>
  app.call('DELETE', `/api/v1/members/${memberId}`);

test.each([
  ['a sign-out', ({ visitor }: Joined) => visitor.post('/sign-out')],
  ['a password reset, which also removes other factors', resetPassword],
  ['a first confirmation of the address in another browser, which removes other factors', confirmAddress],
  ['a password change in another browser', changePassword],
  ['a sign-out everywhere from another browser', endAll],
  ['the deactivation of the seat', removeSeat],
])('%s ends bearers and streams', async (_, act) => {
  const token = await bearerOf(person.visitor);
  const ends = await openStream(token);
  expect(await statusOf(token)).toBe(200);
  await act(person);
  expect(await statusOf(token)).toBe(401);
  await ends();
});

test('a session expires a month after its start, also in use, with its bearers and at the next heartbeat its streams', async () => {
  const minuteMs = 60_000;
  let token = await bearerOf(person.visitor);
  const ends = await openStream(token);
  for (let at = 0; at < 5; at++) {
    app.clock.jump(6 * dayMs - minuteMs);
    token = await bearerOf(person.visitor);
    expect(await statusOf(token)).toBe(200);
    app.clock.jump(minuteMs);
  }
  expect(await statusOf(token)).toBe(401);
  app.clock.advance(heartbeatMs);
  await ends();
});

test('a session without use for a week ends, and an open stream is no use', async () => {
  const ends = await openStream(await bearerOf(person.visitor));
  app.clock.jump(7 * dayMs);
  app.clock.advance(heartbeatMs);
  await ends();
  expect(await bearerOf(person.visitor)).toBeUndefined();
});

test('the exchange is limited by client address', async () => {
  const limited = await startApp({ flags: { rateLimit: 'on', rateRead: '5' } });
  const body = { formToken: 'wrong', workspace: null };
  const { visitor } = await join(limited);
  limited.clock.advance(60_000);
  const statuses: number[] = [];
  for (let at = 0; at < 7; at++) {
    const { status, json } = await ask(limited, visitor, '/session/token', body);
    statuses.push(status);
    if (status === 429) expect(json.error.code).toBe('rate_limited');
  }
  expect(statuses).toEqual([403, 403, 403, 403, 403, 429, 429]);
  limited.clock.advance(60_000);
  expect((await ask(limited, visitor, '/session/token', body)).status).toBe(403);
  await limited.stop();
});
