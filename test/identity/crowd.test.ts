// Many people at once: passwords are compared one at a time, and whoever finds the queue full is told to come back.
import { expect, test } from 'bun:test';
import { createPasswords } from '../../core/identity/accounts/passwords.ts';
import { startApp } from '../app.ts';
import { createCommunity } from './joined.ts';
import { createVisitor } from './visitor.ts';

/** Each takes a quarter of a second on a machine that has much else to do. */
const crowd = process.env.TATAMI_LONG === '1' ? 100 : 30;

test(`${crowd} sign-ins at once succeed, and reads are answered meanwhile`, async () => {
  const app = await startApp();
  try {
    const people = createCommunity(app);
    const { email } = await people.joined();
    let left = crowd;
    const signedIn = Promise.all(
      Array.from({ length: left }, async () => {
        const { status } = await people.signInOn(createVisitor(app), email);
        left--;
        return status;
      }),
    );
    const took: number[] = [];
    while (left > 0) {
      const startedMs = performance.now();
      expect((await app.call('GET', '/api/v1/me')).status).toBe(200);
      took.push(performance.now() - startedMs);
      await Bun.sleep(1);
    }
    expect(new Set(await signedIn)).toEqual(new Set([303]));
    // Were they compared on the loop, each read would wait for one of them.
    const startedMs = performance.now();
    Bun.password.hashSync('a password', { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 });
    const oneMs = performance.now() - startedMs;
    expect(took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)]).toBeLessThan(oneMs);
  } finally {
    await app.stop();
  }
});

test('a full queue refuses, and says when to come back', async () => {
  const { verify } = createPasswords(4);
  const tries = Array.from({ length: 9 }, () => verify('a password', null, () => true));
  const outcomes = await Promise.allSettled(tries);
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused.map(({ code, headers }) => [code, headers])).toEqual(
    Array.from({ length: 4 }, () => ['rate_limited', { 'retry-after': '5' }]),
  );
  expect(await verify('a password', null, () => true)).toBe(false);
});
