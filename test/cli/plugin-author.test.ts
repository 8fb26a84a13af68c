// The plugin author's workflow: errors refer to the author's own lines, from packing to a failed run.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { startApp, type TestApp } from '../app.ts';
import { definition, folderIn, imports } from './plugin-source.ts';
import { tatami, temporary } from './tatami.ts';

const dir = temporary();
let app: TestApp;
const env = () => ({ TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });
const run = (...args: string[]) => tatami(['plugins', ...args], env());
beforeAll(async () => void (app = await startApp()));
afterAll(async () => {
  await app.stop();
  dir[Symbol.dispose]();
});

const folder = folderIn(dir);
const pack = (name: string) => run('pack', dir.path(name), '--out', dir.path(`${name}.json`));
const install = (name: string, ...more: string[]) =>
  run('install', dir.path(`${name}.json`), '--yes', '--no-probation', ...more);

const failing = `${imports}
import { check } from './check.ts';

interface Wish {
  readonly title: string;
}

export default definePlugin({
  id: 'com.test.failing',
  version: '1.0.0',
  engines: { tatami: '*' },
  scopes: { 'issues:read': { why: 'to read' } },
  schedules: {
    // Fails in a file beside this one.
    deep: {
      cron: '0 3 * * *',
      async handle(_, ctx) {
        const wish: Wish = { title: 'x' };
        await ctx.sleep(1);
        await check(wish.title);
      },
    },
    host: {
      cron: '0 3 * * *',
      async handle(_, ctx) {
        await ctx.sleep(1);
        await ctx.issues.get('iss_0000000000000000000000');
      },
    },
    endless: {
      cron: '0 3 * * *',
      limits: { cpuMs: 50 },
      handle() {
        for (;;);
      },
    },
  },
});
`;
const check = `// A helper.
export async function check(title: string): Promise<void> {
  if (title.length < 3) throw new TypeError(\`too short: \${title}\`);
}
`;

test('a new plugin passes type checks and tests, packs and runs unmodified, and a mistake in it is reported', async () => {
  const created = await run('new', 'com.acme.hello', '--dir', dir.path('hello'), '--json');
  expect([created.code, created.json.name]).toEqual([0, 'com.acme.hello']);
  const inside = (...args: string[]) =>
    Bun.spawnSync([process.execPath, ...args], { cwd: dir.path('hello'), env: { PATH: process.env.PATH } });
  expect(inside('check').exitCode).toBe(0);
  expect(inside('plugin.test.ts').exitCode).toBe(0);
  expect((await pack('hello')).code).toBe(0);
  expect((await install('hello')).code).toBe(0);
  const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Hello?' })).json;
  await app.settled();
  const comments = (await app.call('GET', `/api/v1/issues/${id}/comments`)).json.data;
  expect(comments.map(({ body }: { body: string }) => body)).toEqual(['Thank you, we will look at this.']);

  const source = readFileSync(dir.path('hello/plugin.ts'), 'utf8');
  writeFileSync(dir.path('hello/plugin.ts'), source.replace('comments.create', 'labels.list'));
  expect(inside('check').stderr.toString() + inside('check').stdout.toString()).toContain('plugin.ts');
  const again = await run('new', 'com.acme.hello', '--dir', dir.path('hello'));
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('not empty')]);
  const invalidName = await run('new', 'Hello!');
  expect([invalidName.code, invalidName.err]).toEqual([2, expect.stringContaining('acme.triage')]);
});

test('a failed run names its source line, on the command line and over REST', async () => {
  folder('failing', failing, { 'check.ts': check });
  expect((await pack('failing')).code).toBe(0);
  expect(readFileSync(dir.path('failing.json'), 'utf8')).not.toContain(dir.path(''));
  expect((await install('failing')).code).toBe(0);

  const deep = await run('run-schedule', 'com.test.failing', 'deep');
  expect(deep.code).toBe(1);
  expect(deep.out).toContain('TypeError: too short: x');
  expect(deep.out).toContain('at check (check.ts:3:');
  expect(deep.out).toContain('at handle (plugin.ts:21:');
  const host = await run('run-schedule', 'com.test.failing', 'host');
  expect(host.out).toContain('at handle (plugin.ts:28:');
  const endless = await run('run-schedule', 'com.test.failing', 'endless');
  expect(endless.out).toContain('Schedule endless: ');

  const { data } = (await app.call('GET', '/api/v1/plugins/com.test.failing/runs')).json;
  const errors = data.map(({ error }: { error: object }) => error);
  expect(errors).toMatchObject([
    { code: 'cpu', at: null, stack: [] },
    { code: 'error', at: expect.stringMatching(/^plugin\.ts:28:\d+$/) },
    { code: 'error', at: expect.stringMatching(/^check\.ts:3:\d+$/), stack: { length: 2 } },
  ]);
  const logs = await run('logs', 'com.test.failing');
  expect(logs.out).toContain('at check (check.ts:3:');
});

