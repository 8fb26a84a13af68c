// The command in a hostile working directory: no code of it runs, nothing is fetched for it, no key is sent to its
// server, and no file outside it is packed or written. Each folder uses everything that Bun's own configuration allows.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../core/platform/lib/process/own-program.ts';
import { packFirstParty } from '../../core/features/plugins/packages.ts';
import { startApp, type TestApp } from '../app.ts';
import { createHostileFolder, plugin } from './hostile-folder.ts';
import { runIn } from './tatami.ts';

const hostile = createHostileFolder();
const { outside, folder, stolen, thief, fill, evil, ran } = hostile;
afterEach(hostile.empty);
afterAll(hostile.remove);

const tatami = (...args: string[]) =>
  runIn(folder, args, { HOME: outside, TATAMI_TOKEN: 'ttm_precious_key' });

describe('no code of the folder runs', () => {
  const configurations: [name: string, files: () => Record<string, string>][] = [
    ['a preload in bunfig.toml', () => ({ 'bunfig.toml': 'preload = ["./evil.ts"]', 'evil.ts': evil() })],
    [
      'paths in tsconfig.json for every import',
      () => ({
        'tsconfig.json': '{"compilerOptions":{"baseUrl":".","paths":{"*":["./evil.ts"]}}}',
        'evil.ts': evil(),
      }),
    ],
    [
      'options for Bun in .env',
      () => ({
        '.env': 'BUN_OPTIONS=--preload=./evil.ts\nNODE_OPTIONS=--require=./evil.ts\n',
        'evil.ts': evil(),
      }),
    ],
    [
      "modules with names of the command's own modules",
      () => ({
        'node_modules/commander/package.json': '{"name":"commander","main":"index.js"}',
        'node_modules/commander/index.js': evil(),
        'core/main.ts': evil(),
        'core/app/start/main.ts': evil(),
        'node_modules/.cache/tatami/program.js': evil(),
        'package.json': '{"imports":{"#x":"./evil.ts"},"scripts":{"preinstall":"touch ran"}}',
      }),
    ],
  ];
  for (const [name, files] of configurations) {
    test(name, async () => {
      fill({ ...files(), 'plugin/plugin.ts': plugin });
      const version = await tatami('version', '--json');
      expect([version.code, version.json.version]).toEqual([0, expect.stringMatching(/^\d/)]);
      const packed = await tatami('plugins', 'pack', 'plugin', '--json');
      expect([packed.code, packed.json]).toMatchObject([0, { id: 'hostile' }]);
      expect(ran()).toBe(0);
    });
  }

  test("on the start of the jail, regardless of the core's working directory", () => {
    fill({ 'bunfig.toml': 'preload = ["./evil.ts"]', 'evil.ts': evil() });
    const code = `export default { id: 'a.b', version: '1.0.0', on: { 'issue.created': { handle() {} } } };`;
    const script = `
      import { describePlugin } from ${JSON.stringify(join(packageRoot, 'core/platform/sandbox/describe.ts'))};
      process.chdir(${JSON.stringify(folder)});
      console.log((await describePlugin(${JSON.stringify(code)})).id);`;
    const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { cwd: packageRoot });
    expect([stdout.toString(), ran()]).toEqual(['a.b\n', 0]);
  });

  const bundles: [name: string, files: () => Record<string, string>, says: string][] = [
    [
      'a macro',
      () => ({
        'm.ts': evil(),
        'plugin.ts': `import { run } from './m.ts' with { type: 'macro' }; export default run();`,
      }),
      'Macros are disabled',
    ],
    [
      'a module declared as a macro in package.json',
      () => ({
        'package.json': '{"bun":{"macros":{"greet":{"run":"./m.ts"}}}}',
        'm.ts': evil(),
        'plugin.ts': `import { run } from 'greet'; export default run();`,
      }),
      'greet',
    ],
  ];
  for (const [name, files, says] of bundles) {
    test(`${name} is rejected`, async () => {
      fill(files());
      const { code, json } = await tatami('plugins', 'pack', '.', '--json');
      expect([code, json.error.message]).toEqual([1, expect.stringContaining(says)]);
      expect(ran()).toBe(0);
    });
  }
});

