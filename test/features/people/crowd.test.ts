import { expect, test } from 'bun:test';
import { createPasswords } from '../../../core/features/sign-in/passwords.ts';
import { startApp } from '../../app.ts';
import { createCommunity } from '../sign-in/joined.ts';
import { createVisitor } from '../sign-in/visitor.ts';

/** Each sign-in takes a quarter of a second on a busy machine. */
const crowd = process.env.TATAMI_LONG === '1' ? 100 : 30;

test(`${crowd} concurrent sign-ins succeed, and reads are served meanwhile`, async () => {
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
    // If passwords were hashed on the event loop, each read would wait for one of them.
    const startedMs = performance.now();
    Bun.password.hashSync('a password', { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 });
    const oneMs = performance.now() - startedMs;
    expect(took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)]).toBeLessThan(oneMs);
  } finally {
    await app.stop();
  }
});

test('an address with waiting attempts uses at most a quarter of the queue, and gets a Retry-After', async () => {
  const { verify } = createPasswords(16);
  const attempt = (peer: string) => verify(peer, 'a password', null, () => true);
  const tries = Array.from({ length: 9 }, () => attempt('192.0.2.1'));
  const others = ['192.0.2.2', '192.0.2.3'].map(attempt);
  const outcomes = await Promise.allSettled(tries);
  const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(refused.map(({ code, headers }) => [code, headers])).toEqual(
    Array.from({ length: 5 }, () => ['rate_limited', { 'retry-after': '5' }]),
  );
  expect(await Promise.all(others)).toEqual([false, false]);
  expect(await attempt('192.0.2.1')).toBe(false);
});
