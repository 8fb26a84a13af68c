// The single executable behaves like Tatami from source, without other files.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../app.ts';
import { runIn } from '../cli/tatami.ts';
import { clientOf } from '../faults/server.ts';
import { root } from '../imports.ts';
import { Browser, formOf, refresh, registerApp, tokensOf } from '../features/oauth/client.ts';
import { buildExecutable, startFromSource, type Executable, type Started } from './executable.ts';
import { createVisitor } from '../features/sign-in/visitor.ts';

let it: Executable;
let server: Started;
let call: ReturnType<typeof clientOf>;
let connection: Record<string, string>;

beforeAll(async () => {
  it = buildExecutable();
  server = await it.start(['--first-start', '--rate-limit', 'off']);
  const { url, apiKey } = server.ready;
  call = clientOf(url, apiKey);
  connection = { TATAMI_SERVER: url, TATAMI_TOKEN: apiKey };
}, 180_000);
afterAll(async () => {
  await server.stop();
  it.remove();
});

/** Excludes values that differ between starts. */
const jailOf = async (one: Started): Promise<Json> => {
  const { time: _time, ...jail } = await one.logged('Plugins run ');
  return jail;
};

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const value = await read();
    if (value !== undefined) return value;
    await Bun.sleep(20);
  }
}

test('the build output matches the files and SHA256SUMS', () => {
  const sums = readFileSync(join(it.path, '../dist/SHA256SUMS'), 'utf8');
  const sha256 = createHash('sha256').update(readFileSync(it.path)).digest('hex');
  expect(sums).toBe(`${sha256}  tatami-linux-${process.arch}\n`);
  expect(it.built).toContain(`sha256 ${sha256}`);
});

test('a plugin triages an issue, in the same jail as from source', async () => {
  const created = await call('POST', '/api/v1/issues', { team: 'ENG', title: 'Crash when saving a file' });
  const labels = await until(async () => {
    const { json } = await call('GET', `/api/v1/issues/${created.json.id}`);
    return json.labels.length > 0 ? json.labels : undefined;
  });
  expect(labels).toMatchObject([{ name: 'bug' }]);
  const dataDir = join(it.path, '../source');
  const source = await startFromSource(['--data-dir', dataDir, '--first-start']);
  expect(await jailOf(server)).toEqual(await jailOf(source));
  await source.stop();
}, 60_000);

test('a password is compared', async () => {
  const visitor = createVisitor(server.ready);
  await visitor.get('/sign-in');
  const attempt = { email: 'nobody@acme.example', password: 'an unknown password' };
  expect((await visitor.post('/sign-in', attempt)).status).toBe(422);
});

test('the API reference and the OpenAPI document are served', async () => {
  const page = await fetch(`${server.ready.url}/docs`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('/docs/viewer.js')]);
  for (const [path, name] of [
    ['/docs/viewer.js', 'swagger-ui-bundle.js'],
    ['/docs/viewer.css', 'swagger-ui.css'],
  ] as const) {
    const file = readFileSync(join(root, 'node_modules/swagger-ui-dist', name), 'utf8');
    expect(await (await fetch(`${server.ready.url}${path}`)).text()).toStartWith(file);
  }
  expect((await call('GET', '/api/v1/openapi.json')).json.openapi).toBe('3.1.1');
});

test('a new plugin has the same files as from source', async () => {
  const created = await it.run(['plugins', 'new', 'made', '--json']);
  const source = await runIn(it.folder, ['plugins', 'new', 'made', '--dir', 'from-source', '--json']);
  expect(created.json.files).toEqual(source.json.files);
  for (const file of created.json.files as string[])
    expect(readFileSync(join(it.folder, 'made', file), 'utf8')).toBe(
      readFileSync(join(it.folder, 'from-source', file), 'utf8'),
    );
});

