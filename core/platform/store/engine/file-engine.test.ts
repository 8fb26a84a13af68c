// Error handling of the embedded engine: a fault of one job fails only that job, a fault of the disk fails
// all jobs, and a commit is acknowledged only after its sync.
import { afterEach, expect, test } from 'bun:test';
import Database from 'libsql';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileEngine } from './file-engine.ts';
import type { LogHead } from '../log-head.ts';
import { migrate } from '../migrate.ts';
import { composedStatement, systemStatement, tenantStatement } from '../statement.ts';
import { scopeOf, systemOp, tenantOp, type Op, type Store } from '../store.ts';
import { openEngine, type HeadWriter } from '../writer/engine.ts';
import type { OpenWriter } from '../writer/thread.ts';

const put = tenantStatement(
  'test.kv_put',
  'INSERT INTO cursors (workspace_id, consumer, sequence) VALUES (:ws, :consumer, :sequence)',
);
const move = tenantStatement(
  'test.kv_move',
  'UPDATE cursors SET sequence = :sequence WHERE workspace_id = :ws AND consumer = :consumer',
);
const explode = tenantStatement(
  'test.explode',
  'UPDATE cursors SET sequence = json_extract(:json, :path) WHERE workspace_id = :ws AND consumer = :consumer',
);
const list = tenantStatement<{ consumer: string; sequence: number }>(
  'test.kv_list',
  'SELECT consumer, sequence FROM cursors WHERE workspace_id = :ws ORDER BY consumer',
);
const one = tenantStatement(
  'test.kv_one',
  'SELECT sequence FROM cursors WHERE workspace_id = :ws AND consumer = :consumer',
);
/** Checked but never run: the check of a statement on a virtual table must not block the checkpoint. */
tenantStatement(
  'test.words_drop',
  `DELETE FROM search_index WHERE rowid IN (SELECT d.doc FROM json_each(:issues) AS t
   CROSS JOIN search_documents AS d ON d.workspace_id = :ws AND d.issue_id = t.value)`,
);
const pragmas = systemStatement(
  'test.pragmas',
  'settings of the connection, which belong to no workspace',
  `SELECT (SELECT synchronous FROM pragma_synchronous) AS synchronous, (SELECT timeout FROM pragma_busy_timeout) AS busy,
     (SELECT foreign_keys FROM pragma_foreign_keys) AS "foreign", (SELECT journal_mode FROM pragma_journal_mode) AS mode,
     (SELECT query_only FROM pragma_query_only) AS query`,
);

const scope = scopeOf('ws_a');
let dir = '';
let opened: Store[] = [];

interface OpenedEngine {
  store: Store;
  path: string;
}

interface OpenedHere extends OpenedEngine {
  heads: LogHead[];
}

/** Opens a store over a real file and the real writer thread. */
function open(openWriter?: OpenWriter): OpenedEngine {
  dir = mkdtempSync(join(tmpdir(), 'tatami-engine-'));
  const path = join(dir, 'tatami.db');
  migrate({ path, snapshots: join(dir, 'snapshots'), nowMs: () => 0 });
  const where = { path, logHead: join(dir, 'log-head'), budgetMs: 0, charge: () => undefined };
  const store = openFileEngine({ ...where, ...(openWriter ? { openWriter } : {}) });
  opened.push(store);
  return { store, path };
}

/**
 * Opens a store without the thread: the log head is in memory, so that a test can count its writes and make
 * them fail.
 */
function openHere(writeHead: (head: LogHead) => void = () => undefined): OpenedHere {
  const heads: LogHead[] = [];
  const headWriter: HeadWriter = {
    check: () => undefined,
    write(head) {
      writeHead(head);
      heads.push(head);
    },
    close: async () => undefined,
  };
  const here: OpenWriter = ({ path, head }) => {
    const engine = openEngine({ path, head, headWriter, walArchive: null });
    return {
      commit: async (group) => engine.commit(group),
      checkpoint: async () => engine.checkpoint(0),
      reclaim: async (pages) => engine.reclaim(pages),
      take: async () => undefined,
      verify: async (all) => engine.verify(all),
      close: (isWhole) => engine.close(isWhole, 0),
    };
  };
  return { ...open(here), heads };
}

afterEach(async () => {
  for (const store of opened) await store.close();
  opened = [];
  rmSync(dir, { recursive: true, force: true });
});

const putOp = (consumer: string, sequence = 1): Op => tenantOp(scope, put, { consumer, sequence });
const consumers = async (store: Store): Promise<string[]> =>
  (await store.read(scope, list)).map(({ consumer }) => consumer);
