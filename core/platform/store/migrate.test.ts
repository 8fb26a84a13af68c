// docs/spec/durability.md › Migrations: a migration is complete or absent whenever the process is killed, the snapshot is a usable
// database, and a build refuses an unknown schema without changing a byte.
import { afterEach, beforeEach, expect, test } from 'bun:test';
import Database from 'libsql';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
  mkdirSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { laterMigrations } from '../../../test/faults/later-migrations.ts';
import { hasStrace, underFault } from '../../../test/faults/strace.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';

const migrator = join(import.meta.dir, '../../../test/faults/migrate-process.ts');
const nowMs = (): number => 1_800_000_000_000;
const current = migrations.length;
const rows = 40;
let parent = '';

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'tatami-migrate-'));
  const dir = join(parent, 'base');
  mkdirSync(dir);
  migrate({ path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots'), nowMs });
  const db = new Database(join(dir, 'tatami.db'));
  const put = db.prepare("INSERT INTO cursors (workspace_id, consumer, sequence) VALUES ('ws_a', ?1, ?2)");
  for (let n = 0; n < rows; n++) put.run([`c${n}`, BigInt(n)]);
  db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
  db.close();
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const copy = (to: string): { dir: string; path: string; snapshots: string; nowMs: () => number } => {
  const dir = join(parent, to);
  Bun.spawnSync(['cp', '-r', join(parent, 'base'), dir]);
  return { dir, path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots'), nowMs };
};

interface Look {
  version: number;
  schema: string;
  applied: number;
  rows: string;
  integrity: string;
}

/** Returns the contents of a database, for comparison. */
function look(path: string): Look {
  const db = new Database(path);
  const all = (sql: string): Record<string, unknown>[] => db.prepare(sql).all() as Record<string, unknown>[];
  const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex');
  const seen = {
    version: Number(all('PRAGMA user_version')[0]?.user_version),
    schema: digest(all('SELECT name, sql FROM sqlite_schema ORDER BY name')),
    applied: all('SELECT version FROM migrations').length,
    rows: digest(all('SELECT * FROM cursors ORDER BY consumer')),
    integrity: String(all('PRAGMA integrity_check')[0]?.integrity_check),
  };
  db.close();
  return seen;
}

test.skipIf(!hasStrace)(
  'a migration that is killed at any write is complete or absent, and completes on the next start (needs strace)',
  async () => {
    const versions = [current, current + 1, current + 2].map((version) => {
      const at = copy(`v${version}`);
      migrate(at, laterMigrations.slice(0, version));
      return look(at.path);
    });
    const wrong: string[] = [];
    const seen = new Set<number>();
    let kills = 0;
    const killAll = async (call: string, step: number): Promise<void> => {
      for (let when = 1; ; when += step) {
        const at = copy(`${call}-${when}`);
        const child = Bun.spawn(
          underFault(`${call}:signal=SIGKILL:when=${when}`, [], [process.execPath, migrator, at.dir]),
          { stdout: 'ignore', stderr: 'ignore' },
        );
        await child.exited;
        if (child.exitCode === 0) break;
        kills++;
        const after = look(at.path);
        seen.add(after.version);
        if (!Bun.deepEquals(after, versions[after.version - current]))
          wrong.push(`${call} ${when}: between versions, ${JSON.stringify(after)}`);
        for (const name of existsSync(at.snapshots) ? readdirSync(at.snapshots) : [])
          if (name.endsWith('.db') && look(join(at.snapshots, name)).rows !== versions[0]?.rows)
            wrong.push(`${call} ${when}: ${name} is no snapshot`);
        migrate(at, laterMigrations);
        if (!Bun.deepEquals(look(at.path), versions[2]))
          wrong.push(`${call} ${when}: the next run was incomplete`);
        rmSync(at.dir, { recursive: true, force: true });
      }
    };
    // The snapshot is written page by page before the first statement; a sample of its pages covers them all.
    const step = process.env.TATAMI_LONG ? 1 : 12;
    await Promise.all([killAll('pwrite64', step), killAll('fsync', 1)]);
    expect(wrong).toEqual([]);
    expect(kills).toBeGreaterThan(20);
    expect(seen).toContain(current);
    expect(seen).toContain(current + 1);
  },
  60_000,
);

test('a snapshot is made before the first change, even if one of the same moment exists', () => {
  const at = copy('snapshot');
  const first = migrate(at, laterMigrations.slice(0, current + 1));
  expect(look(first.snapshot ?? '')).toMatchObject({ version: current, integrity: 'ok' });
  const second = migrate(at, laterMigrations);
  expect(look(second.snapshot ?? '')).toMatchObject({ version: current + 1, integrity: 'ok' });

  const again = copy('again');
  const half = join(again.snapshots, first.snapshot?.split('/').at(-1) ?? '');
  mkdirSync(again.snapshots);
  for (const name of [half, `${half}.new`]) writeFileSync(name, 'half a snapshot');
  const snapshot = migrate(again, laterMigrations).snapshot ?? '';
  expect(look(snapshot)).toMatchObject({ version: current, integrity: 'ok' });
  expect(readdirSync(again.snapshots).filter((name) => name.endsWith('.new'))).toEqual([]);
});

test('a failing step reports its cause, also when SQLite has already rolled back', () => {
  const at = copy('cause');
  const before = look(at.path);
  const failing = [
    ...migrations,
    { name: 'rolls-back', sql: "INSERT OR ROLLBACK INTO cursors VALUES ('ws_a', 'c1', 1)" },
  ];
  let thrown: unknown = null;
  try {
    migrate(at, failing);
  } catch (error) {
    thrown = error;
  }
  expect(String(thrown)).toContain(`rolls-back failed; the database stays at schema ${current}`);
  expect(thrown instanceof Error && String(thrown.cause)).toContain('UNIQUE');
  expect(look(at.path)).toEqual(before);
});

test('the steps of a new database are applied completely or not at all, and the next start applies them', () => {
  const dir = join(parent, 'new');
  mkdirSync(dir);
  const at = { path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots'), nowMs };
  const failing = [...migrations, { name: 'fails', sql: 'INSERT INTO nowhere VALUES (1)' }];
  expect(() => migrate(at, failing)).toThrow('fails failed; the database stays at schema 0');
  const db = new Database(at.path);
  expect(db.prepare('SELECT name FROM sqlite_schema').all()).toEqual([]);
  db.close();
  expect(migrate(at)).toEqual({ from: 0, to: current, snapshot: null });
  expect(look(at.path)).toMatchObject({ version: current, applied: current, integrity: 'ok' });
});

test('an older build rejects a newer database with the remedy, and changes no byte', () => {
  const at = copy('newer');
  migrate(at, laterMigrations);
  const files = (): string =>
    readdirSync(at.dir)
      .filter((name) => /^tatami\.db(-wal)?$/.test(name))
      .map(
        (name) =>
          `${name} ${createHash('sha256')
            .update(readFileSync(join(at.dir, name)))
            .digest('hex')}`,
      )
      .join('\n');
  const before = files();
  const main = join(import.meta.dir, '../../main.ts');
  writeFileSync(join(at.dir, 'master.key'), Buffer.alloc(32).toString('base64'));
  Bun.spawnSync(['chmod', '-R', 'go-rwx', at.dir]);
  const { exitCode, stderr } = Bun.spawnSync(
    [process.execPath, main, 'serve', '--port', '0', '--data-dir', at.dir],
    { stdout: 'ignore', stderr: 'pipe' },
  );
  expect(exitCode).toBe(1);
  expect(stderr.toString()).toContain(
    `has schema ${current + 2}; this build supports up to ${current}. Start the newer build`,
  );
  expect(files()).toBe(before);
});
