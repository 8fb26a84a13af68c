// `tatami login` and its credentials file: the file is private, tokens go to one server only, and concurrent commands
// do not spend each other's refresh token.
import { afterAll, beforeEach, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../app.ts';
import { asUsual, startAuthorizationServer } from './authorization-server.ts';
import { collect, spawnTatami, tatami, temporary } from './tatami.ts';

const dir = temporary();
const server = startAuthorizationServer();
const other = startAuthorizationServer();
other.behaviour.workspace = 'Beta';
const config = dir.path('config');
const file = join(config, 'tatami/credentials.json');
/** BROWSER separates words by spaces, and the path of the checkout may contain spaces. */
const browser = `${dir.path('bun')} ${dir.path('browser-process.ts')}`;
symlinkSync(process.execPath, dir.path('bun'));
symlinkSync(join(import.meta.dir, 'browser-process.ts'), dir.path('browser-process.ts'));

beforeEach(() => {
  rmSync(config, { recursive: true, force: true });
  for (const { refreshed, revoked, presentedTokens, behaviour } of [server, other]) {
    for (const list of [refreshed, revoked, presentedTokens]) list.length = 0;
    Object.assign(behaviour, { ...asUsual, device: [] });
  }
});
afterAll(() => {
  for (const open of [server, other, dir]) open[Symbol.dispose]();
});

const env = { XDG_CONFIG_HOME: config };
const run = (...args: string[]) => tatami(args, { ...env, BROWSER: browser });
const logIn = (to = server) => run('login', '--server', to.url, '--json');
const storedLogins = (): Json[] => JSON.parse(readFileSync(file, 'utf8')).logins;

/** Sets the expiry of the access token, in seconds from now. */
function endIn(seconds: number): void {
  const logins = storedLogins().map((login) => ({
    ...login,
    expiresAt: new Date(Date.now() + seconds * 1000).toISOString(),
  }));
  writeFileSync(file, JSON.stringify({ version: 1, logins }));
}

test('a person approves the login in the browser, and the tokens are only in a private file', async () => {
  const { code, json, out, err } = await logIn();
  expect([code, json]).toEqual([
    0,
    {
      server: server.url,
      workspace: { id: 'id of Acme', name: 'Acme' },
      member: { id: 'usr_ana', name: 'Ana' },
      scopes: ['issues:read', 'issues:write'],
    },
  ]);
  expect([file, join(config, 'tatami')].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o700]);
  const [{ accessToken, refreshToken }] = storedLogins();
  expect(server.presentedTokens).toEqual([accessToken]);
  for (const token of [accessToken, refreshToken]) expect(out + err).not.toContain(token);
  expect(err).toContain(`${server.url}/oauth/authorize?`);

  const me = await run('whoami', '--json');
  expect(me.json).toMatchObject({
    server: server.url,
    workspace: { name: 'Acme' },
    member: { name: 'Ana', role: 'owner' },
    by: 'login',
    scopes: ['issues:read', 'issues:write'],
    expiresAt: storedLogins()[0].expiresAt,
  });
});

test('BROWSER lists programs in order of preference, with the address among their arguments; no shell is involved', async () => {
  const markerFile = dir.path('made-by-a-shell');
  const choices = [`touch-nothing;touch ${markerFile}`, `${browser} %s`].join(':');
  const { code } = await tatami(['login', '--server', server.url], { ...env, BROWSER: choices });
  expect(code).toBe(0);
  expect(existsSync(markerFile)).toBe(false);

  const child = spawnTatami(['login', '--server', server.url], env);
  const said = collect(child.stderr);
  await said.until((text) => text.includes('/oauth/authorize?'));
  expect(said.text()).toContain('--device');
  child.kill('SIGINT');
  expect(await child.exited).toBe(130);
});

test('without a browser a code completes the login, even if the server asks to slow down', async () => {
  server.behaviour.device = ['authorization_pending', 'authorization_pending'];
  const { code, err } = await run('login', '--device', '--server', server.url);
  expect(code).toBe(0);
  expect(err).toContain(`${server.url}/device`);
  expect(err).toContain('WDJB-MJHT');
  expect(storedLogins()).toHaveLength(1);
});

const refusals: [string, string, string][] = [
  ['was refused by the person', 'access_denied', 'denied in the browser'],
  ['is too late', 'expired_token', 'in time'],
];
test.each(refusals)('a code that %s gives no login', async (_, error, words) => {
  server.behaviour.device = [error];
  const { code, err } = await run('login', '--device', '--server', server.url);
  expect([code, err]).toEqual([1, expect.stringContaining(words)]);
  expect(existsSync(file)).toBe(false);
});

