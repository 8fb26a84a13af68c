// `tatami plugins disable|enable` against a server.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';
import { tatami } from './tatami.ts';

let app: TestApp;

beforeAll(async () => {
  app = await startApp();
  await app.installFirstParty(app.workspace.workspaceId, 'auto-triage');
});
afterAll(() => app.stop());

test('disable pauses a plugin, and enable activates it again', async () => {
  for (const [verb, state] of [
    ['disable', 'paused_by_admin'],
    ['enable', 'active'],
  ] as const) {
    const from = await app.lastSequence();
    const result = await tatami(['plugins', verb, 'auto-triage', '--json'], {
      TATAMI_SERVER: app.url,
      TATAMI_TOKEN: app.workspace.apiKey,
    });
    expect([verb, result.code]).toEqual([verb, 0]);
    expect(JSON.parse(result.out).state).toBe(state);
    expect((await app.call('GET', '/api/v1/plugins/auto-triage')).json.state).toBe(state);
    expect(await app.eventTypes(from)).toEqual([verb === 'disable' ? 'plugin.disabled' : 'plugin.updated']);
  }
});
