// The store under faults: another process's lock, damaged logs, partial migrations, a newer schema.
// docs/spec/durability.md › Damaged files.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import {
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { migrate } from '../../core/platform/store/migrate.ts';
import { migrations } from '../../core/platform/store/migrations/index.ts';
import { openStore } from '../../core/platform/store/open-store.ts';
import { createClock, startApp, type TestApp } from '../app.ts';
import { copyAsKilled } from './own-copy.ts';

const tmp = (): string => mkdtempSync(join(tmpdir(), 'tatami-store-'));

describe('while another process holds the write lock', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());

  const holdLock = async (
    holdMs: number,
    times = 1,
  ): Promise<Bun.Subprocess<'ignore', 'pipe', 'inherit'>> => {
    const child = Bun.spawn(
      [
        process.execPath,
        join(import.meta.dir, 'hold-lock.ts'),
        join(app.dataDir, 'tatami.db'),
        String(holdMs),
        String(times),
      ],
      { stdout: 'pipe' },
    );
    await child.stdout.getReader().read();
    return child;
  };
  const create = () => app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'x' });

  test('briefly, the write waits and succeeds', async () => {
    const child = await holdLock(100);
    expect((await create()).status).toBe(201);
    await child.exited;
  });

  test('for long, the write is 503 without Retry-After, reads are answered, and the next write works', async () => {
    // Ended by the answer, because a busy machine lengthens the wait of a write.
    const child = await holdLock(60_000);
    const write = create();
    let reads = 0;
    let done = false;
    void write.then(() => (done = true));
    while (!done) {
      expect((await app.call('GET', '/api/v1/issues')).status).toBe(200);
      reads++;
    }
    const reply = await write;
    child.kill();
    expect([reply.status, reply.json.error.code, reply.headers.has('retry-after')]).toEqual([
      503,
      'unavailable',
      false,
    ]);
    expect(reads).toBeGreaterThan(20);
    await child.exited;
    expect((await create()).status).toBe(201);
  }, 60_000);

  test('a thousand times for a moment, every write succeeds, and none stalls', async () => {
    const child = await holdLock(0, 1_000);
    const replies = await Promise.all(Array.from({ length: 100 }, create));
    expect(replies.every(({ status }) => status === 201)).toBe(true);
    await child.exited;
    expect((await create()).status).toBe(201);
  }, 60_000);
});

test('a truncated or corrupted WAL is rejected at start, or nothing is missing', async () => {
  const base = tmp();
  const app = await startApp({ dataDir: base, clock: createClock() });
  for (let i = 0; i < 8; i++) await app.call('POST', '/api/v1/issues', { team: 'ENG', title: `Issue ${i}` });
  const wanted = await app.lastSequence();
  const crashed = tmp();
  copyAsKilled(`${base}/.`, crashed);
  await app.stop();
  const wal = readFileSync(join(crashed, 'tatami.db-wal'));
  expect(wal.length).toBeGreaterThan(20_000);

  let refused = 0;
  const open = async (damage: (file: string) => void): Promise<void> => {
    const dir = tmp();
    copyAsKilled(`${crashed}/.`, dir);
    damage(join(dir, 'tatami.db-wal'));
    try {
      const again = await startApp({ dataDir: dir, clock: app.clock }, app.workspace);
      expect(await again.lastSequence()).toBe(wanted);
      await again.stop();
    } catch (error) {
      expect(String(error)).toMatch(/lost acknowledged writes|malformed|no such table|not a database/);
      refused++;
    }
    rmSync(dir, { recursive: true, force: true });
  };
  const cuts = 40;
  for (let cut = 0; cut < cuts; cut++)
    await open((file) => truncateSync(file, Math.floor((wal.length / cuts) * cut)));
  expect(refused).toBe(cuts);
  refused = 0;
  for (let flip = 0; flip < 60; flip++)
    await open((file) => {
      const bytes = Buffer.from(wal);
      const at = 32 + Math.floor(((wal.length - 32) / 60) * flip);
      bytes[at] = bytes[at]! ^ (1 << (flip % 8));
      writeFileSync(file, bytes);
    });
  expect(refused).toBeGreaterThan(30);
  for (const dir of [base, crashed]) rmSync(dir, { recursive: true, force: true });
}, 60_000);

