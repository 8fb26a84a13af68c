// `tatami login` at a real server, by signed-in people: permissions of a login, its end, and the choices of the person.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addMembershipOp } from '../../core/features/people/accounts.ts';
import { startApp, type Json, type TestApp } from '../app.ts';
import { signIn, type Person } from '../features/sign-in/person.ts';
import { browserOf, consent, formOf, type Browser } from '../features/oauth/client.ts';
import { collect, spawnTatami, tatami, temporary, type CliResult } from './tatami.ts';

const dir = temporary();
const config = dir.path('config');
const env = { XDG_CONFIG_HOME: config };
const run = (...args: string[]) => tatami(args, env);

let app: TestApp;
let person: Person;
let browser: Browser;
/** Runs beside the other tests, because the device flow polls every five seconds. */
let byCode: Promise<CliResult>;
beforeAll(async () => {
  app = await startApp();
  person = await signIn(app);
  browser = await browserOf(app, person);
  byCode = logInByCode();
});
beforeEach(() => rmSync(config, { recursive: true, force: true }));
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

const storedLogins = (): Json[] =>
  JSON.parse(readFileSync(join(config, 'tatami/credentials.json'), 'utf8')).logins;

/** @param change modifies the form of the consent page */
async function logIn(args: string[] = [], change?: (form: URLSearchParams) => void): Promise<CliResult> {
  const child = spawnTatami(['login', '--server', app.url, '--json', ...args], env);
  const said = collect(child.stderr);
  await said.until((text) => /code_challenge=\S+\s/.test(text));
  const address = new URL(/http:\S+authorize\S+/.exec(said.text())?.[0] ?? '');
  const back = await consent(browser, address.pathname + address.search, change);
  const { status } = await fetch(back);
  expect(status).toBe(200);
  const out = await new Response(child.stdout).text();
  return { code: await child.exited, out, err: said.text(), json: JSON.parse(out) };
}

async function logInByCode(): Promise<CliResult> {
  const child = spawnTatami(['login', '--server', app.url, '--device', '--json'], {
    XDG_CONFIG_HOME: dir.path('other'),
  });
  const said = collect(child.stderr);
  await said.until((text) => /code +\S+/.test(text));
  const code = /code +(\S+)/.exec(said.text())?.[1] ?? '';
  const form = formOf(await browser.get('/device'));
  form.set('user_code', code);
  const ask = formOf(await browser.post('/device', form));
  ask.set('decision', 'allow');
  expect((await browser.post('/device', ask)).status).toBe(200);
  const out = await new Response(child.stdout).text();
  return { code: await child.exited, out, err: said.text(), json: JSON.parse(out) };
}

const statusOf = async (token: string): Promise<number> =>
  (await app.clientOf(token)('GET', '/api/v1/me')).status;
/** Grants of browser logins, newest first. */
const grants = async (): Promise<Json[]> =>
  (await app.call('GET', '/api/v1/grants')).json.data.filter(
    ({ redirectHost }: Json) => redirectHost !== null,
  );
/** Sets the expiry of the access token, in seconds from now. */
function endIn(seconds: number): void {
  const logins = storedLogins().map((login) => ({
    ...login,
    expiresAt: new Date(Date.now() + seconds * 1000).toISOString(),
  }));
  writeFileSync(join(config, 'tatami/credentials.json'), JSON.stringify({ version: 1, logins }));
}

test('a person logs in with the browser, commands act for them, and logout revokes the grant at the server', async () => {
  const { code, json } = await logIn();
  expect([code, json]).toMatchObject([
    0,
    { server: app.url, workspace: { name: 'Acme' }, member: { id: person.memberId, name: 'Acme owner' } },
  ]);
  expect((await run('whoami', '--json')).json).toMatchObject({
    server: app.url,
    member: { role: 'owner' },
    by: 'login',
    scopes: expect.arrayContaining(['issues:read', 'issues:write']),
  });
  expect((await run('plugins', 'list')).code).toBe(0);
  const [grant] = await grants();
  expect(grant).toMatchObject({
    client: { id: 'tatami-cli', name: 'Tatami command line' },
    resource: 'api',
    redirectHost: '127.0.0.1',
    revokedAt: null,
  });
  const [{ accessToken }] = storedLogins();
  expect(await statusOf(accessToken)).toBe(200);
  expect((await run('logout')).out).toBe(`Logged out of Acme at ${app.url}.\n`);
  expect(await statusOf(accessToken)).toBe(401);
  expect((await grants())[0].revokedAt).not.toBeNull();
  expect(storedLogins()).toEqual([]);
});