test('Ctrl-C ends the wait', async () => {
  server.behaviour.device = Array.from({ length: 10_000 }, () => 'authorization_pending');
  const child = spawnTatami(['login', '--device', '--server', server.url], env);
  const said = collect(child.stderr);
  await said.until((text) => text.includes('WDJB-MJHT'));
  child.kill('SIGINT');
  expect(await child.exited).toBe(130);
});

test('a request of another page to the local port is rejected, and the login continues', async () => {
  const child = spawnTatami(['login', '--server', server.url, '--json'], env);
  const said = collect(child.stderr);
  await said.until((text) => /code_challenge=\S+\s/.test(text));
  const address = new URL(/http:\S+authorize\S+/.exec(said.text())?.[0] ?? '');
  const callback = address.searchParams.get('redirect_uri') ?? '';
  expect(callback).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  const statusOf = async (to: string, init?: RequestInit) => (await fetch(to, init)).status;
  expect([
    await statusOf(callback),
    await statusOf(`${callback}?code=stolen&state=guessed`),
    await statusOf(`${callback}?code=x&state=${address.searchParams.get('state')}`, { method: 'POST' }),
    await statusOf(`${callback}?code=x&state=${address.searchParams.get('state')}`, {
      headers: { host: 'rebound.example' },
    }),
    await statusOf(new URL('/', callback).href),
  ]).toEqual([400, 400, 404, 404, 404]);
  const page = await fetch(address);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('You can close this page');
  expect(await child.exited).toBe(0);
});

const impostors: [string, () => void][] = [
  ['of another server (RFC 9207)', () => (server.behaviour.redirect = { iss: 'https://evil.example' })],
  ['without an issuer', () => (server.behaviour.redirect = { iss: null })],
];
test.each(impostors)('a code %s is not exchanged', async (_, pretend) => {
  pretend();
  expect((await logIn()).code).toBe(1);
  expect(existsSync(file)).toBe(false);
});

test('a server whose metadata name another server is rejected', async () => {
  server.behaviour.metadata = { token_endpoint: `${other.url}/oauth/token` };
  const { code, err } = await logIn();
  expect([code, err]).toEqual([1, expect.stringContaining('another server')]);
  server.behaviour.metadata = { issuer: other.url };
  const refused = await logIn();
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining(`login --server ${other.url}`)]);
});

test('login to an unencrypted server is rejected, unless it is this machine', async () => {
  const { code, err } = await run('login', '--server', 'http://tatami.example');
  expect([code, err]).toEqual([2, expect.stringContaining('https')]);
});

test('eight concurrent commands renew an access token once, and the login stays valid', async () => {
  await logIn();
  endIn(5);
  const first = storedLogins()[0].refreshToken;
  const answers = await Promise.all(Array.from({ length: 8 }, () => run('whoami', '--json')));
  expect(answers.map(({ code }) => code)).toEqual(Array.from({ length: 8 }, () => 0));
  expect(server.refreshed).toEqual([first]);
  endIn(5);
  expect((await run('whoami')).code).toBe(0);
  expect(server.refreshed).toHaveLength(2);
});

test('an interrupt does not lose tokens that the server has just issued', async () => {
  await logIn();
  endIn(5);
  const { promise, resolve } = Promise.withResolvers<void>();
  server.behaviour.dawdle = promise;
  const child = spawnTatami(['whoami'], env);
  while (server.refreshed.length === 0) await Bun.sleep(5);
  child.kill('SIGINT');
  await Bun.sleep(50);
  resolve();
  expect(await child.exited).toBe(130);
  expect(storedLogins()[0].refreshToken).not.toBe(server.refreshed[0]);
  expect((await run('whoami')).code).toBe(0);
});

test('a server that cannot renew a token now does not end the login', async () => {
  await logIn();
  endIn(5);
  server.behaviour.status = 503;
  expect((await run('whoami')).code).toBe(75);
  server.behaviour.status = 0;
  expect((await run('whoami')).code).toBe(0);
});

test('an ended login is removed, and the message names the login command', async () => {
  await logIn();
  endIn(-5);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/refresh-\d+/, 'refresh-of-nobody'));
  const { code, err } = await run('whoami');
  expect([code, err]).toEqual([4, expect.stringContaining(`login --server ${server.url}`)]);
  expect(storedLogins()).toEqual([]);
});

test('a credentials file that others can read, or of another format, is not used, and the message names the remedy', async () => {
  await logIn();
  chmodSync(file, 0o640);
  const open = await run('whoami');
  expect([open.code, open.err]).toEqual([1, expect.stringContaining(`chmod 600 ${file}`)]);
  expect(server.presentedTokens).toHaveLength(1);
  const elsewhere = dir.path('elsewhere.json');
  writeFileSync(elsewhere, readFileSync(file), { mode: 0o600 });
  rmSync(file);
  symlinkSync(elsewhere, file);
  expect((await run('whoami')).err).toContain('symbolic link');
  rmSync(file);
  writeFileSync(file, '{"version":1,"logins":[{}]}', { mode: 0o600 });
  expect((await run('whoami')).err).toContain('Remove it');
});

