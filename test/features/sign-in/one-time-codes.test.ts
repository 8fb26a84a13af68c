import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Secret, TOTP } from 'otpauth';
import { startApp, type TestApp } from '../../app.ts';
import { createAuthenticator } from './authenticator.ts';
import { ask, formTokenOf, join, password, type Joined } from './member.ts';
import { createVisitor, saidBy, type PageResponse, type Visitor } from './visitor.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ flags: { host: 'localhost' } });
});
afterAll(() => app.stop());

const stepMs = 30_000;
const setUp = '/account/one-time-codes';

const secretIn = ({ text }: PageResponse): string =>
  /<code class="code">([A-Z2-7 ]+)</.exec(text)?.[1]?.replaceAll(' ', '') ?? '';
const codesIn = ({ text }: PageResponse): string[] =>
  [...text.matchAll(/<code class="code">([a-z0-9-]+)</g)].map(([, code]) => code!);

/** @param steps half minutes by which the clock of the authenticator app is ahead */
function codeOf(secret: string, steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: app.clock.now() + steps * stepMs,
  });
}

interface TurnedOn extends Joined {
  readonly secret: string;
  readonly recovery: readonly string[];
}

async function turnedOn(): Promise<TurnedOn> {
  const joined = await join(app);
  const { visitor } = joined;
  await visitor.get('/account');
  expect((await visitor.post(setUp)).to).toBe(setUp);
  const secret = secretIn(await visitor.get(setUp));
  const confirmation = await visitor.post(`${setUp}/confirm`, { code: codeOf(secret) });
  expect(confirmation.status).toBe(200);
  app.clock.advance(stepMs);
  return { ...joined, secret, recovery: codesIn(confirmation) };
}

/** Returns a browser that has entered the password and not yet the code. */
async function halfway(email: string): Promise<Visitor> {
  const visitor = createVisitor(app);
  expect((await visitor.post('/sign-in', { email, password, to: '/docs' })).to).toBe('/sign-in/code');
  return visitor;
}

const isIn = async (visitor: Visitor): Promise<boolean> => (await visitor.get('/account')).status === 200;

test('codes are required after the first valid one, and until then the password is enough', async () => {
  const { visitor, email } = await join(app);
  await visitor.get('/account');
  await visitor.post(setUp);
  const page = await visitor.get(setUp);
  expect(page.text).toContain('<svg');
  const wrong = await visitor.post(`${setUp}/confirm`, { code: '000000' });
  expect(wrong.status).toBe(422);
  expect(saidBy(wrong)).toContain('This code is wrong');
  expect(secretIn(wrong)).toBe(secretIn(page));
  expect((await createVisitor(app).post('/sign-in', { email, password })).to).toBe('/');

  const confirmation = await visitor.post(`${setUp}/confirm`, { code: codeOf(secretIn(page)) });
  expect(codesIn(confirmation)).toHaveLength(10);
  expect(new Set(codesIn(confirmation)).size).toBe(10);
  expect((await visitor.get(setUp)).to).toBe('/account');
  expect((await visitor.get('/account')).text).not.toContain(secretIn(page));
});

test('a password without the code opens no page, for any destination', async () => {
  const { email, secret } = await turnedOn();
  const visitor = await halfway(email);
  expect(visitor.cookies.has('__Host-tatami')).toBe(false);
  expect(await isIn(visitor)).toBe(false);
  const answer = await visitor.post('/sign-in/code', { code: codeOf(secret) });
  expect(answer).toMatchObject({ status: 303, to: '/docs' });
  expect(await isIn(visitor)).toBe(true);
});

test('a code is accepted once, also under concurrency, and no older one is', async () => {
  const { email, secret } = await turnedOn();
  const visitors = await Promise.all(Array.from({ length: 4 }, () => halfway(email)));
  const code = codeOf(secret);
  const answers = await Promise.all(visitors.map((one) => one.post('/sign-in/code', { code })));
  expect(answers.map(({ status }) => status).sort()).toEqual([303, 422, 422, 422]);

  const late = await halfway(email);
  expect((await late.post('/sign-in/code', { code: codeOf(secret, -1) })).status).toBe(422);
  expect((await late.post('/sign-in/code', { code: codeOf(secret, 1) })).status).toBe(303);
});

test('clocks may differ by half a minute at most', async () => {
  const { email, secret } = await turnedOn();
  app.clock.advance(5 * stepMs);
  const visitor = await halfway(email);
  for (const steps of [-2, 2])
    expect((await visitor.post('/sign-in/code', { code: codeOf(secret, steps) })).status).toBe(422);
  expect((await visitor.post('/sign-in/code', { code: ` ${codeOf(secret, -1)} ` })).status).toBe(303);
});

