// Guarantees of the writer thread: values arrive unchanged, the loop reads a group completely and only after
// its commit was reported, the log does not grow without bound, and the log head is at most one sync behind
// the log.
import { afterEach, expect, test } from 'bun:test';
import Database from 'libsql';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openFileEngine } from '../engine/file-engine.ts';
import { openLogHead, readLogHead } from '../log-head.ts';
import { migrate } from '../migrate.ts';
import { composedStatement, systemStatement, tenantStatement, type Value } from '../statement.ts';
import { scopeOf, systemOp, tenantOp, type Store } from '../store.ts';
import { openHeadWriter } from './engine.ts';
import { writerThread, type OpenWriter } from './thread.ts';

const put = tenantStatement(
  'writer_test.put',
  'INSERT INTO cursors (workspace_id, consumer, sequence) VALUES (:ws, :consumer, 1)',
);
const move = tenantStatement(
  'writer_test.move',
  'UPDATE cursors SET sequence = sequence + 1 WHERE workspace_id = :ws',
);
const sum = tenantStatement<{ sum: number; count: number }>(
  'writer_test.sum',
  'SELECT sum(sequence) AS sum, count(*) AS count FROM cursors WHERE workspace_id = :ws',
);
const echo = systemStatement(
  'writer_test.echo',
  'gives back what was bound, of no workspace',
  'SELECT :value AS value, typeof(:value) AS type, CAST(:value AS TEXT) AS text',
);
const scope = scopeOf('ws_a');
const dirs: string[] = [];
const stores: Store[] = [];

function fresh(): string {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-writer-'));
  dirs.push(dir);
  return dir;
}

function open(openWriter?: OpenWriter): { store: Store; path: string } {
  const dir = fresh();
  const path = join(dir, 'tatami.db');
  migrate({ path, snapshots: join(dir, 'snapshots'), nowMs: () => 0 });
  const where = { path, logHead: join(dir, 'log-head'), budgetMs: 0, charge: () => undefined };
  const store = openFileEngine({ ...where, ...(openWriter ? { openWriter } : {}) });
  stores.push(store);
  return { store, path };
}

afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

test.each<[string, Value, string, string]>([
  ['a whole number', 5, 'integer', '5'],
  ['a fraction', 2.5, 'real', '2.5'],
  ['a number past the safe integers', 2 ** 60, 'real', '1.15292150460685e+18'],
  ['the largest integer', 2n ** 63n - 1n, 'integer', '9223372036854775807'],
  ['the smallest integer', -(2n ** 63n), 'integer', '-9223372036854775808'],
  ['a text', 'Ünï "c" \u2028 \\ 🎌', 'text', 'Ünï "c" \u2028 \\ 🎌'],
  ['a text that looks like JSON', '{"integer":"5"}', 'text', '{"integer":"5"}'],
])('%s reaches the thread unchanged', async (_, value, type, text) => {
  const { store } = open();
  expect(await store.commit([systemOp(echo, { value })])).toMatchObject({
    ok: true,
    rows: [[{ type, text }]],
  });
});

test('bytes and null are transferred in both directions', async () => {
  const { store } = open();
  const outcome = await store.commit([
    systemOp(echo, { value: new Uint8Array([0, 255, 7]) }),
    systemOp(echo, { value: null }),
  ]);
  if (!outcome.ok) throw new Error(outcome.message);
  const [bytes, none] = outcome.rows.map(([row]) => row!);
  expect([bytes!.type, none!.type, none!.value]).toEqual(['blob', 'null', null]);
  expect([...(bytes!.value as Uint8Array)]).toEqual([0, 255, 7]);
});

const counted = tenantStatement<{ consumer: string; sequence: number }>(
  'writer_test.counted',
  'SELECT consumer, sequence FROM cursors WHERE workspace_id = :ws AND consumer = :consumer',
);
const count = tenantStatement(
  'writer_test.count',
  'UPDATE cursors SET sequence = sequence + :by WHERE consumer = :consumer AND workspace_id = :ws AND :by > 0',
  { chained: true, returning: counted },
);

test('a write returns the row of its select, and none if it changed nothing', async () => {
  const { store } = open();
  const outcome = await store.commit([
    tenantOp(scope, put, { consumer: 'a' }),
    tenantOp(scope, count, { consumer: 'a', by: 4 }),
    tenantOp(scope, count, { consumer: 'a', by: 0 }),
  ]);
  expect(outcome).toEqual({ ok: true, rows: [[], [{ consumer: 'a', sequence: 5 }], []] });
});

