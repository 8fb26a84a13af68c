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
let delays: number[];
let isRefusing: boolean;
let commits: number;
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
  delays = [];
  isRefusing = false;
  commits = 0;
  store = {
    ...opened.store,
    commit(ops, options) {
      commits++;
      return isRefusing ? Promise.reject(new StoreError('full', 'full')) : opened.store.commit(ops, options);
    },
  };
  const clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    after: (delayMs: number, run: () => void) => {
      timers.push(run);
      delays.push(delayMs);
      return () => {
        delays.splice(timers.indexOf(run), 1);
        timers.splice(timers.indexOf(run), 1);
      };
    },
  };
  positions = createPositions({ store, clock, log: () => undefined });
});

/** A reader whose position is `at`, and due. */
function reader(consumer: string, at: number): { at: number; stored: number; isDue: boolean } {
  const position = { at, stored: 0, isDue: true };
  positions.add({
    consumer,
    workspaces: () => [scope.workspaceId],
    unstored: () => (position.at > position.stored ? { sequence: position.at, isDue: position.isDue } : null),
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
  positions.storeAfter(1_000, scope.workspaceId);
  const { ops, stored } = positions.along(scope);
  await store.commit(ops);
  stored();
  fire();
  await settle();
  expect([commits, position.stored, await cursor('a')]).toEqual([1, 3, 3]);
});

test('a position that is not due waits for another batch', async () => {
  const [idle, due] = [reader('a', 3), reader('b', 4)];
  idle.isDue = false;
  due.isDue = false;
  positions.storeAfter(1_000, scope.workspaceId);
  fire();
  await settle();
  expect(commits).toBe(0);
  due.isDue = true;
  positions.storeAfter(1_000, scope.workspaceId);
  fire();
  while ((await cursor('b')) !== 4) await settle();
  expect(await cursor('a')).toBe(3);
});

test('the earliest of several delays counts', () => {
  for (const delayMs of [10_000, 1_000, 5_000]) positions.storeAfter(delayMs, scope.workspaceId);
  expect(delays).toEqual([1_000]);
});

test('a position of a batch that failed is stored later', async () => {
  reader('a', 3);
  positions.storeAfter(1_000, scope.workspaceId);
  positions.along(scope);
  fire();
  while ((await cursor('a')) !== 3) await settle();
});

test('a position that the store refuses is stored later', async () => {
  reader('a', 3);
  positions.storeAfter(1_000, scope.workspaceId);
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
    unstored: () => ({ sequence: 9, isDue: true }),
    stored: () => undefined,
  });
  await other.store(scope);
  reader('a', 3);
  await positions.store(scope);
  expect(await cursor('a')).toBe(9);
});