const fate = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    (outcome) => JSON.stringify(outcome),
    (error: Error) => error.message,
  );

test('the writer syncs every commit and checks foreign keys; the event loop never waits inside SQLite, and writes nothing', async () => {
  const { store } = open();
  const outcome = await store.commit([systemOp(pragmas, {})]);
  expect(outcome).toMatchObject({
    ok: true,
    rows: [[{ synchronous: 2, busy: 2000, foreign: 1, mode: 'wal', query: 0 }]],
  });
  expect(await store.readSystem(pragmas)).toMatchObject([{ busy: 0, mode: 'wal', query: 1 }]);
});

test.each([
  ['a boolean', { consumer: true }, ':consumer cannot be bound: boolean'],
  ['undefined', { consumer: undefined }, ':consumer cannot be bound: it is missing'],
  ['a missing one', {}, ':consumer cannot be bound: it is missing'],
  ['NaN', { consumer: NaN }, ':consumer cannot be bound: NaN'],
  ['infinity', { consumer: -Infinity }, ':consumer cannot be bound: -Infinity'],
  ['U+0000', { consumer: 'a\0b' }, ':consumer contains U+0000'],
  ['an object', { consumer: { a: 1 } }, ':consumer cannot be bound: object'],
  ['an array', { consumer: ['a'] }, ':consumer cannot be bound: object'],
  ['a date', { consumer: new Date(0) }, ':consumer cannot be bound: object'],
  ['a symbol', { consumer: Symbol('a') }, ':consumer cannot be bound: symbol'],
  ['an integer past 64 bits', { consumer: 2n ** 63n }, ':consumer does not fit 64 bits'],
  ['an extra one', { consumer: 'a', color: 'red' }, 'has no parameter color'],
  ['a workspace of its own', { consumer: 'a', ws: 'ws_b' }, 'has no parameter ws'],
])(
  '%s as a parameter is rejected by name and affects no other job of its group',
  async (_, params, message) => {
    const { store } = open();
    const bad = tenantOp(scope, put, { sequence: 1, ...params } as never);
    const fates = await Promise.all([
      fate(store.commit([putOp('first')])),
      fate(store.commit([putOp('half'), bad])),
      fate(store.commit([putOp('last')])),
    ]);
    expect(fates[1]).toContain('test.kv_put');
    expect(fates[1]).toContain(message);
    expect([fates[0], fates[2]]).toEqual(['{"ok":true,"rows":[[]]}', '{"ok":true,"rows":[[]]}']);
    expect(await consumers(store)).toEqual(['first', 'last']);
    await expect(store.read(scope, one, params as never)).rejects.toThrow('test.kv_one');
    expect(store.status().writable).toBe(true);
  },
);

test('a statement that fails at run time fails only its own job', async () => {
  const { store } = open();
  await store.commit([putOp('a')]);
  const broken = (json: string, path: string): Op => tenantOp(scope, explode, { consumer: 'a', json, path });
  const [first, malformed, path, syntax, last] = await Promise.all([
    fate(store.commit([putOp('b')])),
    fate(store.commit([putOp('half-1'), broken('{nope', '$.a')])),
    fate(store.commit([putOp('half-2'), broken('{"a":1}', 'no path')])),
    fate(store.commit([putOp('half-3'), tenantOp(scope, composedStatement('SELECT :ws FROM nowhere'), {})])),
    fate(store.commit([putOp('c')])),
  ]);
  expect(malformed).toContain('malformed JSON');
  expect(path).toContain('bad JSON path');
  expect(syntax).toContain('no such table');
  expect([first, last]).toEqual(['{"ok":true,"rows":[[]]}', '{"ok":true,"rows":[[]]}']);
  expect(await consumers(store)).toEqual(['a', 'b', 'c']);
  expect(store.status()).toEqual({ writable: true, reason: null });
});

test('after a failed sync no waiting job is written, and no later job is acknowledged', async () => {
  let fail = false;
  const { store } = openHere(() => {
    if (fail) throw Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' });
  });
  await store.commit([putOp('kept')]);
  fail = true;
  // More jobs than fit one group, so that some wait while the first group fails.
  const fates = await Promise.all(
    Array.from({ length: 200 }, (_, n) => fate(store.commit([putOp(`n${String(n).padStart(3, '0')}`)]))),
  );
  fail = false;
  expect(new Set(fates)).toEqual(new Set(['EIO: i/o error, fdatasync']));
  expect(await fate(store.commit([putOp('later')]))).toContain('EIO');
  expect(await consumers(store)).not.toContain('n199');
  expect(await consumers(store)).not.toContain('later');
  expect(store.status()).toEqual({ writable: false, reason: 'EIO: i/o error, fdatasync' });
});

