// A data directory belongs to one user: no command creates files of another user in it, and existing ones are reported
// and can be fixed. Needs root, which alone can act for two users.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../core/platform/lib/process/own-program.ts';
import { pathsOf } from '../../core/platform/store/files/private.ts';
import { programCommand } from '../program.ts';
import { ended, tatami, type CliResult } from './tatami.ts';

const isRoot = process.geteuid?.() === 0;
/** A user who is not root and owns no files. */
const nobody = 65_534;
/** True if other users can read the checkout. */
const isPublic =
  isRoot && Bun.spawnSync(['test', '-r', import.meta.path], { uid: nobody, gid: nobody, cwd: '/' }).success;

let parent: string;
let exported: string;
let backup: string;
let restored: string;
let copies = 0;

beforeAll(async () => {
  if (!isRoot) return;
  parent = mkdtempSync(join(tmpdir(), 'tatami-owner-'));
  chmodSync(parent, 0o755);
  const [first, backups] = [join(parent, 'first'), join(parent, 'backups')];
  exported = join(parent, 'workspace.jsonl');
  restored = join(parent, 'restored');
  const initResult = await tatami([
    'init',
    '--data-dir',
    first,
    '--workspace',
    'A',
    '--team',
    'ENG',
    '--json',
  ]);
  expect(initResult.code).toBe(0);
  expect((await tatami(['export', exported, '--data-dir', first])).code).toBe(0);
  backup = (await tatami(['backup', backups, '--data-dir', first, '--with-key', '--json'])).json.path;
  expect((await tatami(['restore', backup, '--data-dir', restored])).code).toBe(0);
});

afterAll(() => {
  if (isRoot) rmSync(parent, { recursive: true, force: true });
});

/** A restored data directory that awaits release and was never served. */
function directoryOf(user: number): string {
  const dir = join(parent, String(++copies));
  cpSync(restored, dir, { recursive: true });
  for (const { path } of pathsOf(dir)) chownSync(path, user, user);
  return dir;
}

const foreignIn = (dir: string): string[] =>
  pathsOf(dir)
    .filter(({ stats }) => stats.uid !== nobody || stats.gid !== nobody)
    .map(({ path }) => path.slice(dir.length + 1));

/** Runs from source, because only root can read the test bundle. */
const asNobody = async (...args: string[]): Promise<CliResult> =>
  ended(
    Bun.spawn(programCommand(args, ['--no-install']), {
      ...{ uid: nobody, gid: nobody, cwd: packageRoot },
      env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', TATAMI_CACHE_DIR: '/nonexistent' },
      ...{ stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' },
    }),
  );

describe.skipIf(!isRoot)('in a data directory of another user (needs root)', () => {
  test.each<[string, (dir: string) => string[]]>([
    ['serve', () => ['serve', '--port', '0']],
    ['init --add', () => ['init', '--add', '--workspace', 'Foo', '--team', 'FOO']],
    ['master-key rotate', () => ['master-key', 'rotate']],
    ['import', () => ['import', exported]],
    ['keys create', () => ['keys', 'create']],
    ['members invite', () => ['members', 'invite', 'x@example.com']],
    ['release', () => ['release']],
    ['doctor fix', () => ['doctor', 'fix', 'leftovers']],
  ])('%s is rejected and changes nothing', async (_, args) => {
    const dir = directoryOf(nobody);
    const before = pathsOf(dir).map(({ path }) => path);
    const { code, err } = await tatami([...args(dir), '--data-dir', dir]);
    expect([code, err]).toEqual([
      1,
      expect.stringContaining(
        `${dir} belongs to another user. Run the command as that user: sudo -u '#65534' tatami …`,
      ),
    ]);
    expect(pathsOf(dir).map(({ path }) => path)).toEqual(before);
    expect(foreignIn(dir)).toEqual([]);
  });

  test('restore into an empty directory is rejected', async () => {
    const dir = join(parent, 'empty');
    mkdirSync(dir, { mode: 0o700 });
    chownSync(dir, nobody, nobody);
    const { code, err } = await tatami(['restore', backup, '--data-dir', dir]);
    expect([code, err]).toEqual([1, expect.stringContaining('belongs to another user')]);
    expect(lstatSync(dir).uid).toBe(nobody);
  });

  test('backup and inspection commands leave no file of root', async () => {
    const dir = directoryOf(nobody);
    rmSync(join(dir, 'lock'));
    expect((await tatami(['backup', join(parent, 'more'), '--data-dir', dir])).code).toBe(0);
    await tatami(['doctor', '--data-dir', dir]);
    expect(foreignIn(dir)).toEqual([]);
  });

  test('files of root are found, fixed by `doctor fix permissions`, and nothing outside changes', async () => {
    const dir = directoryOf(nobody);
    const outside = join(parent, 'outside');
    writeFileSync(outside, '', { mode: 0o600 });
    symlinkSync(outside, join(dir, 'link'));
    chownSync(join(dir, 'identity'), 0, 0);
    const looked = await tatami(['doctor', '--data-dir', dir]);
    expect(looked.code).toBe(1);
    expect(looked.out).toContain(
      `✗ permissions: These files have another owner than ${dir}: ${dir}/identity`,
    );
    expect(looked.out).toContain('doctor fix permissions');
    const { code, out } = await tatami(['doctor', 'fix', 'permissions', '--data-dir', dir]);
    expect([code, out]).toEqual([0, 'permissions: gave 1 files to the owner of the directory.\n']);
    expect(foreignIn(dir)).toEqual(['link']);
    expect(lstatSync(outside).uid).toBe(0);
  });
});

describe.skipIf(!isPublic)(
  'with a file of root in its directory (needs root, and a checkout that others may read)',
  () => {
    test('a server names the file and the remedy, and opens no port', async () => {
      const dir = directoryOf(nobody);
      chownSync(join(dir, 'identity'), 0, 0);
      const { code, err } = await asNobody('serve', '--data-dir', dir, '--port', '0');
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`${dir}/identity does not belong to the owner of ${dir}`),
      ]);
      expect(err).toContain(`tatami doctor fix permissions --data-dir ${dir}`);
      expect(err).not.toContain('--port');
    });

    test('the doctor does not suggest `accept`, but root to change the owner', async () => {
      const dir = directoryOf(nobody);
      chownSync(join(dir, 'identity'), 0, 0);
      const { out } = await asNobody('doctor', '--data-dir', dir);
      expect(out).toContain('doctor fix permissions');
      expect(out).not.toContain('accept');
      expect(out).not.toContain('EACCES');
      const { code, err } = await asNobody('doctor', 'fix', 'permissions', '--data-dir', dir);
      expect([code, err]).toEqual([1, expect.stringContaining('Run this command as root')]);
    });

    test('a folder of root rejects a backup of another user, with an error message', async () => {
      const folder = join(parent, 'of-root');
      mkdirSync(folder, { mode: 0o700 });
      const { code, err } = await asNobody('backup', join(folder, 'x'), '--data-dir', directoryOf(nobody));
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`${folder}/x cannot be accessed by this user`),
      ]);
      expect(err).not.toContain('EACCES');
    });

    test('a directory of root is rejected by a server of another user, without a recursive command', async () => {
      const { code, err } = await asNobody('serve', '--data-dir', directoryOf(0), '--port', '0');
      expect([code, err]).toEqual([1, expect.stringContaining('belongs to another user')]);
      expect(err).not.toMatch(/--port| -R /);
    });
  },
);
