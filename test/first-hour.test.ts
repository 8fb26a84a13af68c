// Runs the scripts of examples/first-hour as an administrator, an integrator and a plugin author, from a
// clone or an empty folder, with no other files of this repository available.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { copyFileSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { serveTatami, tatami, temporary, type Served } from './cli/tatami.ts';
import { root } from './imports.ts';

// A folder on a disk, where packages can be linked from the caches instead of copied.
const dir = temporary(existsSync('/var/tmp') ? '/var/tmp' : undefined);
let served: Served;
let token: string;

const needs = ['bash', 'curl', 'node', 'npm'];
const isMissing = needs.some((program) => Bun.which(program) === null);
const limitMs = 240_000;

beforeAll(async () => {
  for (const name of ['home', 'tmp', 'bin']) mkdirSync(dir.path(name));
  symlinkSync(join(root, 'bin/tatami'), dir.path('bin/tatami'));
  // The machine configures the package registry.
  const settings = process.env.npm_config_userconfig ?? join(homedir(), '.npmrc');
  if (existsSync(settings)) copyFileSync(settings, dir.path('home/.npmrc'));
  const data = dir.path('data');
  const first = await tatami(['init', '--data-dir', data, '--workspace', 'Acme', '--team', 'ENG', '--json']);
  token = first.json.apiKey;
  served = await serveTatami(['--data-dir', data, '--egress-allow', '127.0.0.0/8', '--json']);
}, limitMs);

afterAll(async () => {
  served.child.kill();
  await served.child.exited;
  dir[Symbol.dispose]();
});

/** Environment variables about packages: registry, proxy and credentials. */
const ofPackages =
  /^(npm_config_(registry|.*proxy|.*auth.*|cafile|strict_ssl|nodedir)|BUN_CONFIG_\w+|https?_proxy|no_proxy|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS)$/i;

/**
 * An environment without this repository: none of its programs on PATH and a new home, but with the existing
 * caches.
 */
function strangersEnv(): Record<string, string> {
  const { PATH = '', npm_config_cache, BUN_INSTALL_CACHE_DIR } = process.env;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => ofPackages.test(name))),
    PATH: PATH.split(':')
      .filter((folder) => !folder.includes('node_modules') && !folder.startsWith(root))
      .join(':'),
    HOME: dir.path('home'),
    TMPDIR: dir.path('tmp'),
    npm_config_cache: npm_config_cache ?? join(homedir(), '.npm'),
    npm_config_prefer_offline: 'true',
    BUN_INSTALL_CACHE_DIR: BUN_INSTALL_CACHE_DIR ?? join(homedir(), '.bun/install/cache'),
  };
}

interface Typed {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

/** @throws Error with the whole output */
async function typed(command: readonly string[], { cwd = dir.path('home'), env = {} }: Typed = {}) {
  const child = Bun.spawn([...command], {
    cwd,
    env: { ...strangersEnv(), ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: limitMs - 10_000,
  });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}:\n${out}\n${err}`);
  return out;
}

const script = (name: string) => ['bash', join(root, 'examples/first-hour', name)];
const remote = () => ({ TATAMI_SERVER: served.url, TATAMI_TOKEN: token });

/** Creates a repository of the current files that can be cloned; a plain folder without git. */
async function repository(): Promise<string> {
  const folder = dir.path('repository');
  const git = (...args: string[]) => typed(['git', '-C', folder, ...args]);
  for (const file of await filesOf()) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(root, file), join(folder, file));
  }
  if (Bun.which('git') !== null) {
    await git('init', '-q');
    await git('add', '-A');
    await git('-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '-q', '-m', 'x');
  }
  return folder;
}

async function filesOf(): Promise<string[]> {
  if (existsSync(join(root, '.git')) && Bun.which('git') !== null) {
    const listed = await typed(['git', '-C', root, 'ls-files', '-zco', '--exclude-standard']);
    return listed.split('\0').filter((file) => file !== '' && existsSync(join(root, file)));
  }
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .filter((path) => !/(^|\/)(node_modules|dist|data)\//.test(path));
}

/** Packs the SDK as the README describes. @returns the file */
async function packedSdk(): Promise<string> {
  const folder = dir.path('sdk');
  await typed(['npm', 'run', 'build:sdk', '--', '--out', folder], { cwd: root });
  const name = await typed(['npm', 'pack', '--silent'], { cwd: folder });
  return join(folder, name.trim());
}

const hour = (who: string, name: string, run: () => Promise<string>): void =>
  test.skipIf(isMissing)(
    `the first hour of ${who} succeeds (needs ${needs.join(', ')})`,
    async () => expect(await run()).toContain(`First hour of ${name}: all steps passed.`),
    limitMs,
  );

hour('an administrator, from a clone', 'an administrator', async () =>
  typed(script('administrator.sh'), { env: { TATAMI_REPOSITORY: await repository() } }),
);
hour('an integrator, with the SDK', 'an integrator', async () =>
  typed([...script('integrator.sh'), await packedSdk()], { env: remote() }),
);
hour('a plugin author, with the launcher', 'a plugin author', () =>
  typed(script('author.sh'), {
    env: { ...remote(), PATH: `${dir.path('bin')}:${strangersEnv().PATH}` },
  }),
);
