import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allScopes } from '../../../core/kernel/rights/table.ts';
import { startApp, type TestApp } from '../../app.ts';
import { createCommunity, pathOf, password, type Community } from '../sign-in/joined.ts';
import { createVisitor, saidBy } from '../sign-in/visitor.ts';

const dayMs = 86_400_000;
let app: TestApp;
let people: Community;

beforeAll(async () => {
  app = await startApp();
  people = createCommunity(app);
});
afterAll(() => app.stop());

test('an invitation of the first start creates the account of the owner, once, and signs in', async () => {
  const after = await app.lastSequence();
  const path = pathOf(app.workspace.setUpUrl);
  const ana = createVisitor(app);
  expect((await ana.get(path)).text).toContain('Join Acme');
  expect(await ana.post(path, { name: 'Ana', email: 'ana@acme.example', password })).toMatchObject({
    status: 303,
    to: '/welcome',
  });
  expect((await ana.get('/account')).text).toContain('ana@acme.example');
  const { json: owner } = await app.call('GET', '/api/v1/members/me');
  expect(owner).toMatchObject({ name: 'Ana', joinedAt: '2026-11-20T12:00:00.000Z' });
  expect(await app.eventTypes(after)).toEqual(['member.updated']);
  const { json: log } = await app.call('GET', '/api/v1/audit-log?limit=1');
  expect(log.data[0].actor).toMatchObject({ kind: 'user', id: owner.id, name: 'Ana' });
  const other = createVisitor(app);
  expect((await other.get(path)).status).toBe(404);
  expect((await other.post(path, { name: 'Eve', email: 'eve@acme.example', password })).status).toBe(404);
  expect((await app.call('POST', `/api/v1/members/${owner.id}/invitation`)).json.error).toMatchObject({
    code: 'conflict',
  });
});

test('an invitation is not used by GET, is replaced by a newer one, can be withdrawn, and expires after a week', async () => {
  const id = await people.addMember();
  const first = await people.invite(id);
  const visitor = createVisitor(app);
  for (let n = 0; n < 3; n++) expect((await visitor.get(first)).status).toBe(200);
  const second = await people.invite(id);
  expect((await visitor.get(first)).status).toBe(404);
  expect((await visitor.get(second)).status).toBe(200);
  expect((await app.call('DELETE', `/api/v1/members/${id}/invitation`)).status).toBe(204);
  expect((await visitor.get(second)).status).toBe(404);
  expect((await app.call('DELETE', `/api/v1/members/${id}/invitation`)).status).toBe(404);
  const third = await people.invite(id);
  app.clock.jump(7 * dayMs - 1);
  expect((await visitor.get(third)).status).toBe(200);
  app.clock.jump(1);
  const late = await visitor.post(third, { name: 'Late', email: 'late@acme.example', password });
  expect([late.status, (await visitor.get(third)).status]).toEqual([404, 404]);
  expect(late.text).toContain('does not work');
});

test('an invitation accepted concurrently adds one person', async () => {
  const path = await people.invite(await people.addMember());
  const answers = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      createVisitor(app).post(path, { name: 'Racer', email: `racer${n}@acme.example`, password }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404, 404, 404, 404, 404]);
  const winner = answers.findIndex(({ status }) => status === 303);
  // The losing requests left no account behind.
  for (let n = 0; n < 6; n++)
    expect((await people.signInOn(createVisitor(app), `racer${n}@acme.example`)).status).toBe(
      n === winner ? 303 : 422,
    );
});

test('an invitation requires the right to add a member of that role, and no plugin or other scope creates one', async () => {
  const asMember = app.clientOf(await keyOf(await people.addMember()));
  const other = await people.addMember();
  expect((await asMember('POST', `/api/v1/members/${other}/invitation`)).json.error.code).toBe('forbidden');
  const asAdmin = app.clientOf(await keyOf(await people.addMember({ role: 'admin' })));
  const owner = await people.addMember({ role: 'owner' });
  expect((await asAdmin('POST', `/api/v1/members/${other}/invitation`)).status).toBe(200);
  expect((await asAdmin('POST', `/api/v1/members/${owner}/invitation`)).json.error.code).toBe('forbidden');
  const foreign = await app.addWorkspace('Foreign', 'FOR');
  const missing = await app.call('POST', '/api/v1/members/usr_00000000000000000000000000/invitation');
  const theirs = await app.call('POST', `/api/v1/members/${foreign.userId}/invitation`);
  expect([theirs.status, theirs.json.error.message]).toEqual([404, missing.json.error.message]);
});

test('an invitation ends when the role of its member changes, because its creator may have the link', async () => {
  const id = await people.addMember();
  const asAdmin = app.clientOf(await keyOf(await people.addMember({ role: 'admin' })));
  const path = pathOf((await asAdmin('POST', `/api/v1/members/${id}/invitation`)).json.url);
  await app.call('PATCH', `/api/v1/members/${id}`, { name: 'Ben B.' });
  expect((await createVisitor(app).get(path)).status).toBe(200);
  await app.call('PATCH', `/api/v1/members/${id}`, { role: 'owner' });
  expect((await createVisitor(app).get(path)).status).toBe(404);
  const owners = await people.invite(id);
  await app.call('PATCH', `/api/v1/members/${id}`, { role: 'owner' });
  expect((await createVisitor(app).get(owners)).status).toBe(200);
});

