// Automations in a real browser.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createSystemClock, startApp, type Json, type TestApp } from '../app.ts';
import { runInNode } from '../browser/run.ts';
import { signIn } from '../features/sign-in/person.ts';

let app: TestApp;
let seen: Json;
beforeAll(async () => {
  app = await startApp({ clock: createSystemClock() });
}, 60_000);
afterAll(() => app.stop());

const post = async (path: string, body: object): Promise<Json> => (await app.call('POST', `/api/v1${path}`, body)).json;

/** Creates an issue whose priority a person sets later. */
async function decided(title: string, priority: string): Promise<void> {
  const { id } = await post('/issues', { team: 'ENG', title });
  await app.call('PATCH', `/api/v1/issues/${id}`, { priority });
}

test('a person builds, previews, enables and pauses an automation', async () => {
  const { id } = await post('/members', { name: 'Ana', role: 'admin' });
  const { cookie, memberId } = await signIn(app, app.workspace, id);
  await decided('Crash at the end', 'high');
  await decided('Crash at start', 'low');
  await app.settled();
  const target = { url: app.url, cookie, key: app.workspace.apiKey, member: memberId, ids: {} };
  const shots = process.env.SHOTS === undefined ? [] : [process.env.SHOTS];
  seen = await runInNode<Json>('../dashboard/automations-process.ts', [JSON.stringify(target), ...shots]);
  console.log(seen);
  expect(seen).toMatchObject({ complaints: [] });
}, 60_000);
