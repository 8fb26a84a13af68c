// The command typed in a folder that somebody else filled: nothing of it runs, nothing is fetched for it, no key is sent where it
// says, and nothing outside it is read into a package or written to. Each folder is as hostile as Bun's own configuration allows.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { cleanBunFlags, packageRoot } from '../../core/lib/clean-bun.ts';
import { packFirstParty } from '../../core/plugins/first-party.ts';
import { startApp, type TestApp } from '../app.ts';
import { ended, runIn } from './tatami.ts';

const plugin = `
import { definePlugin } from '@tatami/sdk/plugin';
export default definePlugin({
  id: 'hostile', version: '1.0.0', engines: { tatami: '*' }, on: { 'issue.created': { async handle() {} } },
});`;

let outside: string;
let folder: string;
let marker: string;
/** What came in at the server that the folder names: requests as `GET /path authorization`. */
let stolen: string[];
let thief: Bun.Server<undefined>;

beforeAll(() => {
  outside = realpathSync(mkdtempSync(join(tmpdir(), 'tatami-hostile-')));
  folder = join(outside, 'folder');
  marker = join(outside, 'ran');
  stolen = [];
  thief = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      stolen.push(`${request.method} ${request.url} ${request.headers.get('authorization') ?? ''}`);
      return new Response('{}', { status: 404 });
    },
  });
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  rmSync(marker, { force: true });
  stolen.length = 0;
});
afterAll(async () => {
  await thief.stop(true);
  rmSync(outside, { recursive: true, force: true });
});