test('the hash of the log head covers the values of chained writes, and only of them', async () => {
  const { store, path } = open();
  const hash = (): string => readLogHead(join(dirname(path), 'log-head')).hash;
  const following = (before: string): string => createHash('sha256').update(before).digest('hex');
  const start = hash();
  await store.commit([tenantOp(scope, put, { consumer: 'a' })]);
  expect(hash()).toBe(following(start));
  const before = hash();
  await store.commit([tenantOp(scope, count, { consumer: 'a', by: 1 })]);
  expect(hash()).not.toBe(following(before));
});

/** Wraps the real thread; the test controls when responses arrive. */
function delayed(): { openWriter: OpenWriter; answered: Promise<void>; letGo: () => void } {
  const { promise: answered, resolve: noteAnswer } = Promise.withResolvers<void>();
  const { promise: released, resolve: letGo } = Promise.withResolvers<void>();
  const openWriter: OpenWriter = (where) => {
    const writer = writerThread().open(where);
    return {
      ...writer,
      async commit(group) {
        const answer = await writer.commit(group);
        noteAnswer();
        await released;
        return answer;
      },
    };
  };
  return { openWriter, answered, letGo };
}

test('a commit becomes visible once the event loop has received its result, also in a long read, and not before', async () => {
  const { openWriter, answered, letGo } = delayed();
  const { store, path } = open(openWriter);
  const order: string[] = [];
  const acknowledged = store
    .commit([tenantOp(scope, put, { consumer: 'a' })])
    .then(() => order.push('answer'));
  await answered;
  const other = new Database(path);
  expect(other.prepare('SELECT count(*) AS count FROM cursors').all()).toEqual([{ count: 1 }]);
  other.close();
  expect((await store.read(scope, sum))[0]?.count).toBe(0);
  const long = composedStatement<{ consumer: string }>(
    'SELECT consumer FROM cursors WHERE workspace_id = :ws ORDER BY sequence',
    null,
  );
  const read = store.read(scope, long).then((rows) => order.push(`long read of ${rows.length}`));
  await Bun.sleep(50);
  expect(order).toEqual([]);
  letGo();
  await Promise.all([acknowledged, read]);
  expect(order).toEqual(['answer', 'long read of 1']);
  expect((await store.read(scope, sum))[0]?.count).toBe(1);
});

test('consecutive reads without a pause see one state, regardless of concurrent commits', async () => {
  const { store } = open();
  await store.commit([tenantOp(scope, put, { consumer: 'a' })]);
  let writing = true;
  const writer = (async () => {
    for (let n = 0; n < 300; n++) await store.commit([tenantOp(scope, move, {})]);
    writing = false;
  })();
  const torn: unknown[] = [];
  while (writing) {
    const [before] = await store.read(scope, sum);
    // The loop is blocked long enough for a concurrent commit of the thread.
    for (const endMs = performance.now() + 2; performance.now() < endMs;);
    const [after] = await store.read(scope, sum);
    if (before?.sum !== after?.sum) torn.push([before, after]);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writer;
  expect(torn).toEqual([]);
  expect((await store.read(scope, sum))[0]?.sum).toBe(301);
});

test('the log is checkpointed between groups, and restarts', async () => {
  const { store, path } = open();
  const frame = 8_192 + 24;
  const text = 'x'.repeat(64_000);
  const sizes: number[] = [];
  for (let n = 0; n < 2_400; n += 8) {
    await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        store.commit([tenantOp(scope, put, { consumer: `${n + i} ${text}` })]),
      ),
    );
    sizes.push(statSync(`${path}-wal`).size / frame);
  }
  // About 19,000 frames were written.
  expect(Math.max(...sizes)).toBeGreaterThan(4_000);
  expect(Math.max(...sizes)).toBeLessThan(4_600);
});

/** Returns the output of a program that opens a store: `one` is an op, and `store` is the open store. */
async function printed(program: string, before = ''): Promise<string> {
  const [from, to] = [join(import.meta.dir, '..'), fresh()].map((path) => JSON.stringify(path));
  const whole = `
    ${before}
    const { openStore } = await import(${from} + '/open-store.ts');
    const { systemStatement } = await import(${from} + '/statement.ts');
    const { systemOp } = await import(${from} + '/store.ts');
    const one = systemOp(systemStatement('test.one', 'a statement of no workspace', 'SELECT 1 AS one'), {});
    const { store } = openStore(${to}, Date.now);
    ${program}`;
  const child = Bun.spawn([process.execPath, '-e', whole], { stdout: 'pipe', stderr: 'inherit' });
  const text = await new Response(child.stdout).text();
  expect(await child.exited).toBe(0);
  return text;
}

