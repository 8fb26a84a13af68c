// Ways in: a first start that is killed before its key was shown leaves no workspace without one, and whoever has the data directory can
// make a key.
import { expect, test } from 'bun:test';
import { createWorkspace } from '../../core/setup/first-workspace.ts';
import { createSystemClock, startApp } from '../app.ts';
import { serveTatami, spawnTatami, tatami, temporary } from './tatami.ts';

const statusWith = async (url: string, key: string): Promise<number> =>
  (await fetch(`${url}/api/v1/api-keys`, { headers: { authorization: `Bearer ${key}` } })).status;

test('a first start that ended before its key was shown is finished by the next one, with another key', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  // What a first start does, up to the moment in which it is killed.
  const app = await startApp({ dataDir, clock: createSystemClock() });
  const { services, committer } = app;
  const input = {
    name: 'Mine',
    teamKey: 'OPS',
    teamName: 'Operations',
    ownerName: 'Owner',
    isShownLater: true,
  };
  const unseen = await createWorkspace(services, committer, input);
  await app.stop();

  const second = await serveTatami(['--data-dir', dataDir, '--first-start', '--json']);
  const shown = JSON.parse(second.start);
  expect(shown).toMatchObject({ workspaceId: unseen.workspaceId, teamKey: 'OPS', userId: unseen.userId });
  expect(await statusWith(second.url, shown.apiKey)).toBe(200);
  expect(await statusWith(second.url, unseen.apiKey)).toBe(401);
  const plugins = await fetch(`${second.url}/api/v1/plugins`, {
    headers: { authorization: `Bearer ${shown.apiKey}` },
  });
  expect(await plugins.json()).toMatchObject({ data: [{ pluginId: 'auto-triage' }] });
  second.child.kill('SIGKILL');
  await second.child.exited;

  const third = await serveTatami(['--data-dir', dataDir, '--first-start', '--json']);
  expect(JSON.parse(third.start).apiKey).toBeUndefined();
  expect(await statusWith(third.url, shown.apiKey)).toBe(200);
  third.child.kill('SIGKILL');
  await third.child.exited;
});

test('killed in its first start, the next one shows a key that works (at 70 moments with TATAMI_LONG=1)', async () => {
  const wrong: string[] = [];
  for (let afterMs = 100; afterMs <= 1_500; afterMs += process.env.TATAMI_LONG ? 20 : 900) {
    using dir = temporary();
    const args = ['--data-dir', dir.path('data'), '--first-start', '--json'];
    const first = spawnTatami(['serve', '--port', '0', ...args]);
    await Bun.sleep(afterMs);
    first.kill('SIGKILL');
    const [seen] = await Promise.all([new Response(first.stdout).text(), first.exited]);
    const next = await serveTatami(args);
    const key = JSON.parse(next.start).apiKey ?? (seen.endsWith('\n') ? JSON.parse(seen).apiKey : undefined);
    const status = key === undefined ? 'no key' : await statusWith(next.url, key);
    if (status !== 200) wrong.push(`${afterMs} ms: ${status}`);
    next.child.kill('SIGKILL');
    await next.child.exited;
  }
  expect(wrong).toEqual([]);
}, 600_000);

test('whoever has the data directory makes a key; of which workspace is said where there are several', async () => {
  using dir = temporary();
  const dataDir = dir.path('data');
  const create = (...more: string[]) => tatami(['keys', 'create', '--data-dir', dataDir, '--json', ...more]);

  const nowhere = await create();
  expect([nowhere.code, nowhere.json.error.message]).toEqual([
    1,
    expect.stringContaining('holds no database'),
  ]);

  const app = await startApp({ dataDir, clock: createSystemClock() });
  const held = await create();
  expect([held.code, held.json.error.message]).toEqual([1, expect.stringContaining('in use by process')]);
  await app.stop();

  const { workspaceId } = app.workspace;
  const [all, narrow, unknown] = [
    await create(),
    await create('--workspace', workspaceId, '--name', 'CI', '--scopes', 'issues:read'),
    await create('--scopes', 'issues:own'),
  ];
  expect([all.code, all.json.workspaceId]).toEqual([0, workspaceId]);
  expect(narrow.json).toMatchObject({ name: 'CI', scopes: ['issues:read'] });
  expect([unknown.code, unknown.json.error.message]).toEqual([2, expect.stringContaining('issues:own')]);

  const again = await startApp(
    { dataDir, clock: createSystemClock() },
    { ...app.workspace, apiKey: all.json.key },
  );
  try {
    const listed = await again.call('GET', '/api/v1/api-keys');
    expect(listed.json.data.map(({ name }: { name: string }) => name)).toEqual([
      'CI',
      'From the command line',
      'First key',
    ]);
    expect(await again.eventTypes(0)).toEqual(expect.arrayContaining(['api_key.created']));
    expect((await again.clientOf(narrow.json.key)('GET', '/api/v1/issues')).status).toBe(200);
    expect((await again.clientOf(narrow.json.key)('GET', '/api/v1/api-keys')).status).toBe(403);
    await again.addWorkspace('Other', 'OTH');
  } finally {
    await again.stop();
  }
  const several = await create();
  expect([several.code, several.json.error.message]).toEqual([1, expect.stringContaining('Other')]);
});