function fill(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const evil = (): string =>
  `require('node:fs').appendFileSync(${JSON.stringify(marker)}, 'x'); export const run = () => 1; export default 1;`;
const tatami = (...args: string[]) =>
  runIn(folder, args, { HOME: outside, TATAMI_TOKEN: 'ttm_precious_key' });
/** How often anything of the folder ran. */
const ran = (): number => (existsSync(marker) ? readFileSync(marker, 'utf8').length : 0);

describe('nothing of the folder runs', () => {
  const configurations: [name: string, files: () => Record<string, string>][] = [
    ['a preload in bunfig.toml', () => ({ 'bunfig.toml': 'preload = ["./evil.ts"]', 'evil.ts': evil() })],
    [
      'paths in tsconfig.json that stand for every import',
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
      'modules named as those of the command',
      () => ({
        'node_modules/commander/package.json': '{"name":"commander","main":"index.js"}',
        'node_modules/commander/index.js': evil(),
        'core/main.ts': evil(),
        'package.json': '{"imports":{"#x":"./evil.ts"},"scripts":{"preinstall":"touch ran"}}',
      }),
    ],
  ];
  for (const [name, files] of configurations) {
    test(name, async () => {
      fill({ ...files(), 'plugin/plugin.ts': plugin });
      const version = await tatami('version', '--json');
      expect([version.code, version.json.version]).toEqual([0, expect.stringMatching(/^\d/)]);
      const packed = await tatami('plugin', 'pack', 'plugin', '--json');
      expect([packed.code, packed.json]).toMatchObject([0, { id: 'hostile' }]);
      expect(ran()).toBe(0);
    });
  }

  test('in the jail’s own start, wherever its core stands', () => {
    fill({ 'bunfig.toml': 'preload = ["./evil.ts"]', 'evil.ts': evil() });
    const code = `export default { id: 'a.b', version: '1.0.0', on: { 'issue.created': { handle() {} } } };`;
    const script = `
      import { describePlugin } from ${JSON.stringify(join(packageRoot, 'core/sandbox/describe.ts'))};
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
      'a module that package.json makes a macro',
      () => ({
        'package.json': '{"bun":{"macros":{"greet":{"run":"./m.ts"}}}}',
        'm.ts': evil(),
        'plugin.ts': `import { run } from 'greet'; export default run();`,
      }),
      'greet',
    ],
  ];
  for (const [name, files, says] of bundles) {
    test(`${name} is refused`, async () => {
      fill(files());
      const { code, json } = await tatami('plugin', 'pack', '.', '--json');
      expect([code, json.error.message]).toEqual([1, expect.stringContaining(says)]);
      expect(ran()).toBe(0);
    });
  }
});

describe('no key is sent where the folder says', () => {
  for (const file of ['.env', '.env.local', '.env.development'])
    test(`a server in ${file}`, async () => {
      fill({ [file]: `TATAMI_SERVER=${thief.url.origin}\n` });
      await tatami('plugin', 'list', '--json');
      expect(stolen).toEqual([]);
    });

  test('a proxy in .env', async () => {
    const { origin } = thief.url;
    fill({ '.env': `HTTP_PROXY=${origin}\nhttp_proxy=${origin}\nHTTPS_PROXY=${origin}\nNO_PROXY=\n` });
    await tatami('plugin', 'list', '--server', 'http://tatami.test', '--json');
    expect(stolen).toEqual([]);
  });
});

test.each([
  ['bunfig.toml', (registry: string) => `[install]\nregistry = "${registry}"\n`],
  ['bunfig.toml', (registry: string) => `[install]\nauto = "force"\nregistry = "${registry}"\n`],
  ['.npmrc', (registry: string) => `registry=${registry}\n`],
  ['.env', (registry: string) => `BUN_CONFIG_REGISTRY=${registry}\n`],
])(
  'a missing import is an error that names it, and no registry of %s is asked',
  async (name, configuration) => {
    fill({
      [name]: configuration(thief.url.href),
      'plugin.ts': `import pad from 'left-pad-of-nobody'; export default pad;`,
    });
    const { code, json } = await tatami('plugin', 'pack', '.', '--json');
    expect([code, json.error.message]).toEqual([
      1,
      expect.stringContaining('left-pad-of-nobody, which cannot be found'),
    ]);
    expect(stolen).toEqual([]);
  },
);

describe('nothing outside the folder gets into a package', () => {
  const secret = 'export default "the secret of somebody else";';
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
      'by paths that stand for plugin.ts',
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
      const { code, json } = await tatami('plugin', 'pack', '.', '--out', 'made.json', '--json');
      expect([code, json.error.message]).toEqual([1, expect.stringContaining(says)]);
      expect(json.error.message).not.toContain('the secret');
      expect(existsSync(join(folder, 'made.json'))).toBe(false);
    });
  }
});

test('a plugin is bundled from its own files, wherever the process stands', () => {
  writeFileSync(join(outside, 'secret.ts'), 'export default "the secret";');
  fill({
    'tsconfig.json': '{"compilerOptions":{"baseUrl":".","paths":{"*":["../secret.ts"]}}}',
    'plugin.ts': 'export default "plugin";',
  });
  const script = `
    import { bundlePlugin } from ${JSON.stringify(join(packageRoot, 'sdk/plugin/pack.ts'))};
    process.chdir(${JSON.stringify(folder)});
    console.log(await bundlePlugin(${JSON.stringify(join(folder, 'plugin.ts'))}));`;
  const { stdout } = Bun.spawnSync([process.execPath, '-e', script], { cwd: packageRoot });
  expect(stdout.toString()).toContain('"plugin"');
  expect(stdout.toString()).not.toContain('the secret');
});

describe('with a server', () => {
  let app: TestApp;
  const install = (name: string) =>
    runIn(folder, ['plugin', 'install', name, '--yes', '--json'], {
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
    await tatami('plugin', 'pack', '.', '--out', 'auto-triage');
    return readFileSync(join(folder, 'auto-triage'), 'utf8');
  };

  test('a name is the first-party plugin, whatever file has it; with ./ it is the file', async () => {
    await shadow();
    const named = await install('auto-triage');
    expect([named.code, named.json.pluginId]).toEqual([0, 'auto-triage']);
    expect(named.err).toContain('./auto-triage');
    const filed = await install('./auto-triage');
    expect([filed.code, filed.json.pluginId]).toEqual([0, 'shadow']);
    writeFileSync(join(folder, 'shadow'), await shadow());
    const unknown = await install('shadow');
    expect([unknown.code, unknown.json.error.message]).toEqual([1, expect.stringContaining('./shadow')]);
  });

  test('its tsconfig.json does not stand for the files of a first-party plugin', async () => {
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

  test('a server that the environment names is named before a key is sent to it', async () => {
    fill({ other: '' });
    const { code, err } = await runIn(folder, ['plugin', 'list'], {
      TATAMI_SERVER: app.url,
      TATAMI_TOKEN: app.workspace.apiKey,
    });
    expect([code, err]).toEqual([0, `Using the server ${app.url}, from TATAMI_SERVER.\n`]);
  });
});

describe('nothing outside the folder is written to', () => {
  test('a package does not go through a link', async () => {
    const victim = join(outside, 'victim');
    writeFileSync(victim, 'precious');
    fill({ 'plugin.ts': plugin });
    for (const name of ['folder.tatami.json', 'made.json']) symlinkSync(victim, join(folder, name));
    for (const more of [[], ['--out', 'made.json']]) {
      const { code, json } = await tatami('plugin', 'pack', '.', ...more, '--json');
      expect([code, json.error.message]).toEqual([1, expect.stringContaining('symbolic link')]);
    }
    expect(readFileSync(victim, 'utf8')).toBe('precious');
  });

  test('nor does the secret of `listen --write-env`', async () => {
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

describe('typed as `bun core/main.ts`, it starts itself again', () => {
  const main = join(packageRoot, 'core/main.ts');
  const typed = async (...args: string[]) =>
    ended(
      Bun.spawn([process.execPath, main, ...args], {
        cwd: folder,
        env: { PATH: process.env.PATH ?? '', HOME: outside, TATAMI_TOKEN: 'ttm_precious_key' },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    );

  test('without what .env said', async () => {
    fill({ '.env': `TATAMI_SERVER=${thief.url.origin}\nHTTP_PROXY=${thief.url.origin}\n` });
    await typed('plugin', 'list', '--json');
    await typed('plugin', 'list', '--server', 'http://tatami.test', '--json');
    expect(stolen).toEqual([]);
  });

  test('asking no registry for what a plugin lacks', async () => {
    fill({
      '.npmrc': `registry=${thief.url.href}\n`,
      'plugin.ts': `export { x as default } from 'left-pad-of-nobody';`,
    });
    const { json } = await typed('plugin', 'pack', '.', '--json');
    expect(json.error.message).toContain('left-pad-of-nobody, which cannot be found');
    expect(stolen).toEqual([]);
  });

  test('but not where Bun has read a bunfig.toml: it names the way to start that reads none', async () => {
    fill({ 'bunfig.toml': '', '.env': `TATAMI_SERVER=${thief.url.origin}\n` });
    const { code, json } = await typed('plugin', 'list', '--json');
    expect([code, json.error]).toEqual([
      2,
      { code: 'usage', message: expect.stringContaining(join(packageRoot, 'bin/tatami')) },
    ]);
    expect(stolen).toEqual([]);
  });
});

test('paths begin in the folder, whichever way the command is reached', async () => {
  fill({ 'plugin/plugin.ts': plugin, 'sub dir/x': '' });
  const link = join(outside, 'tatami');
  symlinkSync(join(packageRoot, 'bin/tatami'), join(outside, 'hop'));
  symlinkSync('hop', link);
  const packed = Bun.spawnSync([link, 'plugin', 'pack', '../plugin', '--out', '../made.json', '--json'], {
    cwd: join(folder, 'sub dir'),
    env: { PATH: process.env.PATH ?? '', HOME: outside },
  });
  expect(JSON.parse(packed.stdout.toString())).toMatchObject({ file: '../made.json', id: 'hostile' });
  expect(existsSync(join(folder, 'made.json'))).toBe(true);
  const made = await tatami('init', '--data-dir', 'data', '--workspace', 'A', '--team', 'ENG', '--json');
  expect([made.code, existsSync(join(folder, 'data/master.key'))]).toEqual([0, true]);
});

test('the launcher and the second start agree on the flags', () => {
  const launcher = readFileSync(join(packageRoot, 'bin/tatami'), 'utf8');
  expect(launcher).toContain(` ${cleanBunFlags.join(' ')} "--cwd=$root"`);
});