describe('no key is sent to a server that the folder names', () => {
  for (const file of ['.env', '.env.local', '.env.development'])
    test(`a server in ${file}`, async () => {
      fill({ [file]: `TATAMI_SERVER=${thief.url.origin}\n` });
      await tatami('plugins', 'list', '--json');
      expect(stolen).toEqual([]);
    });

  test('a proxy in .env', async () => {
    const { origin } = thief.url;
    fill({ '.env': `HTTP_PROXY=${origin}\nhttp_proxy=${origin}\nHTTPS_PROXY=${origin}\nNO_PROXY=\n` });
    await tatami('plugins', 'list', '--server', 'http://tatami.test', '--json');
    expect(stolen).toEqual([]);
  });
});

test.each([
  ['bunfig.toml', (registry: string) => `[install]\nregistry = "${registry}"\n`],
  ['bunfig.toml', (registry: string) => `[install]\nauto = "force"\nregistry = "${registry}"\n`],
  ['.npmrc', (registry: string) => `registry=${registry}\n`],
  ['.env', (registry: string) => `BUN_CONFIG_REGISTRY=${registry}\n`],
])(
  'a missing import is an error that names it, and no registry of %s is requested',
  async (name, configuration) => {
    fill({
      [name]: configuration(thief.url.href),
      'plugin.ts': `import pad from 'left-pad-of-nobody'; export default pad;`,
    });
    const { code, json } = await tatami('plugins', 'pack', '.', '--json');
    expect([code, json.error.message]).toEqual([
      1,
      expect.stringContaining('left-pad-of-nobody, which cannot be found'),
    ]);
    expect(stolen).toEqual([]);
  },
);

describe('no file outside the folder is packed', () => {
  const secret = 'export default "the secret of another user";';
  const ways: [name: string, make: () => void, says: string][] = [
    [
      'as text',
      () =>
        fill({ 'plugin.ts': `import text from '../secret.ts' with { type: 'text' }; export default text;` }),
      'outside the plugin',
    ],
    [
      'by a link to a file',
      () => {
        fill({ 'plugin.ts': `import text from './link.ts'; export default text;` });
        symlinkSync(join(outside, 'secret.ts'), join(folder, 'link.ts'));
      },
      'outside the plugin',
    ],
    [
      'by a link to a folder',
      () => {
        fill({ 'plugin.ts': `import text from './lib/secret.ts'; export default text;` });
        symlinkSync(outside, join(folder, 'lib'));
      },
      'outside the plugin',
    ],
    [
      'as plugin.ts itself',
      () => {
        fill({ other: '' });
        symlinkSync(join(outside, 'secret.ts'), join(folder, 'plugin.ts'));
      },
      'outside the plugin',
    ],
    [
      'by paths in its tsconfig.json',
      () =>
        fill({
          'tsconfig.json': '{"compilerOptions":{"paths":{"dep":["../secret.ts"]}}}',
          'plugin.ts': `import text from 'dep'; export default text;`,
        }),
      'outside the plugin',
    ],
    [
      'by paths that replace plugin.ts',
      () =>
        fill({
          'tsconfig.json': '{"compilerOptions":{"baseUrl":".","paths":{"*":["../secret.ts"]}}}',
          'plugin.ts': 'export default {};',
        }),
      '/manifest',
    ],
    [
      'by a JSX runtime',
      () =>
        fill({
          'tsconfig.json': '{"compilerOptions":{"jsx":"react-jsx","jsxImportSource":"../.."}}',
          'view.js': 'export const view = <b />;',
          'plugin.ts': `import { view } from './view.js'; export default view;`,
        }),
      'imports',
    ],
  ];
  for (const [name, make, says] of ways) {
    test(name, async () => {
      writeFileSync(join(outside, 'secret.ts'), secret);
      make();
      const { code, json } = await tatami('plugins', 'pack', '.', '--out', 'made.json', '--json');
      expect([code, json.error.message]).toEqual([1, expect.stringContaining(says)]);
      expect(json.error.message).not.toContain('the secret');
      expect(existsSync(join(folder, 'made.json'))).toBe(false);
    });
  }
});

test('a plugin is bundled from its own files, regardless of the working directory of the process', () => {
  writeFileSync(join(outside, 'secret.ts'), 'export default "the secret";');
  fill({
    'tsconfig.json': '{"compilerOptions":{"baseUrl":".","paths":{"*":["../secret.ts"]}}}',
    'plugin.ts': 'export default "plugin";',
  });
  const script = `
    import { bundlePlugin } from ${JSON.stringify(join(packageRoot, 'sdk/plugin/bundle.ts'))};
    process.chdir(${JSON.stringify(folder)});
    console.log((await bundlePlugin(${JSON.stringify(join(folder, 'plugin.ts'))})).code);`;
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { cwd: packageRoot });
  expect(stdout.toString()).toContain('"plugin"');
  expect(stdout.toString()).not.toContain('the secret');
});

