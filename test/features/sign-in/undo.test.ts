// A change that needs a recent sign-in cannot be made by undoing another one with an old sign-in.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { contracts } from '../../../core/features/contracts.ts';
import { sensitiveOperations } from '../../../core/kernel/rights/effects.ts';
import { startApp, type Client, type TestApp } from '../../app.ts';
import { installSchedule } from '../plugins/pack.ts';
import { bearerOf, signIn, type Person } from './person.ts';

const v1 = '/api/v1';
let app: TestApp;
let person: Person;
let memberId: string;

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());
beforeEach(async () => {
  const { json: admin } = await app.call('POST', `${v1}/members`, { name: 'Ana', role: 'admin' });
  person = await signIn(app, app.workspace, admin.id);
  memberId = (await app.call('POST', `${v1}/members`, { name: 'Ben', role: 'admin' })).json.id;
});

const client = async (): Promise<Client> => app.clientOf(await bearerOf(app, person));
const roleOf = async (id: string): Promise<string> =>
  (await app.call('GET', `${v1}/members/${id}`)).json.role;

/** Proposes and approves a change. @returns the id of the proposal */
async function approved(path: string, body: object): Promise<string> {
  const { json } = await app.call('PATCH', `${v1}/${path}`, body, { 'tatami-mode': 'propose' });
  const { status } = await (await client())('POST', `${v1}/proposals/${json.id}/approve`, {});
  expect(status).toBe(200);
  return json.id;
}

const refused = { status: 403, code: 'recent_sign_in_required' };
async function post(call: Client, path: string, headers?: Record<string, string>) {
  const { status, json } = await call('POST', `${v1}/${path}`, undefined, headers);
  return { status, code: json.error?.code };
}

test('an undo that changes a role needs a recent sign-in, also in a simulation', async () => {
  const id = await approved(`members/${memberId}`, { role: 'guest' });
  app.clock.advance(11 * 60_000);
  const call = await client();
  for (const mode of ['simulate', undefined]) {
    const headers = mode === undefined ? {} : { 'tatami-mode': mode };
    expect([mode, await post(call, `proposals/${id}/undo`, headers)]).toEqual([mode, refused]);
  }
  expect(await roleOf(memberId)).toBe('guest');
  expect((await app.call('POST', `${v1}/proposals/${id}/undo`)).status).toBe(200);
  expect(await roleOf(memberId)).toBe('admin');
});

test('an undo of an undo that changes a role needs a recent sign-in', async () => {
  const id = await approved(`members/${memberId}`, { role: 'guest' });
  const undone = await (await client())('POST', `${v1}/proposals/${id}/undo`);
  expect({ status: undone.status, role: await roleOf(memberId) }).toEqual({ status: 200, role: 'admin' });
  app.clock.advance(11 * 60_000);
  expect(await post(await client(), `undos/${undone.json.id}/undo`)).toEqual(refused);
  expect(await roleOf(memberId)).toBe('admin');
});

test('an undo of a change that needs no recent sign-in needs none', async () => {
  const { json: issue } = await app.call('POST', `${v1}/issues`, { team: 'ENG', title: 'Before' });
  const id = await approved(`issues/${issue.id}`, { title: 'After' });
  app.clock.advance(11 * 60_000);
  expect((await post(await client(), `proposals/${id}/undo`)).status).toBe(200);
  expect((await app.call('GET', `${v1}/issues/${issue.id}`)).json.title).toBe('Before');
});

test('an undo needs a recent sign-in for the redirect URIs of an OAuth app, and not for its name', async () => {
  const before = { name: 'Reports', redirectUris: ['https://example.com/a'] };
  const path = `oauth-apps/${(await app.call('POST', `${v1}/oauth-apps`, before)).json.id}`;
  const [moved, renamed] = [
    await approved(path, { redirectUris: ['https://example.com/b'] }),
    await approved(path, { name: 'Other' }),
  ];
  app.clock.advance(11 * 60_000);
  const call = await client();
  expect(await post(call, `proposals/${moved}/undo`)).toEqual(refused);
  expect((await post(call, `proposals/${renamed}/undo`)).status).toBe(200);
  expect((await app.call('GET', `${v1}/${path}`)).json).toMatchObject({
    name: 'Reports',
    redirectUris: ['https://example.com/b'],
  });
});

test('an undo needs a recent sign-in for the address of a webhook, and not for its description', async () => {
  const before = { url: 'https://9.9.9.9/a', events: ['issue.*'] };
  const path = `webhooks/${(await app.call('POST', `${v1}/webhooks`, before)).json.id}`;
  const [moved, described] = [
    await approved(path, { url: 'https://9.9.9.9/b' }),
    await approved(path, { description: 'Moved' }),
  ];
  app.clock.advance(11 * 60_000);
  const call = await client();
  expect(await post(call, `proposals/${moved}/undo`)).toEqual(refused);
  expect((await post(call, `proposals/${described}/undo`)).status).toBe(200);
  expect((await app.call('GET', `${v1}/${path}`)).json).toMatchObject({
    ...{ url: 'https://9.9.9.9/b', description: '' },
  });
});

test('an undo of a change of a plugin needs a recent sign-in', async () => {
  const pluginId = 'com.test.recent';
  await installSchedule(app.call, pluginId, '() => {}');
  const id = await approved(`plugins/${pluginId}`, { mode: 'simulate' });
  app.clock.advance(11 * 60_000);
  expect(await post(await client(), `proposals/${id}/undo`)).toEqual(refused);
  expect((await app.call('GET', `${v1}/plugins/${pluginId}`)).json.mode).toBe('simulate');
});

test('a proposal with a sensitive change can be recalculated, and not approved, with an old sign-in', async () => {
  const { json } = await app.call(
    'PATCH',
    `${v1}/members/${memberId}`,
    { role: 'guest' },
    { 'tatami-mode': 'propose' },
  );
  app.clock.advance(11 * 60_000);
  const call = await client();
  expect((await post(call, `proposals/${json.id}/rerun`)).status).toBe(200);
  expect(await post(call, `proposals/${json.id}/approve`)).toEqual(refused);
});

test('an undo of every entity with a sensitive operation performs that operation', () => {
  const sensitive = contracts.filter(({ path }) =>
    ['update', 'delete', 'restore'].some((name) => sensitiveOperations.has(`${path}.${name}`)),
  );
  expect(sensitive.filter(({ undo }) => undo === 'values').map(({ name }) => name)).toEqual([]);
  expect(sensitive.map(({ name }) => name)).toEqual(expect.arrayContaining(['member', 'webhook']));
});
