// The work queue on a real store: no piece of work is done twice, whatever memory and clocks do.
import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../store/open-store.ts';
import { scopeOf } from '../store/store.ts';
import { createWorkQueue, type WorkItem, type WorkQueue } from './work.ts';

const scope = scopeOf('00000000-0000-7000-8000-000000000001');
let cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.toReversed()) await clean();
  cleanUp = [];
});

function begin(): {
  queue: WorkQueue;
  clock: { now: number };
  performed: string[];
  /** Lets work named slow end. */
  release: () => void;
  put(ids: readonly string[], beforeAdopting?: () => void): Promise<void>;
} {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-work-'));
  const clock = { now: 1_000_000_000 };
  const opened = openStore(dir, () => clock.now);
  const performed: string[] = [];
  const gate = Promise.withResolvers<void>();
  const queue = createWorkQueue({
    store: opened.store,
    clock: { nowMs: () => clock.now, monotonicMs: () => 0, after: () => () => undefined },
    log: () => undefined,
    kind: 'test',
    owner: 'me',
    concurrency: 10,
    async perform(item) {
      performed.push(item.id);
      if (item.id.startsWith('slow-')) await gate.promise;
      await opened.store.commit([queue.finish(item)]);
    },
  });
  cleanUp.push(() => rmSync(dir, { recursive: true }), opened.close, queue.stop);
  return {
    queue,
    clock,
    performed,
    release: gate.resolve,
    async put(ids, beforeAdopting = () => undefined) {
      const outcome = await opened.store.commit(ids.map((id) => queue.add(scope, id, clock.now)));
      if (!outcome.ok) throw new Error(outcome.message);
      beforeAdopting();
      queue.adopt(
        scope,
        outcome.rows.flatMap((rows) => rows),
      );
    },
  };
}

const names = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test('work that finds no room in memory waits in the database and is done once', async () => {
  const { queue, performed, release, put } = begin();
  await put(names(2_000, 'first-'));
  await put(names(5, 'slow-'));
  while (performed.length < 2_005) await Bun.sleep(1);
  queue.wake();
  const idle = queue.settled();
  release();
  await idle;
  expect(performed.toSorted()).toEqual([...names(2_000, 'first-'), ...names(5, 'slow-')].toSorted());
});

test('work is not forgotten when the clock is set back while it is stored', async () => {
  const { queue, clock, performed, put } = begin();
  await put(['one'], () => (clock.now -= 3_600_000));
  await queue.settled();
  expect(performed).toEqual(['one']);
});

test('a late worker cannot finish or put off what another process has taken over', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-work-'));
  const opened = openStore(dir, () => 0);
  cleanUp.push(() => rmSync(dir, { recursive: true }), opened.close);
  const taken = new Map<string, WorkItem>();
  const gate = Promise.withResolvers<void>();
  const queueOf = (owner: string): WorkQueue => {
    const queue = createWorkQueue({
      store: opened.store,
      clock: { nowMs: () => 0, monotonicMs: () => 0, after: () => () => undefined },
      log: () => undefined,
      kind: 'test',
      owner,
      concurrency: 10,
      async perform(item) {
        taken.set(owner, item);
        await gate.promise;
      },
    });
    cleanUp.push(queue.stop, gate.resolve);
    return queue;
  };
  const late = queueOf('late');
  const added = await opened.store.commit([late.add(scope, 'one', 0)]);
  late.adopt(scope, added.ok ? added.rows[0]! : []);
  const next = queueOf('next');
  await next.start();
  while (!taken.has('next')) await new Promise((resolve) => setImmediate(resolve));
  const [before, now] = [taken.get('late')!, taken.get('next')!];
  expect(now.epoch).toBe(before.epoch + 1);
  expect((await opened.store.commit([late.finish(before)])).ok).toBe(false);
  expect((await opened.store.commit([late.defer(before, 5)])).ok).toBe(false);
  expect((await opened.store.commit([next.finish(now)])).ok).toBe(true);
});