test('an open store does not keep a process alive, a running commit does', async () => {
  const program = `
    const more = (left) =>
      store.commit([one]).then((outcome) => (left > 0 ? more(left - 1) : console.log(JSON.stringify(outcome))));
    void more(20);`;
  expect(await printed(program)).toBe('{"ok":true,"rows":[[{"one":1}]]}\n');
});

test('the end of the thread rejects all waiting jobs and notifies the process', async () => {
  const program = `
    process.on('uncaughtException', ({ fault, message, cause }) => console.log('uncaught:', fault, message, cause.name));
    await store.commit([one]);
    const waiting = Array.from({ length: 200 }, () => store.commit([one]).catch((error) => error));
    // After the first group, which is acknowledged, and before the second one.
    setImmediate(() => globalThis.writer.postMessage('a question that it cannot read'));
    console.log('waiting:', (await Promise.all(waiting)).map(({ ok, fault }) => fault ?? ok).join(' '));
    console.log('later:', (await store.commit([one]).catch((error) => error)).fault, store.status().writable);
    await store.close();`;
  const before = "process.on('worker', (worker) => (globalThis.writer = worker));";
  // A group that was still gathering when the thread ended is rejected one loop turn after the process-level error.
  expect((await printed(program, before)).split('\n').toSorted()).toEqual([
    '',
    'later: broken false',
    'uncaught: broken The writer thread ended. SyntaxError',
    `waiting: ${[...Array(128).fill('true'), ...Array(72).fill('broken')].join(' ')}`,
  ]);
});

test('during a sync of the head the other slot keeps the synced state', async () => {
  const path = join(fresh(), 'log-head');
  const file = openLogHead(path);
  const head = (position: number) => ({ position, hash: String(position) });
  file.write(head(1));
  const headWriter = openHeadWriter(path, head(1));
  const slots = async (): Promise<string[]> => {
    const text = await Bun.file(path).text();
    return [text.slice(0, 512), text.slice(512)].map((slot) => slot.split(' ')[0]!);
  };
  headWriter.write(head(2));
  headWriter.write(head(3));
  headWriter.write(head(4));
  expect(await slots()).toEqual(['4', '1']);
  expect(file.read()).toEqual(head(4));
  await headWriter.close();
  file.close();
  const again = openHeadWriter(path, head(4));
  again.write(head(5));
  expect((await slots()).sort()).toEqual(['4', '5']);
  await again.close();
});

const fill = systemStatement(
  'writer_test.fill',
  'makes a file large, of no workspace',
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)
   INSERT INTO cursors SELECT 'ws_full', printf('%04000d', i), i FROM n`,
);
const empty = systemStatement(
  'writer_test.empty',
  'deletes it all again, of no workspace',
  "DELETE FROM cursors WHERE workspace_id = 'ws_full'",
);

test('deleted pages are returned to the disk in steps, between writes and reads of the event loop', async () => {
  const { store, path } = open();
  await store.commit([systemOp(fill, { rows: 3_000 })]);
  const full = await store.reclaim(0);
  await store.commit([systemOp(empty, {})]);
  const first = await store.reclaim(100);
  expect(first!.free).toBeGreaterThan(1_000);
  expect(full!.pages - first!.pages).toBe(100);
  await store.commit([tenantOp(scope, put, { consumer: 'beside' })]);
  const last = await store.reclaim(100_000);
  expect(last!.free).toBe(0);
  expect(statSync(path).size).toBe(last!.pages * 8192);
  expect(last!.pages).toBeLessThan(full!.pages / 5);
  expect(await store.readOne(scope, sum)).toMatchObject({ count: 1 });
});

test('a log that one write enlarged is truncated when it restarts', async () => {
  const { store, path } = open();
  await store.commit([systemOp(fill, { rows: 24_000 })]);
  const long = statSync(`${path}-wal`).size;
  expect(long).toBeGreaterThan(90_000_000);
  for (let n = 0; n < 3; n++) await store.commit([tenantOp(scope, put, { consumer: `after ${n}` })]);
  expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(64 * 1024 * 1024);
});
