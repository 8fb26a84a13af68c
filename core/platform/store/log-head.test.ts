// docs/spec/durability.md › Damaged files: SQLite silently cuts a torn or bit-flipped log at the first bad
// frame. The log head outside the database makes the start fail then, so a store that opens contains every
// acknowledged commit.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyAsKilled } from '../../../test/faults/own-copy.ts';
import { openLogHead } from './log-head.ts';
import { openStore } from './open-store.ts';
import { tenantStatement } from './statement.ts';
import { scopeOf, tenantOp } from './store.ts';

const add = tenantStatement(
  'test.log_head_add',
  'INSERT INTO cursors (workspace_id, consumer, sequence) VALUES (:ws, :consumer, 0)',
);
const count = tenantStatement<{ n: number }>(
  'test.log_head_count',
  'SELECT count(*) AS n FROM cursors WHERE workspace_id = :ws',
);
const scope = scopeOf('ws_a');
const acknowledged = 16;
const long = process.env.TATAMI_LONG !== undefined;
const parent = mkdtempSync(join(tmpdir(), 'tatami-head-'));
let wal: Buffer;

/** Copies the files as a killed process leaves them. */
const copy = (from: string, to: string): string => copyAsKilled(join(parent, from), join(parent, to));

beforeAll(async () => {
  const dir = join(parent, 'made');
  const write = async (from: number, to: number): Promise<void> => {
    const { store, close } = openStore(dir, Date.now);
    for (let n = from; n < to; n++) {
      const outcome = await store.commit([tenantOp(scope, add, { consumer: `c${n}` })]);
      if (!outcome.ok) throw new Error(outcome.message);
    }
    if (to === acknowledged) copy('made', 'killed');
    await close();
  };
  // Half of the commits are in the database file, half in the log.
  await write(0, acknowledged / 2);
  await write(acknowledged / 2, acknowledged);
  wal = readFileSync(join(parent, 'killed', 'tatami.db-wal'));
});
afterAll(() => rmSync(parent, { recursive: true, force: true }));

type Verdict = 'complete' | 'refused' | 'silent loss';

/** Starts on a damaged copy of the files. */
async function start(damage: (dir: string) => void): Promise<Verdict> {
  const dir = copy('killed', 'damaged');
  damage(dir);
  try {
    const { store, close } = openStore(dir, Date.now);
    const [row] = await store.read(scope, count);
    await close();
    return row?.n === acknowledged ? 'complete' : 'silent loss';
  } catch (error) {
    if (
      !/lost acknowledged writes|damaged in both slots|malformed|not a complete data directory/.test(
        String(error),
      )
    )
      throw error;
    return 'refused';
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const verdicts = async (damages: ((dir: string) => void)[]): Promise<Record<Verdict, number>> => {
  const counts = { complete: 0, refused: 0, 'silent loss': 0 };
  for (const damage of damages) counts[await start(damage)]++;
  return counts;
};

const cutAt = (at: number) => (dir: string) => writeFileSync(join(dir, 'tatami.db-wal'), wal.subarray(0, at));
const flip = (file: string, bytes: Buffer, at: number) => (dir: string) => {
  const damaged = Buffer.from(bytes);
  damaged[at] = damaged[at]! ^ (1 << (at % 8));
  writeFileSync(join(dir, file), damaged);
};
const spread = (count: number, bytes: number): number[] =>
  Array.from({ length: count }, (_, n) => Math.floor((n * bytes) / count));

test('undamaged files start', async () => {
  expect(await start(() => undefined)).toBe('complete');
});

test('a log cut at any 512 bytes is rejected', async () => {
  const all = Array.from({ length: Math.ceil(wal.length / 512) }, (_, n) => n * 512);
  // A frame is longer than 512 bytes, so most cuts within one are equivalent. An odd step cuts each frame at other offsets.
  const cuts = all.filter((_, n) => long || n % 7 === 0);
  expect(await verdicts(cuts.map(cutAt))).toEqual({ complete: 0, refused: cuts.length, 'silent loss': 0 });
}, 60_000);

test('a log with one flipped bit is rejected, or nothing is missing', async () => {
  const flips = spread(long ? 100 : 50, wal.length);
  const counts = await verdicts(flips.map((at) => flip('tatami.db-wal', wal, at)));
  expect(counts['silent loss']).toBe(0);
  expect(counts.refused).toBeGreaterThan(0.9 * flips.length);
}, 60_000);

test('a flipped bit in the log head itself loses nothing', async () => {
  const head = readFileSync(join(parent, 'killed', 'log-head'));
  const flips = spread(long ? 64 : 32, head.length);
  const counts = await verdicts(flips.map((at) => flip('log-head', head, at)));
  expect(counts).toEqual({ complete: flips.length, refused: 0, 'silent loss': 0 });
});

test('a directory without its log head is rejected: losses would be silent', async () => {
  const half = cutAt(Math.floor(wal.length / 2));
  expect(await start((dir) => (half(dir), rmSync(join(dir, 'log-head'))))).toBe('refused');
});

test('a rejected start leaves the files unchanged for recovery', () => {
  const dir = copy('killed', 'refused');
  cutAt(Math.floor(wal.length / 2))(dir);
  const before = ['tatami.db', 'tatami.db-wal', 'log-head'].map((name) => readFileSync(join(dir, name)));
  const opener = join(import.meta.dir, '../../../test/faults/open-process.ts');
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, opener, dir], { stderr: 'pipe' });
  expect(exitCode).not.toBe(0);
  expect(stderr.toString()).toContain('Restore a backup with `tatami restore`');
  const after = ['tatami.db', 'tatami.db-wal', 'log-head'].map((name) => readFileSync(join(dir, name)));
  expect(after.map((bytes, index) => bytes.equals(before[index]!))).toEqual([true, true, true]);
});

test('the head is the newest intact slot', () => {
  const path = join(parent, 'slots');
  const file = openLogHead(path);
  for (const position of [1, 2, 3]) file.write({ position, hash: String(position) });
  expect(file.read()).toEqual({ position: 3, hash: '3' });
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill('x', 512, 600));
  expect(file.read()).toEqual({ position: 2, hash: '2' });
  writeFileSync(path, bytes.fill('x', 0, 600));
  expect(() => file.read()).toThrow('damaged in both slots');
  file.close();
});