test('a recovery code works once, and new ones replace the old', async () => {
  const { email, visitor, recovery } = await turnedOn();
  const [first = '', second = ''] = recovery;
  const one = await halfway(email);
  expect((await one.post('/sign-in/code', { code: first.toUpperCase().replaceAll('-', ' ') })).status).toBe(
    303,
  );
  const again = await halfway(email);
  expect((await again.post('/sign-in/code', { code: first })).status).toBe(422);
  const account = await visitor.get('/account');
  expect(account.text).toContain('9 of 10 recovery codes are left');

  const renewed = codesIn(await visitor.post(`${setUp}/recovery-codes`));
  expect(renewed).toHaveLength(10);
  expect((await again.post('/sign-in/code', { code: second })).status).toBe(422);
  expect((await again.post('/sign-in/code', { code: renewed[0]! })).status).toBe(303);
});

test('codes of one account are not accepted for another', async () => {
  const { email } = await turnedOn();
  const other = await turnedOn();
  const visitor = await halfway(email);
  for (const code of [codeOf(other.secret), other.recovery[0]!])
    expect((await visitor.post('/sign-in/code', { code })).status).toBe(422);
});

test('repeated wrong codes are blocked, and the owner can still sign in on a known device', async () => {
  const { email, secret, visitor: owner } = await turnedOn();
  const guesser = await halfway(email);
  const answers: number[] = [];
  for (let guess = 0; guess < 12; guess++)
    answers.push((await guesser.post('/sign-in/code', { code: String(100_000 + guess) })).status);
  expect(answers).toEqual([...Array<number>(10).fill(422), 429, 429]);
  const stopped = await guesser.post('/sign-in/code', { code: codeOf(secret) });
  expect(stopped.status).toBe(429);
  expect(Number(stopped.headers.get('retry-after'))).toBeGreaterThan(60);

  await owner.get('/account');
  await owner.post('/sign-out');
  expect((await owner.post('/sign-in', { email, password })).to).toBe('/sign-in/code');
  expect((await owner.post('/sign-in/code', { code: codeOf(secret) })).status).toBe(303);
});

test('turning codes on, turning them off and renewing recovery codes require recent authentication', async () => {
  const { visitor } = await turnedOn();
  app.clock.advance(11 * 60_000);
  await visitor.get('/account');
  for (const path of [setUp, `${setUp}/confirm`, `${setUp}/recovery-codes`, `${setUp}/off`])
    expect((await visitor.post(path)).to).toBe('/sign-in/again?to=%2Faccount');
  expect((await visitor.get(setUp)).to).toBe('/sign-in/again?to=%2Faccount%2Fone-time-codes');
});

test('after codes are turned off the password is enough, and the recovery codes are invalid', async () => {
  const { visitor, email, recovery } = await turnedOn();
  const begun = await halfway(email);
  await visitor.get('/account');
  expect((await visitor.post(setUp)).to).toBe('/account?wrong=codes-on');
  expect((await visitor.post(`${setUp}/off`)).to).toBe('/account?done=codes-off');
  expect((await begun.post('/sign-in/code', { code: recovery[0]! })).status).toBe(422);
  expect((await createVisitor(app).post('/sign-in', { email, password })).to).toBe('/');
});

test('another origin cannot send a code or turn codes off', async () => {
  const { visitor, email, secret } = await turnedOn();
  const foreign = { origin: 'https://evil.example' };
  const begun = await halfway(email);
  expect((await begun.post('/sign-in/code', { code: codeOf(secret) }, foreign)).status).toBe(403);
  await visitor.get('/account');
  expect((await visitor.post(`${setUp}/off`, {}, foreign)).status).toBe(403);
  expect((await visitor.post(`${setUp}/off`, { form_token: 'x' })).status).toBe(403);
});

test('a passkey needs no code, because it proves the device and its owner', async () => {
  const { visitor, email } = await turnedOn();
  const form_token = await formTokenOf(visitor);
  const authenticator = createAuthenticator(app.url);
  const { json: creationOptions } = await ask(app, visitor, '/account/passkeys/options', { form_token });
  await ask(app, visitor, '/account/passkeys', {
    ...{ form_token, name: 'Key', credential: authenticator.create(creationOptions) },
  });
  const other = createVisitor(app);
  const { json: options } = await ask(app, other, '/sign-in/passkey/options', {});
  await ask(app, other, '/sign-in/passkey', { credential: authenticator.get(options) });
  expect((await other.get('/account')).text).toContain(email);
});

test('the database stores neither a secret nor a recovery code in plain text', async () => {
  const { secret, recovery } = await turnedOn();
  const { readFileSync } = await import('node:fs');
  const bytes = ['tatami.db', 'tatami.db-wal'].map((name) =>
    readFileSync(`${app.dataDir}/${name}`, 'latin1'),
  );
  for (const text of [secret, recovery[0]!, recovery[0]!.replaceAll('-', '')])
    expect(bytes.some((file) => file.includes(text))).toBe(false);
});