describe('migrations', () => {
  const current = migrations.length;
  const statements = [
    'CREATE TABLE extra (id INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT',
    "INSERT INTO extra VALUES (1, 'a')",
    "UPDATE extra SET note = 'b'",
    'CREATE INDEX extra_note ON extra (note)',
  ];
  const next = { name: 'extra', sql: `${statements.join(';\n')};` };

  const migrated = (): { dir: string; path: string; snapshots: string } => {
    const dir = tmp();
    const at = { dir, path: join(dir, 'tatami.db'), snapshots: join(dir, 'snapshots') };
    migrate({ ...at, nowMs: Date.now });
    return at;
  };
  const look = (path: string): { version: number; tables: number; checksum: string } => {
    const db = new Database(path);
    const version = (db.prepare('PRAGMA user_version').all()[0] as { user_version: number }).user_version;
    const tables = db.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'extra%'").all().length;
    const rows = JSON.stringify(db.prepare('SELECT * FROM migrations').all().slice(0, 1));
    db.close();
    return { version, tables, checksum: createHash('sha256').update(rows).digest('hex') };
  };

  test('a migration that fails at any statement leaves the old version intact, with a snapshot, and the corrected one runs', () => {
    for (let failAt = 0; failAt <= statements.length; failAt++) {
      const at = migrated();
      const before = look(at.path);
      const broken = {
        name: next.name,
        sql: [
          ...statements.slice(0, failAt),
          'INSERT INTO nowhere VALUES (1)',
          ...statements.slice(failAt),
        ].join(';\n'),
      };
      expect(() => migrate({ ...at, nowMs: Date.now }, [...migrations, broken])).toThrow(
        `stays at schema ${current}`,
      );
      expect(look(at.path)).toEqual(before);
      expect(readdirSync(at.snapshots).length).toBe(1);
      const report = migrate({ ...at, nowMs: () => Date.now() + 5_000 }, [...migrations, next]);
      expect(report).toMatchObject({ from: current, to: current + 1 });
      expect(look(at.path)).toMatchObject({ version: current + 1, tables: 2, checksum: before.checksum });
      rmSync(at.dir, { recursive: true, force: true });
    }
  });

  test('a newer schema and an altered migration are rejected, and the file is unchanged', () => {
    const at = migrated();
    migrate({ ...at, nowMs: Date.now }, [...migrations, next]);
    const sha = (): string => createHash('sha256').update(readFileSync(at.path)).digest('hex');
    const before = sha();
    expect(() => migrate({ ...at, nowMs: Date.now })).toThrow(
      `has schema ${current + 1}; this build supports up to ${current}. Start the newer build, or restore the snapshot from before the upgrade: \`tatami restore ${join(at.snapshots, 'schema-')}`,
    );
    expect(() =>
      migrate({ ...at, nowMs: Date.now }, [...migrations, { ...next, sql: `${next.sql}\n-- altered` }]),
    ).toThrow('differs from the one that created this database');
    expect(sha()).toBe(before);
    expect(statSync(at.path).size).toBeGreaterThan(0);
    rmSync(at.dir, { recursive: true, force: true });
  });
});

test('a data directory has one process, retains its key, and is released when its process ends', () => {
  const dir = tmp();
  const first = openStore(dir, Date.now);
  expect(() => openStore(dir, Date.now)).toThrow(`is in use by process ${process.pid}`);
  return first.close().then(async () => {
    const again = openStore(dir, Date.now);
    await again.close();
    rmSync(join(dir, 'master.key'));
    expect(() => openStore(dir, Date.now)).toThrow('Restore the key file');
    rmSync(dir, { recursive: true, force: true });
  });
});