test("a filter that only the server can check is rejected with the author's line", async () => {
  folder('engine', definition({}).replace(`tatami: '*'`, `tatami: '^99.0.0'`));
  const packed = await pack('engine');
  expect([packed.code, packed.err]).toEqual([0, expect.stringContaining('^99.0.0')]);
  const { code, err } = await install('engine');
  expect([code, err.trimEnd().split('\n').at(-1)]).toEqual([
    1,
    expect.stringMatching(
      /^tatami: plugin\.ts:3:\d+: package\.manifest\.engines\.tatami: The plugin requires/,
    ),
  ]);

  folder('names', definition({ scopes: `'issues:write': { why: 'to write', where: { team: ['NOPE'] } }` }));
  expect((await pack('names')).code).toBe(0);
  expect((await install('names')).err).toMatch(
    /^tatami: plugin\.ts:4:\d+: .*The team NOPE does not exist\./m,
  );
});

test("an error that a handler logs names the author's lines, and a replay is identical", async () => {
  const source = failing
    .replace('com.test.failing', 'com.test.logging')
    .replace(
      'await check(wish.title);',
      'await check(wish.title).catch((error: unknown) => ctx.log.error(error));',
    )
    .replace(
      `await ctx.issues.get('iss_0000000000000000000000');`,
      `const error: unknown = await ctx.issues.get('iss_0000000000000000000000').catch((caught: unknown) => caught);
        console.error('seen:', error);
        throw new Error('after it');`,
    );
  folder('logging', source, { 'check.ts': check });
  expect((await pack('logging')).code).toBe(0);
  expect((await install('logging')).code).toBe(0);
  for (const name of ['deep', 'host']) await run('run-schedule', 'com.test.logging', name);
  const { data } = (await app.call('GET', '/api/v1/plugins/com.test.logging/runs')).json;
  const [host, deep] = data.map(({ logs }: { logs: { message: string }[] }) => logs[0]?.message);
  expect(deep).toMatch(
    /^TypeError: too short: x\n {4}at check \(check\.ts:3:\d+\)\n {4}at (async )?handle \(plugin\.ts:21:\d+\)$/,
  );
  expect(host).toMatch(/^seen: .+\n {4}at (async )?handle \(plugin\.ts:28:\d+\)$/);
  const replayed = await tatami(['runs', 'replay', data[1].id], env());
  expect([replayed.code, replayed.out]).toEqual([0, expect.stringContaining('identical')]);
});

test('settings that do not fit another version name the flag that sets them', async () => {
  const version = (number: string, name: string): string =>
    definition({ settings: `properties: { ${name}: {} }, additionalProperties: false` })
      .replace('1.0.0', number)
      .replace('com.test.lines', 'com.test.set');
  folder('set', version('1.0.0', 'old'));
  folder('reset', version('1.1.0', 'renamed'));
  writeFileSync(dir.path('old.json'), '{"old":1}');
  writeFileSync(dir.path('renamed.json'), '{"renamed":1}');
  for (const name of ['set', 'reset']) expect((await pack(name)).code).toBe(0);
  expect((await install('set', '--settings', dir.path('old.json'))).code).toBe(0);
  const refused = await install('reset');
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--settings FILE')]);
  expect(refused.err).toContain('settings.old: The plugin has no setting old; available: renamed.');
  expect((await install('reset', '--settings', dir.path('renamed.json'))).code).toBe(0);
});

