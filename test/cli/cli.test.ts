// The command as people and scripts use it: one JSON value with --json, data on stdout, exit codes that mean something.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { version } from '../../package.json';
import { startApp } from '../app.ts';

const main = join(import.meta.dir, '../../core/main.ts');
const dir = mkdtempSync(join(tmpdir(), 'tatami-cli-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

interface Result {
  code: number;
  out: string;
  err: string;
}

async function tatami(...args: string[]): Promise<Result> {
  const child = Bun.spawn([process.execPath, main, ...args], {
    stdout: 'pipe',
    stderr: 'pipe',
    stdin: 'ignore',
    cwd: dir,
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, out, err };
}

test('version, help and wrong usage', async () => {
  expect(await tatami('version')).toMatchObject({ code: 0, out: `${version}\n` });
  expect(JSON.parse((await tatami('version', '--json')).out).version).toBe(version);
  expect((await tatami('--help')).code).toBe(0);
  for (const args of [
    ['bogus'],
    ['init'],
    ['serve', '--bogus'],
    ['serve', '--port', 'abc'],
    ['plugin', 'pack'],
  ]) {
    const { code, err, out } = await tatami(...args);
    expect([args.join(' '), code, out]).toEqual([args.join(' '), 2, '']);
    expect(err.length).toBeGreaterThan(10);
  }
  const { code, out } = await tatami('init', '--json');
  expect([code, JSON.parse(out).error.code]).toEqual([2, 'usage']);
});

test('init makes a workspace with auto-triage once, another with --add, and serve serves it until SIGTERM', async () => {
  const data = join(dir, 'data');
  const made = await tatami('init', '--data-dir', data, '--workspace', 'Acme', '--team', 'ENG', '--json');
  expect(made.code).toBe(0);
  const value = JSON.parse(made.out);
  expect(Object.keys(value)).toEqual(['workspaceId', 'teamId', 'teamKey', 'userId', 'apiKey']);
  const again = await tatami('init', '--data-dir', data, '--workspace', 'Acme', '--team', 'ENG', '--json');
  expect([again.code, again.err.includes('--add')]).toEqual([1, true]);
  expect(
    (await tatami('init', '--data-dir', data, '--workspace', 'Two', '--team', 'TWO', '--add', '--json')).code,
  ).toBe(0);

  const server = Bun.spawn([process.execPath, main, 'serve', '--data-dir', data, '--port', '0', '--json'], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const { value: first } = await server.stdout.getReader().read();
  const { url } = JSON.parse(new TextDecoder().decode(first));
  const locked = await tatami('init', '--data-dir', data, '--workspace', 'Three', '--team', 'THREE', '--add');
  expect([locked.code, locked.err.includes('is in use by process')]).toEqual([1, true]);
  const port = new URL(url).port;
  const taken = await tatami('serve', '--data-dir', join(dir, 'other'), '--port', port);
  expect([taken.code, taken.err.includes('--port')]).toEqual([1, true]);

  const remote = ['--server', url, '--token', value.apiKey, '--json'];
  const plugins = JSON.parse((await tatami('plugin', 'list', ...remote)).out);
  expect(plugins).toMatchObject([{ pluginId: 'auto-triage', state: 'active' }]);
  expect((await tatami('plugin', 'list', '--server', url, '--token', 'wrong')).code).toBe(4);
  expect((await tatami('plugin', 'list', '--server', url)).code).toBe(4);
  expect(
    JSON.parse((await tatami('plugin', 'run-schedule', 'auto-triage', 'learn', ...remote)).out),
  ).toMatchObject({ status: 'succeeded' });
  expect((await tatami('plugin', 'run-schedule', 'auto-triage', 'nope', ...remote)).code).toBe(1);
  server.kill('SIGTERM');
  expect(await server.exited).toBe(0);
  expect((await tatami('plugin', 'list', ...remote)).code).toBe(75);
}, 60_000);

test('the ten-line plugin packs, asks before it installs, and assigns a new issue', async () => {
  const app = await startApp();
  const remote = ['--server', app.url, '--token', app.workspace.apiKey, '--json'];
  const out = join(dir, 'assign.json');
  const packed = await tatami(
    'plugin',
    'pack',
    join(import.meta.dir, '../../examples/assign-on-create'),
    '--out',
    out,
    '--json',
  );
  expect(JSON.parse(packed.out)).toMatchObject({ file: out });
  const asked = await tatami('plugin', 'install', out, ...remote);
  expect([asked.code, asked.err.includes('issues:write'), asked.err.includes('--yes')]).toEqual([
    2,
    true,
    true,
  ]);
  const installed = JSON.parse((await tatami('plugin', 'install', out, '--yes', ...remote)).out);
  await app.call('PATCH', `/api/v1/plugins/${installed.id}`, {
    settings: { assignees: [app.workspace.userId] },
  });
  const issue = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Who?' })).json;
  await app.settled();
  expect((await app.call('GET', `/api/v1/issues/${issue.id}`)).json.assignee.id).toBe(app.workspace.userId);
  expect(JSON.parse((await tatami('plugin', 'logs', installed.pluginId, ...remote)).out)).toMatchObject([
    { status: 'succeeded' },
  ]);
  await app.stop();
}, 60_000);

test('import brings rows in once, resumes, and reports what it cannot take by line', async () => {
  const app = await startApp();
  const file = join(dir, 'issues.csv');
  const rows = [
    'repo,created_at,label,title,body',
    'acme/web,2026-01-01,bug,Crash on save,"First line',
    '',
    'Third line with ""quotes"" and, commas"',
    'acme/web,2026-01-02,,No label,body',
    'acme/web,2026-01-02,,No label,the same row again',
    'acme/web,2026-01-03,needs-design,New label,body',
    'acme/web,2026-01-04,bug,,no title',
    'other/web,2026-01-05,bug,Another repo with the same key,body',
    `acme/api,2026-01-06,bug,${'long '.repeat(200)},body`,
  ];
  writeFileSync(file, `${rows.join('\n')}\n`);
  const run = (): Promise<Result> =>
    tatami(
      'import',
      file,
      '--server',
      app.url,
      '--token',
      app.workspace.apiKey,
      '--team-from',
      'repo',
      '--json',
    );
  const first = await run();
  expect([first.code, JSON.parse(first.out)]).toEqual([
    1,
    { created: 4, skipped: 1, failed: 2, cut: 1, teams: 2, labels: 1 },
  ]);
  expect(first.err).toContain('the title is empty');
  expect(first.err).toContain('WEB');
  const issues = (await app.call('GET', '/api/v1/issues?sort=createdAt&team=WEB')).json.data;
  expect(issues[0]).toMatchObject({
    title: 'Crash on save',
    description: 'First line\n\nThird line with "quotes" and, commas',
    labels: [{ name: 'bug' }],
    externalSource: 'csv',
  });
  expect(issues[1].labels).toEqual([]);
  expect(JSON.parse((await run()).out)).toMatchObject({ created: 0, skipped: 5 });
  expect((await tatami('import', join(dir, 'none.csv'), '--server', app.url, '--token', 'x')).code).toBe(1);
  await app.stop();
}, 60_000);