test('closing waits for queued jobs, regardless of their success', async () => {
  const good = open();
  const firstCommit = fate(good.store.commit([putOp('a')]));
  await good.store.close();
  expect(await firstCommit).toBe('{"ok":true,"rows":[[]]}');
  expect(await fate(good.store.commit([putOp('b')]))).toBe('The store is closed.');
  rmSync(dir, { recursive: true });

  let armed = false;
  const bad = openHere(() => {
    if (armed) throw new Error('no disk');
  });
  armed = true;
  const lost = fate(bad.store.commit([putOp('a')]));
  await bad.store.close();
  expect(await lost).toBe('no disk');
});

test('closing ends although another process holds the lock, and the waiting job is rejected', async () => {
  const { store, path } = open();
  const other = new Database(path);
  other.exec('BEGIN IMMEDIATE');
  const waiting = fate(store.commit([putOp('a')]));
  await store.close();
  other.exec('ROLLBACK');
  other.close();
  expect(await waiting).toContain('locked by another process');
});

test('a clean stop leaves all data in the database file', async () => {
  const { store, path } = open();
  await store.commit([putOp('a')]);
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
  await store.close();
  expect(existsSync(`${path}-wal`) ? statSync(`${path}-wal`).size : 0).toBe(0);
});

test('a group without changes is not synced', async () => {
  const { store, heads } = openHere();
  await store.commit([putOp('a')]);
  const before = heads.length;
  await store.commit([tenantOp(scope, move, { consumer: 'nobody', sequence: 2 })]);
  await store.commit([tenantOp(scope, move, { consumer: 'nobody', sequence: 2 }, { expectRows: 1 })]);
  expect(heads.length).toBe(before);
  await store.commit([tenantOp(scope, move, { consumer: 'a', sequence: 2 })]);
  expect(heads.length).toBe(before + 1);
});

test('a lost race and a violated constraint roll back their own batch and report the op', async () => {
  const { store } = open();
  await store.commit([putOp('a')]);
  const outcomes = await Promise.all([
    store.commit([putOp('b'), tenantOp(scope, move, { consumer: 'x', sequence: 1 }, { expectRows: 1 })]),
    store.commit([putOp('c'), putOp('a')]),
    store.commit([putOp('d'), systemOp(systemNull, {})]),
    store.commit([putOp('e')]),
  ]);
  expect(outcomes).toMatchObject([
    { ok: false, op: 1, reason: 'lost_race' },
    { ok: false, op: 1, reason: 'duplicate' },
    { ok: false, op: 1, reason: 'constraint' },
    { ok: true },
  ]);
  expect(await consumers(store)).toEqual(['a', 'e']);
});

const systemNull = systemStatement(
  'test.null',
  'a constraint to break, in no workspace',
  "INSERT INTO cursors (workspace_id, consumer, sequence) VALUES ('ws_a', 'z', NULL)",
);

test('a composed statement is checked by its own text, regardless of earlier statements', async () => {
  const { store } = open();
  await store.commit([putOp('a')]);
  const mine = composedStatement('SELECT consumer FROM cursors WHERE workspace_id = :ws');
  const theirs = composedStatement('SELECT consumer FROM cursors WHERE workspace_id = :other');
  expect(await store.read(scope, mine)).toHaveLength(1);
  await expect(store.read(scopeOf('ws_b'), theirs, { other: 'ws_a' })).rejects.toThrow(
    'not bound to its workspace',
  );
});

test('listeners learn the included batches before the caller of commit continues, and that others wrote', async () => {
  const { store, path } = open();
  const heard: (readonly string[] | null)[] = [];
  store.onIncluded((batches) => {
    heard.push(batches && batches.map(({ ops }) => ops.map(({ params }) => String(params.consumer)).join()));
  });
  const outcomes = await Promise.all([
    store.commit([putOp('a'), putOp('b')]),
    store.commit([putOp('a')]).then((outcome) => ({ ...outcome, heard: [...heard] })),
    store.commit([putOp('c')]).then((outcome) => ({ ...outcome, heard: [...heard] })),
  ]);
  expect(outcomes).toMatchObject([{ ok: true }, { ok: false }, { ok: true, heard: [['a,b', 'c']] }]);
  const other = new Database(path);
  other.exec(
    "UPDATE log_head SET position = position + 1; UPDATE cursors SET sequence = 9 WHERE consumer = 'a'",
  );
  other.close();
  await store.reclaim(0);
  expect(heard[1]).toBeNull();
});
