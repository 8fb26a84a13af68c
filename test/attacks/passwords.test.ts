// Passwords: a request that is in flight during a password change does not outlive it, and another account with the
// same address does not help to guess the password.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { newReset } from '../../core/features/sign-in/resets.ts';
import { accountsByEmail } from '../../core/features/people/accounts.ts';
import { startApp, type TestApp } from '../app.ts';
import { invite, join, password } from '../features/sign-in/member.ts';
import { createVisitor, type Visitor } from '../features/sign-in/visitor.ts';

const another = 'nine herons at the mill';
let app: TestApp;
beforeAll(async () => {
  app = await startApp({ flags: { host: 'localhost' } });
});
afterAll(() => app.stop());

/**
 * @returns a function that sets another password by a link. Passwords are hashed one at a time: later requests wait in
 * the queue.
 */
async function resetOf(email: string): Promise<() => Promise<void>> {
  const { store } = app.services;
  const [account] = await accountsByEmail(store, email);
  const { url, op } = newReset(app.services, account!, false);
  await store.commit([op]);
  return async () => {
    const set = await createVisitor(app).post(new URL(url).pathname, { password: another });
    expect(set.to).toBe('/sign-in?reset');
  };
}

const isIn = async (visitor: Visitor): Promise<boolean> => (await visitor.get('/account')).status === 200;

test('a queued sign-in with the old password starts no session after the password is changed', async () => {
  const { email } = await join(app);
  const thieves = Array.from({ length: 8 }, () => createVisitor(app));
  const reset = (await resetOf(email))();
  await Promise.all(thieves.map((thief) => thief.post('/sign-in', { email, password })));
  await reset;
  expect(await Promise.all(thieves.map(isIn))).toEqual(thieves.map(() => false));
});

test('a queued password change fails after another password is set', async () => {
  const { visitor: thief, email } = await join(app);
  await thief.get('/account');
  const reset = (await resetOf(email))();
  await Promise.all(
    Array.from({ length: 4 }, () =>
      thief.post('/account/password', { password, new_password: 'the words of a thief' }),
    ),
  );
  await reset;
  const holder = createVisitor(app);
  expect((await holder.post('/sign-in', { email, password: another })).to).toBe('/');
  expect(await isIn(holder)).toBe(true);
});

test('trusted devices of an account do not help to guess the password of another account with the same address', async () => {
  const { visitor: holder, email } = await join(app);
  const other = await app.addWorkspace('Beta', 'BET');
  const { link } = await invite({ call: app.clientOf(other.apiKey) }, email);
  const mine = 'the words of a thief';
  await createVisitor(app).post(link, { name: 'Eve', email, password: mine, another: 'yes' });
  const guesses: number[] = [];
  for (let device = 0; device < 3; device++) {
    const thief = createVisitor(app);
    await thief.post('/sign-in', { email, password: mine });
    for (let n = 0; n < 5; n++)
      guesses.push((await thief.post('/sign-in', { email, password: `guess ${device} ${n}` })).status);
  }
  expect(guesses.filter((status) => status !== 429)).toHaveLength(10);
  expect((await holder.post('/sign-in', { email, password })).status).toBe(303);
});
