// Long reads run off the event loop, return complete results, are scheduled fairly within a budget, and end when the store closes.
import Database from 'libsql';
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BillingAccount } from '../../lib/billing-account.ts';
import { createReaders, type Readers } from './readers.ts';

let dir: string;
let path: string;
let open: Readers[] = [];

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tatami-readers-'));
  path = join(dir, 'a.db');
  const db = new Database(path);
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)');
  const insert = db.prepare('INSERT INTO texts VALUES (?, ?)');
  for (let id = 1; id <= 40; id++) insert.run([id, 'Ab'.repeat(64 * 1024)]);
  db.close();
});
afterEach(async () => {
  for (const readers of open) await readers.close();
  open = [];
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const owner = (workspaceId: string, billingAccount: string): BillingAccount => ({
  workspaceId,
  billingAccount,
});
const me = owner('ws_a', 'key_a');
function readersOf(budgetMs = 0): { readers: Readers; charged: [payer: string | null, quantity: string][] } {
  const charged: [string | null, string][] = [];
  const readers = createReaders({
    uri: path,
    budgetMs,
    charge: ({ billingAccount }, quantity) => void charged.push([billingAccount, quantity]),
  });
  open.push(readers);
  return { readers, charged };
}

/** Replaces `rejects`, which would block the event loop. */
const refusal = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

const quick = 'SELECT id FROM texts ORDER BY id DESC LIMIT ?1';
const counting = (limit: string): string =>
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n ${limit}) SELECT count(*) FROM n`;
/** Query that runs until it is interrupted. */
const endless = counting('');
/** Query that takes many seconds, but ends even if it blocks the event loop that should interrupt it. */
const long = counting('LIMIT 20000000');
/** Query whose rows are expensive to find. */
const slow = `SELECT id FROM texts WHERE ${Array.from({ length: 30 }, (_, n) => `instr(lower(text), 'z${n}') = 0`).join(' AND ')} ORDER BY id LIMIT 30`;

test('rows arrive in order, and a read cannot write', async () => {
  const { readers, charged } = readersOf();
  expect(await readers.read(me, quick, [3n])).toEqual([[40], [39], [38]]);
  await Bun.sleep(1);
  expect(charged).toEqual([
    ['key_a', 'queueMs'],
    ['key_a', 'cpuMs'],
  ]);
  expect(await refusal(readers.read(me, 'SELECT missing FROM texts', []))).toMatchObject({
    message: expect.stringContaining('no such column'),
  });
  expect(await readers.read(me, quick, [1n])).toEqual([[40]]);
});

/**
 * Largest CPU time of the event loop's thread between two turns of the loop during a slow read, as a fraction of the CPU
 * time of the read. A busy machine delays the loop, but does not use its thread.
 */
async function standstill(): Promise<number> {
  const { readers } = readersOf();
  let isDone = false;
  let largest = 0;
  const started = process.cpuUsage();
  let before = process.threadCpuUsage();
  const reading = readers.read(me, slow, []).finally(() => (isDone = true));
  while (!isDone) {
    await Bun.sleep(1);
    const now = process.threadCpuUsage();
    largest = Math.max(largest, now.user - before.user);
    before = now;
  }
  expect(await reading).toBeArrayOfSize(30);
  return largest / process.cpuUsage(started).user;
}

test('the event loop runs while rows are searched, the first as well as later ones', async () => {
  expect(await standstill()).toBeLessThan(0.5);
});

test('a read over its budget is stopped with an error, and the reader continues', async () => {
  const { readers } = readersOf(50);
  expect(await refusal(readers.read(me, endless, []))).toMatchObject({
    code: 'budget_exceeded',
    message: expect.stringContaining('50 ms'),
  });
  expect(await readers.read(me, quick, [1n])).toEqual([[40]]);
});

test('finalized statements never make the event loop wait for a reader', async () => {
  const { readers } = readersOf();
  for (let n = 1; n <= 150; n++) await readers.read(me, `${quick} OFFSET ${n % 30} + ${n}`, [1n]);
  const reading = refusal(readers.read(me, long, []));
  await Bun.sleep(50);
  Bun.gc(true);
  await Bun.sleep(1);
  await readers.close();
  // Had the read blocked the loop, it would have completed before the close.
  expect(await reading).toMatchObject({ name: 'StoreError' });
});

test('one account uses one reader, one workspace leaves one to the others, and readers rotate', async () => {
  const { readers } = readersOf(200);
  const order: string[] = [];
  const ask = (name: string, of: BillingAccount, text: string): Promise<unknown> =>
    readers.read(of, text, text === quick ? [1n] : []).then(
      () => order.push(name),
      () => order.push(`${name} stopped`),
    );
  const floods = ['key_a', 'key_b', 'key_c', 'key_d'].map((key) => ask(key, owner('ws_a', key), endless));
  const queued = Array.from({ length: 20 }, (_, n) => ask(`mine ${n}`, me, quick));
  await ask('theirs', owner('ws_b', 'key_z'), quick);
  expect(order).toEqual(['theirs']);
  await Promise.all([...floods, ...queued]);
  expect(order.slice(-20).filter((name) => name.startsWith('mine'))).not.toBeEmpty();
  expect(order).toHaveLength(25);
});

test('the queue is bounded, with an error message', async () => {
  const { readers } = readersOf(100);
  const reads = Array.from({ length: 60 }, () =>
    readers.read(me, endless, []).catch((error: unknown) => error),
  );
  expect(await refusal(readers.read(me, quick, [1n]))).toMatchObject({
    code: 'rate_limited',
    message: expect.stringContaining('50 for one member'),
  });
  expect(await readers.read(owner('ws_b', 'key_z'), quick, [1n])).toEqual([[40]]);
  await readers.close();
  await Promise.all(reads);
});

test('keys of one member share one queue, and a member without queued reads is accepted in a full workspace', async () => {
  const { readers } = readersOf(100);
  const keyOf = (member: number, key: number): BillingAccount => ({
    workspaceId: 'ws_a',
    billingAccount: `key_${member}_${key}`,
    party: `mem_${member}`,
  });
  const outcomes: Promise<unknown>[] = [];
  // One read of a member runs and 50 wait, across both of its keys, until 200 wait in the workspace.
  for (let member = 0; member < 5; member++)
    for (let n = 0; n < 60; n++)
      outcomes.push(readers.read(keyOf(member, n % 2), endless, []).catch((error: unknown) => error));
  expect(await refusal(readers.read(keyOf(0, 9), quick, [1n]))).toMatchObject({ code: 'rate_limited' });
  const last = readers.read(keyOf(9, 0), quick, [1n]).catch((error: Error) => error);
  await readers.close();
  expect(await last).not.toMatchObject({ code: 'rate_limited' });
  await Promise.all(outcomes);
});

test('closing stops running reads and rejects queued ones', async () => {
  const { readers } = readersOf();
  const reads = [endless, quick].map((text) =>
    readers.read(me, text, text === quick ? [1n] : []).catch((error: Error) => error.name),
  );
  await Bun.sleep(30);
  await readers.close();
  expect(await Promise.all(reads)).toEqual(['StoreError', 'StoreError']);
  expect(await refusal(readers.read(me, quick, [1n]))).toMatchObject({ fault: 'broken' });
});