test('a login has the requested scopes, minus those that the person removed', async () => {
  const { json } = await logIn(['--scopes', 'issues:write,labels:read'], (form) =>
    form.delete('scope', 'labels:read'),
  );
  expect(json.scopes).toEqual(['issues:write']);
  const { code, err } = await run('webhooks', 'list');
  expect([code, err]).toEqual([1, expect.stringContaining('log in again')]);
});

test('a login decides on no proposal, and prints the page on which the person does', async () => {
  const issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Typo' })).json;
  const propose = async (patch: object): Promise<string> =>
    (await app.call('PATCH', `/api/v1/issues/${issue.id}`, patch, { 'tatami-mode': 'propose' })).json.id;
  const ids = [await propose({ priority: 'high' }), await propose({ title: 'Tpyo' })];
  const pages = ids.map((id) => `${app.url}/proposals/${id}`);
  await logIn();
  const single = ['approve', 'reject', 'rerun'].map((verb) => ['proposals', verb, ids[0]!]);
  for (const args of single) {
    const { code, err } = await run(...args, ...(args[1] === 'reject' ? ['--reason', 'No.'] : []));
    expect([args, code, err]).toEqual([args, 1, expect.stringContaining(`Decide on ${pages[0]}, or pass`)]);
  }
  const all = await run('proposals', 'approve', '--all', '--yes');
  expect([all.code, all.out]).toEqual([1, '']);
  for (const page of pages) {
    expect(all.err).toContain(`\n  ${page}\n`);
    expect((await browser.get(new URL(page).pathname)).status).toBe(200);
  }
  const { json } = await app.call('GET', '/api/v1/proposals?status=open');
  expect(json.data.map(({ id }: Json) => id).toSorted()).toEqual(ids.toSorted());
});

test('a login that the person refused is not stored', async () => {
  const child = spawnTatami(['login', '--server', app.url], env);
  const said = collect(child.stderr);
  await said.until((text) => /code_challenge=\S+\s/.test(text));
  const address = new URL(/http:\S+authorize\S+/.exec(said.text())?.[0] ?? '');
  const back = await consent(browser, address.pathname + address.search, (form) =>
    form.set('decision', 'deny'),
  );
  expect(await (await fetch(back)).text()).toContain('Login denied');
  expect(await child.exited).toBe(1);
});

test('eight concurrent commands at the expiry of a token renew it once, so that the login stays valid', async () => {
  await logIn();
  const { accessToken } = storedLogins()[0];
  for (const seconds of [5, -5]) {
    endIn(seconds);
    const all = await Promise.all(Array.from({ length: 8 }, () => run('whoami')));
    expect(all.map(({ code, err }) => [code, err])).toEqual(all.map(() => [0, '']));
  }
  expect(storedLogins()[0].accessToken).not.toBe(accessToken);
});

test('a revoked login fails the next command, which names the login command', async () => {
  await logIn();
  const [{ id }] = await grants();
  const revoked = await tatami(['grants', 'revoke', id, '--yes', '--server', app.url], {
    TATAMI_TOKEN: app.workspace.apiKey,
  });
  expect(revoked.code).toBe(0);
  const { code, err } = await run('whoami');
  expect([code, err]).toEqual([4, expect.stringContaining(`login --server ${app.url}`)]);
  expect(storedLogins()).toEqual([]);
});

test("each workspace has a separate login, for the person's member in it", async () => {
  const beta = await app.addWorkspace('Beta', 'OPS');
  await app.services.store.commit([
    addMembershipOp(person.accountId, beta.workspaceId, beta.userId, app.services.nowMs()),
  ]);
  for (const { workspaceId } of [app.workspace, beta])
    await logIn([], (form) => form.set('workspace', workspaceId));
  expect((await run('whoami', '--json')).json.workspace.name).toBe('Beta');
  expect((await run('use', 'acme')).code).toBe(0);
  const { json, err } = await run('whoami', '--json');
  expect([json.workspace.name, json.member.id]).toEqual(['Acme', person.memberId]);
  expect(err).toContain('the workspace Acme');
});

test('without a browser the person enters a code on another device', async () => {
  const { code, json, err } = await byCode;
  expect([code, json]).toMatchObject([0, { workspace: { name: 'Acme' }, member: { id: person.memberId } }]);
  expect(err).toContain(`${app.url}/device`);
});

test('a token that the server no longer accepts is renewed once, regardless of the clocks', async () => {
  await logIn();
  app.clock.advance(3_600_000);
  expect(await statusOf(storedLogins()[0].accessToken)).toBe(401);
  expect((await run('whoami')).code).toBe(0);
});