test('an invitation is accepted by a signed-in account after confirmation, and a second membership in a workspace is rejected', async () => {
  const { visitor, email } = await people.joined();
  const other = await app.addWorkspace('Beta', 'BET');
  const path = pathOf(other.setUpUrl);
  expect((await visitor.get(path)).text).toContain(`(${email})`);
  expect(await visitor.post(path)).toMatchObject({ status: 303, to: '/welcome' });
  const again = await people.invite(await people.addMember());
  expect(saidBy(await visitor.get(again))).toContain('member of Acme already');
  await visitor.post(again);
  expect((await createVisitor(app).get(again)).status).toBe(200);
});

test('an invitation leads a person with an account to sign in, and no later URL contains the link', async () => {
  const { email } = await people.joined();
  const path = pathOf((await app.addWorkspace('Gamma', 'GAM')).setUpUrl);
  const visitor = createVisitor(app);
  await visitor.get(path);
  const leads = await visitor.post(path, { do: 'sign-in' });
  expect(leads.to).toBe('/sign-in?to=%2Fjoin');
  expect((await people.signInOn(visitor, email, password, '/join')).to).toBe('/join');
  expect((await visitor.get('/join')).text).toContain('Join Gamma');
  expect(await visitor.post('/join')).toMatchObject({ status: 303, to: '/welcome' });
  expect((await visitor.get('/join')).status).toBe(404);
});

test('an invitation rejects a short, common or guessable password and an address in use', async () => {
  const { email } = await people.joined();
  const path = await people.invite(await people.addMember());
  const asks = async (fields: Record<string, string>) => {
    const answer = await createVisitor(app).post(path, {
      name: 'Cleo',
      email: 'cleo@acme.example',
      password,
      ...fields,
    });
    return [answer.status, saidBy(answer)];
  };
  expect(await asks({ password: 'elevenchars' })).toEqual([422, expect.stringContaining('11 characters')]);
  expect(await asks({ password: 'x7'.repeat(80) })).toEqual([
    422,
    expect.stringContaining('longer than 128'),
  ]);
  for (const common of [
    'password12345',
    'Qwertyuiop123',
    'aaaaaaaaaaaa',
    'abcabcabcabcabc',
    '123456789012',
    'Passw0rd2024!',
  ])
    expect(await asks({ password: common })).toEqual([422, expect.stringContaining('too common')]);
  expect(await asks({ password: 'cleo@acme.example' })).toEqual([
    422,
    expect.stringContaining('your name or address'),
  ]);
  expect(await asks({ email: email.toUpperCase() })).toEqual([422, expect.stringContaining('Sign in to it')]);
  expect(await asks({ email: 'nobody' })).toEqual([422, expect.stringContaining('e-mail address')]);
  expect(await asks({ name: ' ' })).toEqual([422, expect.stringContaining('name')]);
  expect(await asks({ password: 'ünïcödé ßtraße 12' })).toEqual([303, '']);
});

test('an invitation is stored as a hash only, and appears in no log', async () => {
  const path = await people.invite(await people.addMember());
  const open = await people.invite(await people.addMember());
  const visitor = createVisitor(app);
  await visitor.post(path, { name: 'Dan', email: 'dan@acme.example', password });
  const secrets = [path, open].map((link) => link.slice('/join/'.length));
  secrets.push(visitor.cookies.get('__Host-tatami')!, password);
  const { Database } = await import('bun:sqlite');
  using db = new Database(`${app.dataDir}/tatami.db`, { readonly: true });
  const rows = JSON.stringify([
    db.query('SELECT * FROM invitations').all(),
    db.query('SELECT * FROM accounts').all(),
    db.query('SELECT * FROM sessions').all(),
  ]);
  for (const secret of secrets)
    expect(rows.includes(secret) || JSON.stringify(app.logs).includes(secret)).toBe(false);
  expect(rows).toContain('$argon2id$v=19$m=19456,t=2,p=1$');
});

test('an error while a link is opened is logged without the link', async () => {
  const path = await people.invite(await people.addMember());
  const { store } = app.services;
  const { readSystem } = store;
  store.readSystem = () => Promise.reject(new Error('broken on purpose'));
  const answer = await createVisitor(app).get(path);
  store.readSystem = readSystem;
  expect(answer.status).toBe(500);
  const logged = app.logs.filter(({ message }) => message === 'request failed');
  expect(logged.at(-1)?.fields).toMatchObject({ path: '/join/{token}' });
  expect(JSON.stringify(app.logs)).not.toContain(path);
});

async function keyOf(memberId: string): Promise<string> {
  const body = { name: 'k', scopes: allScopes, memberId };
  return (await app.call('POST', '/api/v1/api-keys', body)).json.key;
}
