// Positions are stored along with other batches, never go back, and are not lost when a batch fails.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type OpenedStore } from '../../../platform/store/open-store.ts';
import { scopeOf, StoreError, type Scope, type Store } from '../../../platform/store/store.ts';
import { createPositions, readCursor, type Positions } from './positions.ts';

let opened: OpenedStore;
let scope: Scope;
let store: Store;
let positions: Positions;
let timers: (() => void)[];
let isRefusing: boolean;
let workspaces = 0;

const dir = mkdtempSync(join(tmpdir(), 'tatami-positions-'));
beforeAll(() => {
  opened = openStore(dir, () => 0);
});
afterAll(async () => {
  await opened.close();
  rmSync(dir, { recursive: true });
});
beforeEach(() => {
  scope = scopeOf(`00000000-0000-7000-8000-${String(workspaces++).padStart(12, '0')}`);
  timers = [];
  isRefusing = false;
  store = {
    ...opened.store,
    commit: (ops, options) =>
      isRefusing ? Promise.reject(new StoreError('full', 'full')) : opened.store.commit(ops, options),
  };
  const clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    after: (_delayMs: number, run: () => void) => {
      timers.push(run);
      return () => void (timers = timers.filter((other) => other !== run));
    },
  };
  positions = createPositions({ store, clock, log: () => undefined });
});

/** A reader whose position is `at`. */
function reader(consumer: string, at: number): { at: number; stored: number } {
  const position = { at, stored: 0 };
  positions.add({
    consumer,
    workspaces: () => [scope.workspaceId],
    unstored: () => (position.at > position.stored ? position.at : null),
    stored: (_workspaceId, sequence) => void (position.stored = sequence),
  });
  return position;
}
const cursor = async (consumer: string): Promise<number> =>
  (await readCursor.one(opened.store, scope, { consumer }))?.sequence ?? 0;
const fire = (): void => {
  for (const run of timers.splice(0)) run();
};
const settle = async (): Promise<void> => {
  for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
};

test('the positions of all readers are one statement', async () => {
  reader('a', 3);
  reader('b', 5);
  expect(positions.along(scope).ops).toHaveLength(1);
  await positions.store(scope);
  expect([await cursor('a'), await cursor('b')]).toEqual([3, 5]);
  expect(positions.along(scope).ops).toHaveLength(0);
});

test('a position stored along with a batch causes no commit of its own', async () => {
  const position = reader('a', 3);
  positions.storeSoon(scope.workspaceId);
  const { ops, stored } = positions.along(scope);
  await store.commit(ops);
  stored();
  const before = opened.store.counts().batches;
  fire();
  await settle();
  expect([opened.store.counts().batches - before, position.stored, await cursor('a')]).toEqual([0, 3, 3]);
});

test('a position that moves on without need waits for another batch', async () => {
  const position = reader('a', 3);
  positions.storeSoon(scope.workspaceId);
  const { ops, stored } = positions.along(scope);
  await store.commit(ops);
  stored();
  position.at = 5;
  expect(timers.length).toBe(0);
  // A need that arises while the batch is committed is not forgotten.
  positions.storeSoon(scope.workspaceId);
  const next = positions.along(scope);
  positions.storeSoon(scope.workspaceId);
  await store.commit(next.ops);
  next.stored();
  expect(timers.length).toBe(1);
});

test('a position of a batch that failed is stored later', async () => {
  reader('a', 3);
  positions.storeSoon(scope.workspaceId);
  positions.along(scope);
  fire();
  while ((await cursor('a')) !== 3) await settle();
});

test('a position that the store refuses is stored later', async () => {
  reader('a', 3);
  positions.storeSoon(scope.workspaceId);
  isRefusing = true;
  fire();
  while (timers.length === 0) await settle();
  isRefusing = false;
  fire();
  while ((await cursor('a')) !== 3) await settle();
});

test('a position never goes back, also not behind one that another process has stored', async () => {
  const other = createPositions({
    store,
    clock: { nowMs: () => 0, monotonicMs: () => 0, after: () => () => undefined },
    log: () => undefined,
  });
  other.add({
    consumer: 'a',
    workspaces: () => [scope.workspaceId],
    unstored: () => 9,
    stored: () => undefined,
  });
  await other.store(scope);
  reader('a', 3);
  await positions.store(scope);
  expect(await cursor('a')).toBe(9);
});
