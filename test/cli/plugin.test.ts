// `tatami plugins` from a folder to a running plugin.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startApp, type TestApp } from '../app.ts';
import { spawnTatami, tatami, temporary } from './tatami.ts';

const dir = temporary();
let app: TestApp;
const run = (...args: string[]) =>
  tatami(['plugins', ...args, '--json'], { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });
beforeAll(async () => void (app = await startApp()));
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

test('the ten-line plugin is packed, previewed before consent, and assigns a new issue', async () => {
  const file = dir.path('assign.json');
  const packed = await run('pack', join(import.meta.dir, '../../examples/assign-on-create'), '--out', file);
  expect([packed.code, packed.json]).toMatchObject([0, { file, id: 'assign-on-create' }]);

  const refused = await run('install', file);
  expect([refused.code, refused.json.error.code]).toEqual([2, 'usage']);
  expect(refused.err).toContain('write only their assigneeId. (issues:write: assign new issues)');
  expect(refused.err).toContain('--yes');
  expect((await run('list')).json).toEqual([]);

  const installed = await run('install', file, '--yes', '--no-probation');
  expect([installed.code, installed.json.pluginId]).toEqual([0, 'assign-on-create']);
  const settings = { assignees: [app.workspace.userId] };
  await app.call('PATCH', `/api/v1/plugins/${installed.json.id}`, { settings });
  const issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Who?' })).json;
  await app.settled();
  expect((await app.call('GET', `/api/v1/issues/${issue.id}`)).json.assignee.id).toBe(app.workspace.userId);
  expect((await run('logs', 'assign-on-create')).json).toMatchObject([{ status: 'succeeded' }]);
});

test('a folder outside the working directory is packed; running a schedule exits with 0 or 1, according to its result', async () => {
  mkdirSync(dir.path('nightly'));
  writeFileSync(
    dir.path('nightly/plugin.ts'),
    `import { definePlugin, Drop } from '@tatami/sdk/plugin';
    const cron = '0 3 * * *';
    export default definePlugin({
      id: 'nightly', version: '1.0.0', engines: { tatami: '*' },
      schedules: {
        good: { cron, handle: async (_, { log }) => log.info('done') },
        bad: { cron, handle: async () => { throw new Error('no luck'); } },
        drop: { cron, handle: async () => { throw new Drop('hopeless'); } },
      },
    });`,
  );
  const file = dir.path('nightly.json');
  expect((await run('pack', dir.path('nightly'), '--out', file)).code).toBe(0);
  expect((await run('install', file, '--yes', '--no-probation')).code).toBe(0);

  const good = await run('run-schedule', 'nightly', 'good');
  expect([good.code, good.json]).toMatchObject([0, { status: 'succeeded', logs: [{ message: 'done' }] }]);
  const bad = await run('run-schedule', 'nightly', 'bad');
  expect([bad.code, bad.json]).toMatchObject([1, { error: { message: expect.stringContaining('no luck') } }]);
  const drop = await run('run-schedule', 'nightly', 'drop');
  expect([drop.code, drop.json]).toMatchObject([1, { status: 'dead' }]);
  const unknown = await run('run-schedule', 'nightly', 'yearly');
  expect([unknown.code, unknown.json.error.code]).toEqual([1, 'not_found']);
});

test('a command that waits for a run prints the reason, and ends when the run does', async () => {
  const path = '/api/v1/plugins/nightly';
  await app.call('PATCH', path, { budget: { runs: 0 } });
  const child = spawnTatami(['plugins', 'run-schedule', 'nightly', 'good'], {
    TATAMI_SERVER: app.url,
    TATAMI_TOKEN: app.workspace.apiKey,
  });
  const said = child.stderr.getReader();
  let first = '';
  while (!first.includes(' waits ')) first = new TextDecoder().decode((await said.read()).value);
  const words = 'waits until 2026-11-21T00:00:00.000Z: the daily budget of runs is used up';
  expect(first).toMatch(/^run_\w{26} waits until /);
  expect(first).toContain(words);
  const remote = { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey };
  expect((await tatami(['plugins', 'list'], remote)).out).toMatch(new RegExp(`nightly.*active.*${words}`));
  await app.call('PATCH', path, { budget: {} });
  expect([await child.exited, await new Response(child.stdout).text()]).toEqual([
    0,
    expect.stringContaining('succeeded'),
  ]);
});