test('a missing plugin, schedule or run is answered with the existing ones', async () => {
  folder(
    'greets',
    definition({ schedules: `nightly: { cron: '0 3 * * *', handle() {} }` }).replace(
      'com.test.lines',
      'acme.hello',
    ),
  );
  expect((await pack('greets')).code).toBe(0);
  expect((await install('greets')).code).toBe(0);
  const none =
    'tatami: There is no plugin acme.helo. Did you mean acme.hello? List them with `tatami plugins list`.';
  const schedule =
    'tatami: The plugin acme.hello has no schedule nightli. Did you mean nightly? Its schedules: nightly.';
  const lastLine = async (...args: string[]) => (await run(...args)).err.trimEnd().split('\n').at(-1);
  expect(await lastLine('logs', 'acme.helo')).toBe(none);
  expect(await lastLine('catch-up', 'acme.helo')).toBe(none);
  expect(await lastLine('run-schedule', 'acme.helo', 'nightly')).toBe(none);
  expect(await lastLine('run-schedule', 'acme.hello', 'nightli')).toBe(schedule);
  for (const command of ['cancel', 'retry'])
    expect((await tatami(['runs', command, 'run_nope'], env())).err).toEndWith(
      'tatami: There is no run run_nope. List them with `tatami plugins runs PLUGIN`.\n',
    );
});

test('an upgrade shows changed permissions, and an older version requires its flag', async () => {
  const version = (number: string, scopes: string, on: string): string =>
    `${imports}export default definePlugin({ id: 'com.test.upgrade', version: '${number}', engines: { tatami: '*' },
      scopes: { ${scopes} }, on: { ${on} }, schedules: { nightly: { cron: '0 3 * * *', handle() {} } } });`;
  folder(
    'one',
    version(
      '1.0.0',
      `'issues:write': { why: 'to set', fields: ['priority'] }, 'labels:read': { why: 'to know' }, 'projects:read': { why: 'once' }`,
      `'issue.created': { handle() {} }`,
    ),
  );
  folder(
    'two',
    version(
      '1.1.0',
      `'issues:write': { why: 'to set', fields: ['priority', 'title'] }, 'labels:read': { why: 'to know' }, 'comments:read': { why: 'to read' }`,
      `'comment.added': { handle() {} }`,
    ),
  );
  for (const name of ['one', 'two']) expect((await pack(name)).code).toBe(0);
  expect((await install('one')).err).toContain('com.test.upgrade 1.0.0 requests:');

  const upgraded = await install('two');
  expect(upgraded.code).toBe(0);
  const [, ...outputLines] = upgraded.err.split('\n').map((line) => line.replace(/ +/g, ' ').trim());
  expect(outputLines).toEqual([
    expect.stringMatching(/^com\.test\.upgrade 1\.1\.0 replaces 1\.0\.0 \(installed as plg_/),
    '+ Read issues, and write only their priority and title. (issues:write: to set)',
    'before: Read issues, and write only their priority.',
    'Read labels, with all their fields. (labels:read: to know)',
    '+ Read comments, with all their fields. (comments:read: to read)',
    '+ Receive comment.added events.',
    'Run nightly on the schedule 0 3 * * * (UTC).',
    '- Read projects, with all their fields.',
    '- Receive issue.created events.',
    'Not signed.',
    expect.stringMatching(/^sha256 [0-9a-f]{64}$/),
    '',
  ]);
  const refused = await install('one');
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('--downgrade')]);
  expect(refused.err).not.toContain('replaces');
  const back = await install('one', '--downgrade', '--json');
  expect([back.code, back.json.pluginVersion]).toEqual([0, '1.0.0']);
});

test('changed code under the same version is reported, and a changed filter is shown', async () => {
  const source = (filter: string): string =>
    definition({ on: `'issue.created': { ${filter}handle() {} }` }).replace(
      'com.test.lines',
      'com.test.same',
    );
  folder('same', source(''));
  folder('other', source(`filter: { priority: ['high'] }, `));
  for (const name of ['same', 'other']) expect((await pack(name)).code).toBe(0);
  expect((await install('same')).code).toBe(0);
  expect((await install('same')).err).toMatch(
    / 1\.0\.0 is already installed as plg_\w+ and requests:\n +Read issues[^]*\n +the same as before\n/,
  );
  const { err } = await install('other');
  expect(err).toMatch(/Change the version number, or add --replace\./);
  expect(err).toMatch(/as plg_\w+ with different code \(sha256 [0-9a-f]{12}…, before [0-9a-f]{12}…\)/);
  const outputLines = err.split('\n').map((line) => line.replace(/ +/g, ' ').trim());
  expect(outputLines).toContain('+ Receive issue.created events where {"priority":["high"]}.');
  expect(outputLines).toContain('before: Receive issue.created events.');
});