test.skipIf(process.geteuid?.() !== 0)('a file of another user is not used (needs root)', async () => {
  await logIn();
  chownSync(file, 65_534, 65_534);
  expect((await run('whoami')).err).toContain('belongs to another user');
});

const isLong = process.env.TATAMI_LONG !== undefined;
test.skipIf(!isLong)(
  'a server that asks to slow down is polled five seconds later (RFC 8628 §3.5)',
  async () => {
    server.behaviour.device = ['slow_down'];
    const startMs = performance.now();
    expect((await run('login', '--device', '--server', server.url)).code).toBe(0);
    expect(performance.now() - startMs).toBeGreaterThan(5_000);
  },
);

test('each server gets its own tokens, and `use` selects one', async () => {
  await logIn();
  await logIn(other);
  expect((await run('use', '--json')).json.map(({ server: at, isCurrent }: Json) => [at, isCurrent])).toEqual(
    [
      [other.url, true],
      [server.url, false],
    ],
  );
  const here = await run('whoami');
  expect(here.out).toContain('Beta');
  expect(here.err).toContain(`Using the server ${other.url} and the workspace Beta`);
  expect((await run('whoami', '--server', `${server.url}/`)).out).toContain('Acme');
  expect((await run('use', 'acme')).out).toStartWith('* Acme');
  expect((await run('whoami')).out).toContain('Acme');
  expect((await run('use', new URL(other.url).host)).out).toStartWith('* Beta');
  const unknown = await run('use', 'Gamma');
  expect([unknown.code, unknown.err]).toEqual([4, expect.stringContaining('Acme at')]);
  const [beta, acme] = storedLogins();
  expect(new Set(server.presentedTokens)).toEqual(new Set([acme.accessToken]));
  expect(new Set(other.presentedTokens)).toEqual(new Set([beta.accessToken]));
});

test('an API key takes precedence over the login, and is never sent to a server known only from the login', async () => {
  await logIn();
  const presentedTokens = server.presentedTokens.length;
  const { code, err } = await tatami(['whoami'], { ...env, TATAMI_TOKEN: 'ttm_a_key' });
  // No server responds at the default address, or one that does not know the key.
  expect(code).not.toBe(0);
  expect(err).not.toContain(server.url);
  expect(server.presentedTokens).toHaveLength(presentedTokens);
  await tatami(['whoami', '--server', server.url, '--token', 'ttm_a_key'], env);
  expect(server.presentedTokens.at(-1)).toBe('ttm_a_key');
  const set = { ...env, BROWSER: browser, TATAMI_TOKEN: 'ttm_a_key' };
  expect((await tatami(['login', '--server', server.url], set)).err).toContain('TATAMI_TOKEN is set');
});

test('logout revokes the login at the server and names the next active one', async () => {
  await logIn();
  await logIn(other);
  const { refreshToken } = storedLogins()[0];
  const { code, out, err } = await run('logout');
  expect([code, out]).toEqual([0, `Logged out of Beta at ${other.url}.\n`]);
  expect(err).toContain(`Acme at ${server.url}`);
  expect(other.revoked).toEqual([refreshToken]);
  expect((await run('logout', '--all', '--json')).json).toEqual([
    { server: server.url, workspace: { id: 'id of Acme', name: 'Acme' } },
  ]);
  expect(server.revoked).toHaveLength(1);
  expect(storedLogins()).toEqual([]);
  expect((await run('logout')).code).toBe(4);
});

test('logout succeeds for an unreachable server and reports the unrevoked token', async () => {
  const gone = startAuthorizationServer();
  await logIn(gone);
  gone[Symbol.dispose]();
  const { code, err } = await run('logout');
  expect([code, err]).toEqual([75, expect.stringContaining('not revoked at the server')]);
  expect(storedLogins()).toEqual([]);
});

test('a second login to the same workspace revokes the first', async () => {
  await logIn();
  const { refreshToken } = storedLogins()[0];
  await logIn();
  expect(storedLogins()).toHaveLength(1);
  expect(server.revoked).toEqual([refreshToken]);
});

test('fewer scopes can be requested, and unknown ones are rejected', async () => {
  const { code, err } = await run('login', '--server', server.url, '--scopes', 'isues:read');
  expect([code, err]).toEqual([2, expect.stringContaining('Did you mean issues:read?')]);
});