test('a plugin with paths of its own and a package from npm is packed to the same bytes as from source, and installed', async () => {
  const plugin = join(it.folder, 'plugin');
  cpSync(join(root, 'examples/assign-on-create'), plugin, { recursive: true });
  const npm = join(plugin, 'node_modules/greeting');
  mkdirSync(npm, { recursive: true });
  writeFileSync(join(npm, 'package.json'), JSON.stringify({ name: 'greeting', main: './say.js' }));
  writeFileSync(join(npm, 'say.js'), "export const greeting = 'hello from npm';");
  const paths = { '@own/*': ['./own/*'] };
  writeFileSync(join(plugin, 'tsconfig.json'), JSON.stringify({ compilerOptions: { paths } }));
  mkdirSync(join(plugin, 'own'));
  writeFileSync(join(plugin, 'own/said.ts'), "export { greeting } from 'greeting';");
  appendFileSync(join(plugin, 'plugin.ts'), "export { greeting } from '@own/said';\n");
  const packed = await it.run(['plugins', 'pack', 'plugin', '--out', 'made.json', '--json']);
  const source = await runIn(it.folder, ['plugins', 'pack', 'plugin', '--out', 'source.json', '--json']);
  expect(packed.json).toEqual({ ...source.json, file: 'made.json' });
  expect(readFileSync(join(it.folder, 'made.json'), 'utf8')).toContain('"plugin.ts"');
  expect(readFileSync(join(it.folder, 'made.json'), 'utf8')).toContain('hello from npm');
  const installed = await it.run(
    ['plugins', 'install', './made.json', '--yes', '--no-probation', '--json'],
    connection,
  );
  expect([installed.code, installed.json.pluginId]).toEqual([0, 'assign-on-create']);
}, 30_000);

test('import and webhooks resolve paths in the working directory', async () => {
  writeFileSync(
    join(it.folder, 'issues.csv'),
    'repo,created_at,label,title,body\nacme/web,2026-01-01,bug,Crash on save,"Text"\n',
  );
  const imported = await it.run(['import', 'issues.csv', '--json'], connection);
  expect([imported.code, imported.json]).toEqual([0, expect.objectContaining({ created: 1 })]);
  const created = await it.run(
    ['webhooks', 'create', '--url', 'https://example.com/hook', '--events', 'issue.created', '--json'],
    connection,
  );
  expect([created.code, created.json.url]).toEqual([0, 'https://example.com/hook']);
}, 30_000);

test('files in the working directory do not affect the executable', async () => {
  writeFileSync(
    join(it.folder, '.env'),
    'TATAMI_SERVER=http://127.0.0.1:1\nBUN_OPTIONS=--preload=./evil.ts\n',
  );
  writeFileSync(join(it.folder, 'bunfig.toml'), 'preload = ["./evil.ts"]\n');
  writeFileSync(
    join(it.folder, 'tsconfig.json'),
    '{"compilerOptions":{"baseUrl":".","paths":{"*":["./evil.ts"]}}}',
  );
  writeFileSync(join(it.folder, 'evil.ts'), 'await Bun.write("ran", "x"); export default 1;');
  const { TATAMI_TOKEN = '' } = connection;
  const listed = await it.run(['plugins', 'list', '--json'], { TATAMI_TOKEN });
  expect(listed.json.error.message).toContain('http://127.0.0.1:4700');
  const packed = await it.run(['plugins', 'pack', 'plugin', '--json']);
  expect([packed.code, packed.json.id]).toEqual([0, 'assign-on-create']);
  expect(existsSync(join(it.folder, 'ran'))).toBe(false);
  for (const name of ['.env', 'bunfig.toml', 'tsconfig.json', 'evil.ts']) rmSync(join(it.folder, name));
}, 30_000);

test('a child process resolves paths in the directory that it is given', async () => {
  const { json } = await it.run([`--typed-in=${it.folder}/elsewhere`, 'plugins', 'pack', 'below', '--json']);
  expect(json.error.message).toContain(`${it.folder}/elsewhere/below/plugin.ts`);
});