test('missed events of a disabled plugin are backfilled on request', async () => {
  const path = '/api/v1/plugins/assign-on-create';
  expect((await run('catch-up', 'assign-on-create')).json).toMatchObject({ status: 'nothing' });
  await app.call('PATCH', path, { state: 'paused_by_admin' });
  const issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Missed' })).json;
  const off = await run('catch-up', 'assign-on-create');
  expect([off.code, off.json.error.code]).toEqual([1, 'conflict']);
  await app.call('PATCH', path, { state: 'active' });
  const caught = await run('catch-up', 'assign-on-create');
  expect([caught.code, caught.json]).toMatchObject([0, { status: 'done', runs: 1 }]);
  await app.settled();
  expect((await app.call('GET', `/api/v1/issues/${issue.id}`)).json.assignee.id).toBe(app.workspace.userId);
});

test('an invalid package, a missing file and an unknown name each have their own error', async () => {
  writeFileSync(dir.path('none.json'), '{}');
  const answers = await Promise.all([
    run('install', dir.path('none.json'), '--yes'),
    run('install', './missing.json', '--yes'),
    run('install', 'auto-triag', '--yes'),
    run('pack', dir.path('nowhere'), '--out', dir.path('x.json')),
  ]);
  expect(answers.map(({ code }) => code)).toEqual([1, 1, 1, 1]);
  expect(answers.map(({ json }) => json.error.message)).toEqual([
    expect.any(String),
    expect.stringMatching(/tatami plugins? pack/),
    expect.stringContaining('auto-triage'),
    expect.stringContaining('plugin.ts'),
  ]);
});

test('a plugin is installed with its hosts shown, and a secret is set from standard input', async () => {
  mkdirSync(dir.path('caller'));
  writeFileSync(
    dir.path('caller/plugin.ts'),
    `import { definePlugin } from '@tatami/sdk/plugin';
    export default definePlugin({
      id: 'caller', version: '1.0.0', engines: { tatami: '*' },
      net: [{ origin: 'https://203.0.114.9', methods: ['POST'], path: '/v1/', why: 'classifies' }],
      secrets: { ACME_KEY: { hosts: ['https://203.0.114.9'], header: 'x-key' } },
      scopes: { 'issues:read': { why: 'hears of new ones' } },
      on: { 'issue.created': { handle: async (_, ctx) => void ctx.secrets.has('ACME_KEY') } },
    });`,
  );
  const file = dir.path('caller.json');
  expect((await run('pack', dir.path('caller'), '--out', file)).code).toBe(0);
  const refused = await run('install', file);
  expect(refused.err).toContain(
    'Send POST requests to https://203.0.114.9/v1/ and all paths below it. (classifies)',
  );
  expect(refused.err).toContain('Use the secret ACME_KEY, sent in the header x-key to https://203.0.114.9.');
  expect((await run('install', file, '--yes')).code).toBe(0);

  expect((await run('secrets', 'list', 'caller')).json).toMatchObject([{ name: 'ACME_KEY', setAt: null }]);
  const none = await run('secrets', 'set', 'caller', 'ACME_KEY');
  expect([none.code, none.json.error.code]).toEqual([2, 'usage']);
  const set = await tatami(
    ['plugins', 'secrets', 'set', 'caller', 'ACME_KEY', '--json'],
    { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey },
    'sk_from_a_pipe\n',
  );
  expect([set.code, typeof set.json.setAt]).toEqual([0, 'string']);
  expect(set.out + set.err).not.toContain('sk_from');
  expect((await run('secrets', 'delete', 'caller', 'ACME_KEY', '--yes')).code).toBe(0);
  expect((await run('secrets', 'list', 'caller')).json).toMatchObject([{ name: 'ACME_KEY', setAt: null }]);
});
