// Consent creates lasting access, so it needs a recent sign-in.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { proveAgain, signIn } from '../sign-in/person.ts';
import { ask, authorizePath, browserOf, formOf, pkce, registerApp, type Client } from './client.ts';

let app: TestApp;
let client: Client;
const commandLine: Client = { id: 'tatami-cli', secret: null, redirectUri: 'http://127.0.0.1/callback' };
beforeAll(async () => {
  app = await startApp();
  client = await registerApp(app);
});
afterAll(() => app.stop());

test('consent needs a recent sign-in, and the confirmation leads back to the same request', async () => {
  const { json: member } = await app.call('POST', '/api/v1/members', { name: 'Ana' });
  const ana = await signIn(app, app.workspace, member.id);
  const late = await browserOf(app, ana);
  const { location } = await late.get(authorizePath(client, pkce().challenge));
  const at = new URL(location!, app.url).pathname;
  const again = `${app.url}/sign-in/again?${new URLSearchParams({ to: at }).toString()}`;
  const page = await late.get(at);
  const form = formOf(page);
  form.set('decision', 'allow');
  app.clock.advance(10 * 60_000);
  const before = await app.lastSequence();
  expect(await late.get(at)).toMatchObject({ status: 303, location: again });
  expect(await late.post(at, form)).toMatchObject({ status: 303, location: again });
  expect(await app.eventTypes(before)).toEqual([]);
  await proveAgain(app, ana);
  expect((await late.get(at)).text).toBe(page.text);
  const answer = await late.post(at, form);
  expect((await late.get(answer.location!)).location).toStartWith(client.redirectUri);
  expect(await app.eventTypes(before)).toEqual(['grant.created']);
});

test('an authorization request is denied without a recent sign-in', async () => {
  const { json: member } = await app.call('POST', '/api/v1/members', { name: 'Ben' });
  const late = await browserOf(app, await signIn(app, app.workspace, member.id));
  const { location } = await late.get(authorizePath(client, pkce().challenge));
  const form = formOf(await late.get(location!));
  form.set('decision', 'deny');
  app.clock.advance(10 * 60_000);
  const answer = await late.post(location!, form);
  expect((await late.get(answer.location!)).location).toContain('error=access_denied');
});

test('a device is connected only with a recent sign-in, and its code stays in the form', async () => {
  const { json: member } = await app.call('POST', '/api/v1/members', { name: 'Ana' });
  const ana = await signIn(app, app.workspace, member.id);
  const late = await browserOf(app, ana);
  app.clock.advance(9 * 60_000);
  const { user_code: code } = (await ask(app, '/oauth/device', commandLine, {})).json;
  const path = `/device?user_code=${code}`;
  const again = `${app.url}/sign-in/again?${new URLSearchParams({ to: path }).toString()}`;
  const typed = formOf(await late.get(path));
  const form = formOf(await late.post('/device', typed));
  form.set('decision', 'allow');
  app.clock.advance(60_000);
  for (const answer of [
    await late.get(path),
    await late.post('/device', typed),
    await late.post('/device', form),
  ])
    expect(answer).toMatchObject({ status: 303, location: again });
  await proveAgain(app, ana);
  expect(formOf(await late.get(path)).get('user_code')).toBe(code);
  expect((await late.post('/device', form)).text).toContain('Your device is connected');
});
