// `tatami init` creates one workspace with a key, and a second one only on request.
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { createSystemClock, startApp } from '../app.ts';
import { tatami, temporary } from './tatami.ts';

test('init creates a workspace with an unrestricted key and auto-triage; a second one requires --add', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  const init = (name: string, ...more: string[]) =>
    tatami(['init', '--data-dir', dataDir, '--workspace', name, '--team', 'ENG', '--json', ...more]);

  // The link uses the future address of the server.
  const first = await init('Acme', '--port', '5123', '--host', '0.0.0.0');
  expect([first.code, new URL(first.json.setUpUrl).origin]).toEqual([0, 'http://127.0.0.1:5123']);
  const outputKeys = ['apiKey', 'setUpUrl', 'teamId', 'teamKey', 'userId', 'workspaceId'];
  expect(Object.keys(first.json).sort()).toEqual(outputKeys);

  const again = await init('Acme');
  expect(again.code).toBe(1);
  expect(again.json.error.code).toBe('failed');
  expect(again.err).toContain('--add');

  const added = await init('Other', '--add');
  expect(added.code).toBe(0);
  expect(added.json.workspaceId).not.toBe(first.json.workspaceId);

  const app = await startApp({ dataDir, clock: createSystemClock() }, first.json);
  try {
    const plugins = await app.call('GET', '/api/v1/plugins');
    expect(plugins.json.data.map((plugin: { pluginId: string }) => plugin.pluginId)).toEqual(['auto-triage']);
    const other = app.clientOf(added.json.apiKey);
    expect((await other('POST', '/api/v1/issues', { team: 'ENG', title: 'First' })).status).toBe(201);
    expect((await app.call('GET', '/api/v1/issues')).json.data).toEqual([]);
  } finally {
    await app.stop();
  }
});

test('a data directory in use by a server is rejected with its process id', async () => {
  const app = await startApp();
  try {
    const args = ['--data-dir', app.dataDir, '--workspace', 'Acme', '--team', 'ENG', '--add', '--json'];
    const { code, json } = await tatami(['init', ...args]);
    expect(code).toBe(1);
    expect(json.error.message).toContain(`in use by process ${process.pid}`);
  } finally {
    await app.stop();
  }
});

test('an invalid team key is a usage error and leaves no data directory', async () => {
  using dir = temporary();
  const args = ['--data-dir', dir.path('data'), '--workspace', 'Acme', '--team', 'eng-1', '--json'];
  const { code, json } = await tatami(['init', ...args]);
  expect(code).toBe(2);
  expect(json.error.message).toContain('--team');
  expect(existsSync(dir.path('data'))).toBe(false);
});
