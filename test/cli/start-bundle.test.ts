// The start-up bundle of a clone: used when it is current, replaced when it is not, never required.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf, lockPath } from '../../core/app/start/cache.ts';
import { packageRoot } from '../../core/platform/lib/process/own-program.ts';

const clone = realpathSync(mkdtempSync(join(tmpdir(), 'tatami-clone-')));
const cache = join(clone, 'node_modules/.cache/tatami');
const command = join(clone, 'core/app/cli/tatami.ts');
const original = readFileSync(join(packageRoot, 'core/app/cli/tatami.ts'), 'utf8');
/** A package of its own, which a test can edit. */
const ownPackage = 'commander';

beforeAll(() => {
  for (const name of ['core', 'docs', 'plugins', 'sdk', 'bin', 'package.json', 'bun.lock', 'tsconfig.json'])
    cpSync(join(packageRoot, name), join(clone, name), { recursive: true });
  mkdirSync(join(clone, 'node_modules'));
  for (const name of readdirSync(join(packageRoot, 'node_modules')).filter((entry) => entry !== '.cache'))
    if (name === ownPackage)
      cpSync(join(packageRoot, 'node_modules', name), join(clone, 'node_modules', name), { recursive: true });
    else symlinkSync(join(packageRoot, 'node_modules', name), join(clone, 'node_modules', name));
});
beforeEach(async () => {
  await settled();
  writeFileSync(command, original);
  // In whole seconds, which can be restored exactly.
  utimesSync(command, 1_767_225_600, 1_767_225_600);
});
afterAll(async () => {
  await settled();
  rmSync(clone, { recursive: true, force: true });
});

const names = (): string[] => (existsSync(cache) ? readdirSync(cache) : []);
const bundles = (): string[] => names().filter((name) => /^[0-9a-f]{32}$/.test(name));

function start(...args: string[]) {
  return Bun.spawn([join(clone, 'bin/tatami'), ...args], {
    cwd: '/',
    env: { PATH: process.env.PATH ?? '' },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  });
}
async function run(...args: string[]): Promise<{ out: string; err: string; code: number }> {
  const child = start(...args);
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { out, err, code };
}

/** Id of the process that builds. */
function builder(): number | null {
  try {
    const id = Number.parseInt(readlinkSync(join(cache, 'building')), 10);
    return /\) [^Z]/.test(readFileSync(`/proc/${id}/stat`, 'utf8')) ? id : null;
  } catch {
    return null;
  }
}
async function until(isTrue: () => boolean): Promise<void> {
  // The build has the lowest priority, so it takes long on a busy machine.
  const end = Bun.nanoseconds() + 50e9;
  while (!isTrue()) {
    if (Bun.nanoseconds() > end) throw new Error(`The cache has ${names().join(', ') || 'no files'}.`);
    await Bun.sleep(20);
  }
}
/** Waits for a build that a previous test started. */
const settled = () => until(() => builder() === null);

/** Prevents builds, each of which takes some seconds, as one that runs does. */
function withoutBuilds(): Disposable {
  mkdirSync(cache, { recursive: true });
  symlinkSync(identityOf(process.pid), lockPath(clone));
  return { [Symbol.dispose]: () => rmSync(lockPath(clone)) };
}

/** Starts once and waits for a new bundle. @returns its folder */
async function built(): Promise<string> {
  const before = bundles();
  await run('--version');
  await until(() => bundles().some((name) => !before.includes(name)));
  await settled();
  return join(
    cache,
    bundles().find((name) => !before.includes(name))!,
  );
}
/** Replaces the program of a bundle, to show which one runs. */
function replaceProgram(folder: string, text: string): void {
  const program = join(folder, 'program');
  rmSync(program);
  writeFileSync(program, text, { mode: 0o755 });
}
const announce = '#!/bin/sh\necho bundled\n';

/** Replaces a text by one of the same length and restores the times. */
function editUnnoticeably(path: string, from: string, to: string): void {
  const { size, mtimeMs, atime, mtime } = statSync(path);
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
  utimesSync(path, atime, mtime);
  expect([statSync(path).size, statSync(path).mtimeMs]).toEqual([size, mtimeMs]);
}

test('several first starts at once build one bundle, and the next start runs it', async () => {
  const first = await Promise.all([1, 2, 3, 4].map(() => run('--version')));
  expect(first.map(({ out, err, code }) => [out, err, code])).toEqual(
    first.map(() => [expect.stringMatching(/^\d+\.\d+\.\d+\n$/), '', 0]),
  );
  await until(() => bundles().length === 1);
  await settled();
  expect(names()).toEqual(bundles());
  expect(await run('--version')).toEqual(first[0]!);
  replaceProgram(join(cache, bundles()[0]!), announce);
  expect((await run('--version')).out).toBe('bundled\n');
});

/** A text after which a source has another key. */
const another = '// Another.\n';

test('an edited package takes effect at the next start', async () => {
  using _ = withoutBuilds();
  expect((await run('--help')).out).toBe('bundled\n');
  const path = join(clone, 'node_modules', ownPackage, 'lib/help.js');
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('Usage:', 'Use this:'));
  expect((await run('--help')).out).toContain('Use this:');
});

test('an edited source file takes effect at the next start, even with the same size and time', async () => {
  using _ = withoutBuilds();
  editUnnoticeably(command, 'A self-hostable', 'A SELF-HOSTABLE');
  expect((await run('--help')).out).toContain('A SELF-HOSTABLE issue tracker');
});

test('an error names the source file and its line', async () => {
  writeFileSync(
    command,
    original.replace('const program = new', "throw new Error('on purpose');\n  const program = new"),
  );
  const line =
    readFileSync(command, 'utf8')
      .split('\n')
      .findIndex((text) => text.includes('on purpose')) + 1;
  const folder = await built();
  const { err, code } = await run('--version');
  expect([err, code]).toEqual([expect.stringContaining(`(core/app/cli/tatami.ts:${line}:`), 1]);
  expect(err).not.toContain(folder);
});

test('a killed build leaves nothing that a start uses; the next start builds again, and two bundles are stored', async () => {
  appendFileSync(command, another);
  const before = bundles();
  await run('--version');
  await until(() => names().some((name) => name.startsWith('build-')));
  process.kill(builder()!, 'SIGKILL');
  // A start that still sees the process leaves the build to it.
  await settled();
  expect((await run('--version')).code).toBe(0);
  await until(() => bundles().some((name) => !before.includes(name)));
  await settled();
  expect(names()).toEqual(bundles());
  expect(bundles().length).toBe(2);
});

test('a bundle that cannot be executed is removed, and the command runs from source', async () => {
  appendFileSync(command, another);
  const before = bundles();
  for (const name of before) replaceProgram(join(cache, name), 'damaged');
  expect((await run('--version')).code).toBe(0);
  expect(bundles().length).toBe(before.length - 1);
});

test('the command runs from source where the folder cannot be written', async () => {
  appendFileSync(command, '// Read-only.\n');
  rmSync(join(clone, 'node_modules/.cache'), { recursive: true });
  // A file in the place of the folder, because root may write to read-only folders.
  writeFileSync(join(clone, 'node_modules/.cache'), '');
  const { out, err, code } = await run('--version');
  expect([out, err, code]).toEqual([expect.stringMatching(/^\d+\./), '', 0]);
  expect(statSync(join(clone, 'node_modules/.cache')).isFile()).toBe(true);
});
