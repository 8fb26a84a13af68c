// A start that is cut short leaves complete files or none, and all files are private.
import { afterEach, expect, test } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { migrate } from '../migrate.ts';
import { migrations } from '../migrations/index.ts';
import { openStore } from '../open-store.ts';

const dirs: string[] = [];
const fresh = (): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-dir-'));
  dirs.push(dir);
  return dir;
};
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

test('partial files of a killed start do not block the next one', async () => {
  const dir = fresh();
  for (const name of ['master.key.new', 'log-head.new', 'lock'])
    writeFileSync(join(dir, name), 'half', { mode: 0o600 });
  const opened = openStore(dir, Date.now);
  await opened.close();
  expect(readFileSync(join(dir, 'master.key'), 'utf8')).toHaveLength(45);
  expect(readFileSync(join(dir, 'log-head'))).toHaveLength(1024);
  expect(readdirSync(dir).filter((name) => name.endsWith('.new'))).toEqual([]);
});

test('a truncated log head or master key is rejected, and never recreated over a database', async () => {
  const dir = fresh();
  await openStore(dir, Date.now).close();
  const head = readFileSync(join(dir, 'log-head'));
  for (const bytes of [0, 1, 60]) {
    writeFileSync(join(dir, 'log-head'), head);
    truncateSync(join(dir, 'log-head'), bytes);
    expect(() => openStore(dir, Date.now)).toThrow('damaged in both slots');
  }
  writeFileSync(join(dir, 'log-head'), head);
  truncateSync(join(dir, 'master.key'), 20);
  expect(() => openStore(dir, Date.now)).toThrow('must contain 32 bytes');
  rmSync(join(dir, 'master.key'));
  expect(() => openStore(dir, Date.now)).toThrow('Restore the key file');
  expect(existsSync(join(dir, 'master.key'))).toBe(false);
});

test('a rejected start releases the directory', async () => {
  const dir = fresh();
  await openStore(dir, Date.now).close();
  const key = readFileSync(join(dir, 'master.key'));
  writeFileSync(join(dir, 'master.key'), 'no key');
  expect(() => openStore(dir, Date.now)).toThrow('must contain 32 bytes');
  writeFileSync(join(dir, 'master.key'), key);
  await openStore(dir, Date.now).close();
});

/** Octal mode by relative path, for everything in the directory while the store is open. */
function modes(dir: string): Record<string, string> {
  const names = ['', ...readdirSync(dir, { recursive: true }).map(String)];
  return Object.fromEntries(
    names.map((name) => [name, (statSync(join(dir, name)).mode & 0o777).toString(8)]),
  );
}

test.each([0o000, 0o022, 0o077, 0o277])('everything is private under umask %i', async (umask) => {
  const dir = join(fresh(), 'data');
  const before = process.umask(umask);
  try {
    const opened = openStore(dir, Date.now);
    const { '': root, ...files } = modes(dir);
    await opened.close();
    expect(root).toBe('700');
    expect(Object.keys(files).sort()).toEqual([
      'identity',
      'lock',
      'log-head',
      'master.key',
      'tatami.db',
      'tatami.db-shm',
      'tatami.db-sums',
      'tatami.db-wal',
    ]);
    expect(new Set(Object.values(files))).toEqual(new Set(['600']));
    const at = { path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots'), nowMs: Date.now };
    const { snapshot } = migrate(at, [...migrations, { name: 'next', sql: 'CREATE TABLE next (id)' }]);
    const snapshotModes = modes(at.snapshots);
    expect(snapshotModes).toEqual({ '': '700', [basename(snapshot ?? '')]: '600' });
  } finally {
    process.umask(before);
  }
});

test.each([
  ['', 0o750],
  ['', 0o701],
  ['master.key', 0o640],
  ['tatami.db', 0o604],
  ['snapshots', 0o755],
  ['snapshots/schema-1.db', 0o644],
])('"%s" with access for other users is rejected, with the command that fixes it', async (name, mode) => {
  const dir = fresh();
  await openStore(dir, Date.now).close();
  mkdirSync(join(dir, 'snapshots'), { mode: 0o700 });
  writeFileSync(join(dir, 'snapshots/schema-1.db'), '', { mode: 0o600 });
  const path = join(dir, name);
  chmodSync(path, mode);
  expect(() => openStore(dir, Date.now)).toThrow(
    `${path.replace(/\/$/, '')} is open to other users (mode ${mode.toString(8)})`,
  );
  expect(() => openStore(dir, Date.now)).toThrow(`chmod -R go-rwx ${dir}`);
  expect(Bun.spawnSync(['chmod', '-R', 'go-rwx', dir]).exitCode).toBe(0);
  await openStore(dir, Date.now).close();
});

test('a directory without a database is rejected with a new one below it, and nothing else is', () => {
  const dir = fresh();
  chmodSync(dir, 0o755);
  writeFileSync(join(dir, 'other'), '', { mode: 0o600 });
  const start = () => openStore(dir, Date.now);
  expect(start).toThrow(`${dir} is open to other users (mode 755)`);
  expect(start).toThrow(`--data-dir ${dir}/tatami`);
  expect(start).not.toThrow('chmod');
  expect(readdirSync(dir)).toEqual(['other']);
});

test('a symbolic link is not followed: the files of its target folder are not inspected', async () => {
  const [dir, other] = [fresh(), fresh()];
  await openStore(dir, Date.now).close();
  symlinkSync(other, join(dir, 'snapshots'));
  writeFileSync(join(other, 'file'), '');
  chmodSync(join(other, 'file'), 0o644);
  await openStore(dir, Date.now).close();
  chmodSync(other, 0o755);
  const start = () => openStore(dir, Date.now);
  expect(start).toThrow(
    `${dir}/snapshots is a symbolic link, whose target is open to other users (mode 755)`,
  );
  expect(start).not.toThrow('chmod');
});

test('an empty directory is made private; a directory with files is left unchanged', async () => {
  const dir = fresh();
  chmodSync(dir, 0o777);
  writeFileSync(join(dir, 'planted'), '', { mode: 0o600 });
  expect(() => openStore(dir, Date.now)).toThrow('open to other users (mode 777)');
  rmSync(join(dir, 'planted'));
  await openStore(dir, Date.now).close();
  expect(modes(dir)['']).toBe('700');
});
