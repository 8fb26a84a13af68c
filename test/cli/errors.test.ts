// Exit codes and streams: the code tells scripts how to react, and `--json` always prints exactly one value.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { startApp, type TestApp } from '../app.ts';
import { launcher } from '../program.ts';
import { ended, spawnTatami, tatami, temporary } from './tatami.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

test('--version prints the version', async () => {
  const { code, json } = await tatami(['version', '--json']);
  expect(code).toBe(0);
  expect(json.version).toMatch(/^\d+\.\d+\.\d+/);
  expect((await tatami(['version'])).out).toBe(`${json.version}\n`);
});

const usage: [string, string[]][] = [
  ['no command', []],
  ['an unknown command', ['frobnicate']],
  ['an unknown option', ['version', '--frobnicate']],
  ['a missing argument', ['import']],
  ['a missing required option', ['init', '--team', 'ENG']],
  ['an invalid server address', ['plugins', 'list', '--server', 'localhost:4700', '--token', 'x']],
  ['a limit out of bounds', ['plugins', 'logs', 'x', '--limit', '0', '--token', 'x']],
];
test.each(usage)('%s is exit 2 with one JSON error', async (_, args) => {
  const { code, json, err } = await tatami([...args, '--json']);
  expect(code).toBe(2);
  expect(json).toEqual({ error: { code: 'usage', message: expect.any(String) } });
  expect(err).not.toBe('');
});

test('without --json an error leaves stdout empty', async () => {
  const { code, out, err } = await tatami(['plugins', 'list']);
  expect([code, out]).toEqual([4, '']);
  expect(err).toBe(
    'tatami: You are not logged in. Run `bin/tatami login`, or pass an API key with --token or TATAMI_TOKEN.\n',
  );
});

test('help is printed to stdout with exit 0', async () => {
  const { code, out, err } = await tatami(['plugins', '--help']);
  expect([code, err]).toEqual([0, '']);
  expect(out).toContain('run-schedule');
});

test('help lists required options in the usage and in the options', async () => {
  const required = [
    [['plugins', 'attack'], 'tatami plugins attack --team <key> [options]\n'],
    [['plugins', 'sign'], 'tatami plugins sign --key <file> [options] <package>\n'],
    [['proposals', 'reject'], 'tatami proposals reject --reason <text> [options] <proposal>\n'],
  ] as const;
  for (const [command, usage] of required) {
    const { out } = await tatami([...command, '--help']);
    expect(out).toContain(`Usage: ${usage}`);
    expect(out.match(/\(required\)/g)).toEqual(['(required)']);
  }
  expect((await tatami(['plugins', 'logs', '--help'])).out).not.toContain('(required)');
});

test('a missing and a wrong key are exit 4', async () => {
  const none = await tatami(['plugins', 'list', '--server', app.url, '--json']);
  expect([none.code, none.json.error.code]).toEqual([4, 'unauthorized']);
  const wrong = await tatami(['plugins', 'list', '--server', app.url, '--json'], {
    TATAMI_TOKEN: `${app.workspace.apiKey.slice(0, -4)}nope`,
  });
  expect([wrong.code, wrong.json.error.code]).toEqual([4, 'unauthorized']);
  expect(wrong.err).toContain('TATAMI_TOKEN');
});

test('an error of the server is printed once, with the flag and the remedy', async () => {
  const create = ['webhooks', 'create', '--url', 'http://127.0.0.1:9/', '--server', app.url];
  const { code, err } = await tatami([...create, '--token', app.workspace.apiKey, '--events', 'a.b,c.d']);
  expect([code, err]).toEqual([
    2,
    'tatami: --events, at 0: There is no event type a.b. Use a type such as issue.created, or issue.*.\n',
  ]);
});

test('server and key come from the environment', async () => {
  const { code, json } = await tatami(['plugins', 'list', '--json'], {
    TATAMI_SERVER: app.url,
    TATAMI_TOKEN: app.workspace.apiKey,
  });
  expect([code, json]).toEqual([0, []]);
});

test('an unreachable server is exit 75, at once', async () => {
  const gone = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const url = `http://127.0.0.1:${gone.port}`;
  await gone.stop(true);
  const { code, json, err } = await tatami(['plugins', 'list', '--server', url, '--token', 'x', '--json']);
  expect([code, json.error.code]).toEqual([75, 'unreachable']);
  expect(err).not.toContain('Retrying');
});

test('a server that is not Tatami is reported as such', async () => {
  using page = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('<h1>Hello</h1>') });
  const { code, json } = await tatami([
    'plugins',
    'list',
    '--server',
    page.url.origin,
    '--token',
    'x',
    '--json',
  ]);
  expect([code, json.error.code]).toEqual([1, 'not_tatami']);
});

test('an interrupted command is exit 130', async () => {
  const requestReceived = Promise.withResolvers<void>();
  using silent = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch() {
      requestReceived.resolve();
      return new Promise<Response>(() => {});
    },
  });
  const child = spawnTatami(['plugins', 'list', '--server', silent.url.origin, '--token', 'x', '--json']);
  await requestReceived.promise;
  child.kill('SIGINT');
  const { code, json } = await ended(child);
  expect([code, json.error.code]).toEqual([130, 'interrupted']);
});

test('an unusable file is reported in a sentence with the remedy', async () => {
  using dir = temporary();
  const [dataDir, backups] = [dir.path('data'), dir.path('backups')];
  const at = ['--data-dir', dataDir];
  expect((await tatami(['init', ...at, '--workspace', 'A', '--team', 'ENG'])).code).toBe(0);
  expect((await tatami(['backup', backups, ...at])).code).toBe(0);
  const [backupFile = ''] = readdirSync(backups).filter((name) => name.endsWith('.backup'));
  const none = dir.path('none');
  renameSync(join(dataDir, 'master.key'), dir.path('key'));
  const wrong: [string[], string][] = [
    [
      ['backup', backups, ...at, '--with-key'],
      `${dataDir}/master.key is missing, so the backup cannot include it`,
    ],
    [
      ['restore', join(backups, backupFile), '--data-dir', dir.path('new'), '--key', none],
      `--key must be a readable file, such as master.key of the data directory. ${none} does not exist`,
    ],
    [['backup', dir.path('key'), ...at], `${dir.path('key')} exists and is not a directory`],
    [['backups', 'list', none], `${none} does not exist`],
    [['backups', 'verify', none], `${none} does not exist`],
    [['export', join(none, 'file'), ...at], `${none}/file.part does not exist, or its directory does not`],
  ];
  for (const [args, said] of wrong) {
    const { code, err } = await tatami(args);
    expect([code, err]).toEqual([1, expect.stringContaining(said)]);
    expect(err).not.toMatch(/\bE[A-Z]{4,}\b/);
  }
  renameSync(dir.path('key'), join(dataDir, 'master.key'));
  const few = ['sh', '-c', 'ulimit -n 20 && exec "$0" "$@"', launcher, 'serve', '--port', '0', ...at];
  const unopened = await ended(Bun.spawn(few, { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' }));
  expect([unopened.code, unopened.err]).toEqual([1, expect.stringContaining('LimitNOFILE=')]);
}, 60_000);