describe('with a server', () => {
  let app: TestApp;
  const install = (name: string) =>
    runIn(folder, ['plugins', 'install', name, '--yes', '--json'], {
      TATAMI_SERVER: app.url,
      TATAMI_TOKEN: app.workspace.apiKey,
    });
  beforeAll(async () => void (app = await startApp()));
  afterAll(() => app.stop());
  afterEach(async () => {
    await app.call('DELETE', '/api/v1/plugins/auto-triage');
    await app.call('DELETE', '/api/v1/plugins/shadow');
  });

  const shadow = async (): Promise<string> => {
    fill({ 'plugin.ts': plugin.replace(`'hostile'`, `'shadow'`) });
    await tatami('plugins', 'pack', '.', '--out', 'auto-triage');
    return readFileSync(join(folder, 'auto-triage'), 'utf8');
  };

  test('a name is the first-party plugin, even if a file has the same name; with ./ it is the file', async () => {
    await shadow();
    const byName = await install('auto-triage');
    expect([byName.code, byName.json.pluginId]).toEqual([0, 'auto-triage']);
    expect(byName.err).toContain('./auto-triage');
    const filed = await install('./auto-triage');
    expect([filed.code, filed.json.pluginId]).toEqual([0, 'shadow']);
    writeFileSync(join(folder, 'shadow'), await shadow());
    const unknown = await install('shadow');
    expect([unknown.code, unknown.json.error.message]).toEqual([1, expect.stringContaining('./shadow')]);
  });

  test('its tsconfig.json does not affect the files of a first-party plugin', async () => {
    fill({
      'tsconfig.json': '{"compilerOptions":{"baseUrl":".","paths":{"*":["./evil.ts"]}}}',
      'evil.ts': plugin,
    });
    const { code, json } = await install('auto-triage');
    expect([code, json.pluginId]).toEqual([0, 'auto-triage']);
    const { sha256 } = await packFirstParty('auto-triage');
    const { json: installed } = await app.call('GET', '/api/v1/plugins/auto-triage');
    expect(JSON.stringify(installed)).toContain(sha256);
  });

  test('a server from the environment is printed before a key is sent to it', async () => {
    fill({ other: '' });
    const { code, err } = await runIn(folder, ['plugins', 'list'], {
      TATAMI_SERVER: app.url,
      TATAMI_TOKEN: app.workspace.apiKey,
    });
    expect([code, err]).toEqual([0, `Using the server ${app.url}, from TATAMI_SERVER.\n`]);
  });
});

describe('no file outside the folder is written', () => {
  test.skipIf(!existsSync('/dev/shm'))('by a package through a link in a folder below /dev', async () => {
    const shared = mkdtempSync('/dev/shm/tatami-');
    const victim = join(outside, 'victim');
    writeFileSync(victim, 'precious');
    symlinkSync(victim, join(shared, 'made.json'));
    fill({ 'plugin.ts': plugin });
    const { code } = await tatami('plugins', 'pack', '.', '--out', join(shared, 'made.json'), '--json');
    rmSync(shared, { recursive: true });
    expect([code, readFileSync(victim, 'utf8')]).toEqual([1, 'precious']);
  });

  test('by a package through a link', async () => {
    const victim = join(outside, 'victim');
    writeFileSync(victim, 'precious');
    fill({ 'plugin.ts': plugin });
    for (const name of ['hostile.tatami.json', 'made.json']) symlinkSync(victim, join(folder, name));
    for (const more of [[], ['--out', 'made.json']]) {
      const { code, json } = await tatami('plugins', 'pack', '.', ...more, '--json');
      expect([code, json.error.message]).toEqual([1, expect.stringContaining('symbolic link')]);
    }
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  test('by `listen --write-env`', async () => {
    const victim = join(outside, 'victim');
    writeFileSync(victim, 'precious');
    fill({ other: '' });
    symlinkSync(victim, join(folder, '.env.local'));
    using stream = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: (request) =>
        request.url.includes('/stream')
          ? new Response(': hello\n\n', { headers: { 'content-type': 'text/event-stream' } })
          : Response.json({ id: 'wsp_1' }),
    });
    const server = ['--server', stream.url.origin];
    const { code, json } = await tatami(
      ...[
        'webhooks',
        'listen',
        '--forward-to',
        'http://127.0.0.1:9',
        '--write-env',
        '.env.local',
        '--json',
        ...server,
      ],
    );
    expect([code, json.error.message]).toEqual([1, expect.stringContaining('symbolic link')]);
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });
});
