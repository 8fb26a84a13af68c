// A file of an earlier version is rewritten as a shrinkable one with all its rows, or stays unchanged.
import { afterAll, expect, test } from 'bun:test';
import Database from 'libsql';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../migrate.ts';
import { makeShrinkable } from './shrinkable.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-shrinkable-'));
afterAll(() => rmSync(dir, { recursive: true }));

/** Creates a file as an earlier version did, with deleted rows after the first `retained` ones. */
function oldFile(name: string, rows = 2_000, retained = 10): string {
  const temporary = join(dir, `${name}.made`);
  const path = join(dir, name);
  migrate({ path: temporary, snapshots: join(dir, 'snapshots'), nowMs: () => 0 });
  const db = new Database(temporary);
  db.exec('PRAGMA auto_vacuum = NONE');
  db.prepare('VACUUM INTO ?1').run([path]);
  db.close();
  const old = new Database(path);
  old.prepare('PRAGMA journal_mode = WAL').all();
  old.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
    INSERT INTO cursors SELECT 'ws', printf('%01000d', i), i FROM n;
    DELETE FROM cursors WHERE sequence > ${retained};`);
  old.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  old.close();
  return path;
}

const modeOf = (path: string): unknown => {
  const db = new Database(path);
  const mode = Object.values(db.prepare('PRAGMA auto_vacuum').all()[0] as object)[0];
  const { count } = db.prepare('SELECT count(*) AS count FROM cursors').all()[0] as { count: number };
  const [version] = db.prepare('PRAGMA user_version').all();
  db.close();
  return { mode, count, ...(version as object) };
};

test('an old file is rewritten smaller and shrinkable, with its schema and its rows', () => {
  const path = oldFile('old.db');
  const before = statSync(path).size;
  const { user_version: version } = modeOf(path) as { user_version: number };
  expect(makeShrinkable(path)).toBe('made');
  expect(modeOf(path)).toEqual({ mode: 2, count: 10, user_version: version });
  expect(statSync(path).size).toBeLessThan(before / 2);
  expect(makeShrinkable(path)).toBe('already');
});

test('a disk without enough space leaves the file unchanged, and the message states the required space', () => {
  const path = oldFile('tight.db');
  const before = statSync(path).size;
  expect(makeShrinkable(path, { freeBytes: () => 1024 * 1024 })).toMatchObject({
    problem: expect.stringMatching(/needs \d+ MiB of free space, and there are 1 MiB/),
  });
  expect([statSync(path).size, modeOf(path)]).toEqual([
    before,
    expect.objectContaining({ mode: 0, count: 10 }),
  ]);
});

test('the WAL archive needs space as well, if the log is archived before it is checkpointed', () => {
  const path = oldFile('copied.db');
  const freeBytes = (): number => 2.5 * statSync(path).size + 64 * 1024 * 1024;
  expect(makeShrinkable(path, { freeBytes, beforeCheckpoint: () => undefined })).toMatchObject({
    problem: expect.stringContaining('of free space'),
  });
  expect(makeShrinkable(path, { freeBytes })).toBe('made');
});

test('a process that is killed during the rewrite leaves the file unchanged, and the next start completes it', async () => {
  const path = oldFile('killed.db', 20_000, 20_000);
  const before = modeOf(path);
  const program = `const { makeShrinkable } = await import(${JSON.stringify(join(import.meta.dir, 'shrinkable.ts'))});
    console.log('begins'); makeShrinkable(${JSON.stringify(path)});`;
  for (const afterMs of [5, 20, 60]) {
    const child = Bun.spawn([process.execPath, '-e', program], { stdout: 'pipe', stderr: 'inherit' });
    await child.stdout.getReader().read();
    await Bun.sleep(afterMs);
    child.kill('SIGKILL');
    await child.exited;
    const after = modeOf(path) as { mode: number };
    expect({ ...after, mode: 0 }).toEqual(before as never);
  }
  expect(['already', 'made']).toContain(makeShrinkable(path) as string);
  expect(modeOf(path)).toEqual({ ...(before as object), mode: 2 });
  const db = new Database(path);
  expect(db.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  db.close();
});
