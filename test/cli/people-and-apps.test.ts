// `tatami members`, `oauth-apps` and `grants` over the server, with a key, or with a login where apps are allowed.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../app.ts';
import { browserOf, registerApp, tokensOf } from '../features/oauth/client.ts';
import { tatami } from './tatami.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const env = () => ({ TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });
const run = (...args: string[]) => tatami([...args, '--json'], env());
const said = (...args: string[]) => tatami(args, env());

test('whoami shows the member of a key', async () => {
  const { json } = await run('whoami');
  expect(json).toMatchObject({
    server: app.url,
    workspace: { id: app.workspace.workspaceId, name: 'Acme' },
    member: { id: app.workspace.userId, role: 'owner' },
    by: 'key',
    expiresAt: null,
  });
  expect((await said('whoami')).out).toContain('by         an API key\n');
});

test('a new member is invited by address, with a role; a second invitation gives another link and no second member', async () => {
  const invite = ['members', 'invite', 'ben@acme.example', '--role', 'admin', '--name', 'Ben'];
  const { code, json } = await run(...invite);
  expect([code, json]).toMatchObject([
    0,
    { member: { name: 'Ben', email: 'ben@acme.example', role: 'admin' }, sentTo: null },
  ]);
  expect(json.url).toStartWith(`${app.url}/join/`);
  const again = await said(...invite);
  expect(again.code).toBe(0);
  expect(again.out).toContain('nobody: share the link yourself');
  const listed = (await run('members', 'list')).json;
  expect(listed.map(({ name, role, joinedAt }: Json) => [name, role, joinedAt])).toContainEqual([
    'Ben',
    'admin',
    null,
  ]);
  expect(listed.filter(({ name }: Json) => name === 'Ben')).toHaveLength(1);
  expect((await said('members', 'list')).out).toMatch(/^usr_\S+ +Ben +admin +ben@acme\.example\b/m);
});

test('a guest lists members by name and role, and an admin sees the teams of guests', async () => {
  const invited = await run('members', 'invite', 'gus@acme.example', '--role', 'guest', '--teams', 'ENG');
  const { id } = invited.json.member;
  expect((await said('members', 'list')).out).toMatch(/^usr_\S+ +gus +guest +gus@acme\.example +ENG\b/m);
  const scopes = ['members:read'];
  const { json } = await app.call('POST', '/api/v1/api-keys', { name: 'guest', scopes, memberId: id });
  const { code, out } = await tatami(['members', 'list'], { ...env(), TATAMI_TOKEN: json.key });
  expect([code, out]).toEqual([0, expect.stringMatching(/^usr_\S+ +Acme owner +owner\b/m)]);
});

test('a member is identified by address, name or id, and can be given another role or removed', async () => {
  await run('members', 'invite', 'cleo@acme.example');
  const { json } = await run('members', 'update', 'CLEO@acme.example', '--role', 'guest', '--teams', 'ENG');
  expect(json).toMatchObject({ name: 'cleo', role: 'guest', teams: ['ENG'] });
  const wrong = await said('members', 'update', 'cleo', '--role', 'boss');
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('guest, member, admin, owner')]);
  const unsaid = await said('members', 'remove', 'cleo');
  expect([unsaid.code, unsaid.err]).toEqual([2, expect.stringContaining('--yes')]);
  expect((await said('members', 'remove', 'cleo', '--yes')).out).toBe(`Done: remove a member (cleo).\n`);
  const { code, err } = await said('members', 'remove', 'cloe@acme.example', '--yes');
  expect([code, err]).toEqual([1, expect.stringContaining('There is no member cloe@acme.example.')]);
});

test('an app is registered, its secret is shown once, rotated with an overlap, and the app is deleted', async () => {
  const { code, json } = await run(
    ...['apps', 'create', '--name', 'Burndown', '--confidential'],
    ...['--redirect-uris', 'https://a.example/cb,https://b.example/cb'],
  );
  expect([code, json]).toMatchObject([
    0,
    { name: 'Burndown', redirectUris: ['https://a.example/cb', 'https://b.example/cb'], confidential: true },
  ]);
  const listed = await said('apps', 'list');
  expect(listed.out).toContain(json.id);
  expect(listed.out).not.toContain(json.secret);
  const rotated = (await run('apps', 'rotate-secret', 'burndown', '--grace-hours', '2')).json;
  expect(rotated.secret).not.toBe(json.secret);
  expect(Date.parse(rotated.previousSecretExpiresAt)).toBe(app.clock.nowMs() + 2 * 3_600_000);
  expect((await said('apps', 'delete', json.id, '--yes')).code).toBe(0);
  expect((await run('apps', 'list')).json).toEqual([]);
  expect((await run('apps', 'create', '--name', 'x')).code).toBe(2);
  const open = await said('apps', 'create', '--name', 'Open', '--redirect-uris', 'https://a.example/cb');
  expect([open.code, open.err]).toEqual([0, expect.not.stringContaining('shown only once')]);
});

test('the grants of an app are listed and revoked, and its token ends', async () => {
  const client = await registerApp(app);
  const { access_token: token } = await tokensOf(app, client, { browser: await browserOf(app) });
  const readMe = () => app.clientOf(token)('GET', '/api/v1/me');
  expect((await readMe()).status).toBe(200);
  const [grant] = (await run('grants', 'list')).json;
  expect(grant.client.name).toBe('Burndown');
  expect((await said('grants', 'list')).out).toMatch(
    /^grt_\S+ +Burndown +Acme owner +api +issues:write, comments:read/m,
  );
  expect((await said('grants', 'revoke', grant.id, '--yes')).code).toBe(0);
  expect((await readMe()).status).toBe(401);
  expect((await run('grants', 'list')).json).toMatchObject([{ id: grant.id, revokedAt: expect.any(String) }]);
  const again = await said('grants', 'revoke', grant.id, '--yes');
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('tatami grants list')]);
});