test('unpacked files are complete, in a separate directory, and are not written again', async () => {
  const files = readdirSync(it.cache).sort();
  expect(files.map((name) => name.replace(/-[0-9a-f]{32}$/, ''))).toEqual(['isolated-vm', 'libsql', 'node']);
  const seen = (): unknown[] =>
    files
      .map((name) => statSync(join(it.cache, name)))
      .map(({ ino, mtimeMs, mode }) => [ino, mtimeMs, mode & 0o222]);
  const before = seen();
  const again = await it.start(['--data-dir', 'again']);
  await again.stop();
  expect(seen()).toEqual(before);
  expect(before.map((file) => (file as number[])[2])).toEqual([0, 0, 0]);
}, 30_000);

test('unpacked files are readable and can be compared', async () => {
  const cache = { TATAMI_CACHE_DIR: join(it.folder, 'verified') };
  const whole = await it.run(['version', '--verify', '--json'], cache);
  expect([whole.code, whole.json.files.length]).toEqual([0, 3]);
  const [node] = whole.json.files;
  chmodSync(node, 0o700);
  const file = openSync(node, 'r+');
  writeSync(file, 'x', 4711);
  closeSync(file);
  const changed = await it.run(['version', '--verify', '--json'], cache);
  expect([changed.code, changed.json.error.message]).toEqual([
    1,
    `${node} was changed after it was unpacked. Remove it; the next start unpacks it again.`,
  ]);
  rmSync(node);
  expect((await it.run(['version', '--verify'], cache)).code).toBe(0);
}, 30_000);

test('a health check exits with 0 if the server is ready, and with 1 if no server responds', async () => {
  const ready = await it.run(['health', '--server', server.ready.url, '--json']);
  expect([ready.code, ready.json.status]).toEqual([0, 'ready']);
  const live = await it.run(['health', '--live', '--server', server.ready.url]);
  expect([live.code, live.out]).toEqual([0, '{"status":"ok"}\n']);
  const none = await it.run(['health', '--server', 'http://127.0.0.1:1', '--json']);
  expect([none.code, none.json.error.message]).toEqual([
    1,
    'No server responds at http://127.0.0.1:1. Start it, or check the address.',
  ]);
});

test('two concurrent first starts both succeed', async () => {
  const cache = { TATAMI_CACHE_DIR: join(it.folder, 'shared') };
  const both = await Promise.all(
    ['one', 'two'].map((dir) => it.start(['--data-dir', dir, '--first-start'], cache)),
  );
  const levels = await Promise.all(both.map(async (one) => (await jailOf(one)).msg));
  expect(new Set(levels).size).toBe(1);
  await Promise.all(both.map((one) => one.stop()));
  expect(readdirSync(join(it.folder, 'shared'))).toHaveLength(3);
}, 60_000);

test('a person joins and authorizes an app, whose tokens are valid once, as from source', async () => {
  const { url, setUpUrl } = server.ready;
  const browser = new Browser(url);
  const { pathname } = new URL(setUpUrl);
  const account = formOf(await browser.get(pathname), 'Create account');
  account.set('email', 'ana@acme.example');
  account.set('password', 'seven geese over the pond');
  await browser.post(pathname, account);
  const client = await registerApp({ url, call }, { confidential: true });
  const first = await tokensOf({ url, call }, client, { browser });
  expect((await clientOf(url, first.access_token)('GET', '/api/v1/issues')).status).toBe(200);
  const second = await refresh({ url, call }, client, first.refresh_token);
  expect(second.json.access_token).toStartWith('tta_');
  expect((await refresh({ url, call }, client, first.refresh_token)).json.error).toBe('invalid_grant');
  expect((await clientOf(url, second.json.access_token)('GET', '/api/v1/issues')).status).toBe(401);
});

test('an executable that cannot unpack names the setting', async () => {
  writeFileSync(join(it.folder, 'file'), '');
  const { code, json } = await it.run(['serve', '--port', '0', '--json'], {
    TATAMI_CACHE_DIR: join(it.folder, 'file/cache'),
  });
  expect([code, json.error.message]).toEqual([
    1,
    expect.stringMatching(/Cannot unpack .*file\/cache: .*TATAMI_CACHE_DIR/),
  ]);
});
