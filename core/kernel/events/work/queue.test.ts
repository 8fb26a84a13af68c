import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../../platform/store/open-store.ts';
import { scopeOf, type Scope } from '../../../platform/store/store.ts';
import { rememberedMax } from './clock.ts';
import { createWorkQueue, type WorkItem, type WorkQueue } from './queue.ts';

const scope = scopeOf('00000000-0000-7000-8000-000000000001');
const neighbour = scopeOf('00000000-0000-7000-8000-000000000002');
let cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanUp.toReversed()) await clean();
  cleanUp = [];
});

interface Of {
  readonly workspace?: Scope;
  /** Default: one subject for all. */
  readonly subject?: string | ((id: string) => string);
  readonly whileStored?: () => void;
}

function begin(): {
  queue: WorkQueue;
  clock: { now: number };
  performed: string[];
  /** Lets work whose id starts with `slow-` end. */
  release: () => void;
  put(ids: readonly string[], of?: Of): Promise<void>;
  later(ids: readonly string[], atMs: number, of?: Of): Promise<void>;
  next(): { queue: WorkQueue; performed: string[] };
} {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-work-'));
  const clock = { now: 1_000_000_000 };
  const opened = openStore(dir, () => clock.now);
  const gate = Promise.withResolvers<void>();
  const start = (owner: string, isFirst: boolean) => {
    const performed: string[] = [];
    const queue = createWorkQueue({
      store: opened.store,
      clock: { nowMs: () => clock.now, monotonicMs: () => 0, after: () => () => undefined },
      log: () => undefined,
      kind: 'test',
      owner,
      seen: new Map(),
      capacity: 40,
      async perform(item) {
        performed.push(item.id);
        if (item.id.startsWith('broken-')) throw new Error('This work fails each time.');
        if (isFirst && item.id.startsWith('slow-')) await gate.promise;
        await opened.store.commit([queue.finish(item)]);
      },
    });
    cleanUp.push(queue.stop, gate.resolve);
    return { queue, performed };
  };
  cleanUp.push(() => rmSync(dir, { recursive: true }), opened.close);
  const { queue, performed } = start('me', true);
  const later = async (
    ids: readonly string[],
    atMs: number,
    { workspace = scope, subject = 'plg_1', whileStored = () => undefined }: Of = {},
  ): Promise<void> => {
    const items = ids.map((id) => ({ id, subject: typeof subject === 'string' ? subject : subject(id) }));
    const storing = opened.store.commit([queue.addAll(workspace, items, atMs)]);
    whileStored();
    const outcome = await storing;
    if (!outcome.ok) throw new Error(outcome.message);
  };
  return {
    queue,
    clock,
    performed,
    release: gate.resolve,
    later,
    put: (ids, of) => later(ids, clock.now, of),
    next: () => start('next', false),
  };
}

const names = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`);

test('work beyond the memory capacity waits in the database and is done once', async () => {
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

test('a thousand unfinished units of one subject do not delay others, and are all done once', async () => {
  const { queue, performed, release, put } = begin();
  await put(names(1_000, 'slow-'));
  expect(performed.length).toBe(10);
  await put(['same-workspace'], { subject: 'plg_2' });
  await put(['other-workspace'], { workspace: neighbour });
  expect(performed.slice(10)).toEqual(['same-workspace', 'other-workspace']);
  release();
  await queue.settled();
  expect(performed.toSorted()).toEqual(
    [...names(1_000, 'slow-'), 'same-workspace', 'other-workspace'].toSorted(),
  );
  // Work of one subscriber runs in insertion order.
  expect(performed.filter((id) => id.startsWith('slow-'))).toEqual(names(1_000, 'slow-'));
});

test('work that is due at once is served fairly by subject, not by time', async () => {
  const { queue, clock, performed, release, put, later } = begin();
  await later(names(3_000, 'slow-'), clock.now + 1_000);
  await later(['one'], clock.now + 1_500, { workspace: neighbour, subject: 'plg_9' });
  clock.now += 2_000;
  queue.wake();
  while (!performed.includes('one')) await Bun.sleep(1);
  expect(performed.length).toBe(11);
  release();
  await put([]);
  await queue.settled();
  expect(new Set(performed).size).toBe(3_001);
  expect(performed.length).toBe(3_001);
});

test('more subjects than the queue caches are all served, including those of a terminated process', async () => {
  const { queue, performed, release, put, next } = begin();
  const many = names(2 * rememberedMax + 100, 'work-');
  await put(names(40, 'slow-'), { subject: (id) => id });
  await put(many, { subject: (id) => id });
  const before = performed.length;
  expect(before).toBeLessThan(40);
  release();
  await queue.settled();
  expect(performed.toSorted()).toEqual([...names(40, 'slow-'), ...many].toSorted());
  await queue.stop();
  await put(many, { subject: (id) => id });
  expect(performed.length).toBe(many.length + 40);
  const after = next();
  await after.queue.start();
  await after.queue.settled();
  expect(after.performed.toSorted()).toEqual(many);
});

test('work that waited when its process ended is done by the next process', async () => {
  const { queue, performed, put, next } = begin();
  await put(names(50, 'slow-'));
  expect(performed.length).toBe(10);
  const after = next();
  await after.queue.start();
  await after.queue.settled();
  expect(after.performed.toSorted()).toEqual(names(50, 'slow-').toSorted());
  expect(queue.isActive('slow-0000')).toBe(true);
});

test('work is not lost when the clock is set back while it is stored', async () => {
  const { queue, clock, performed, put } = begin();
  await put(['one'], { whileStored: () => (clock.now -= 3_600_000) });
  await queue.settled();
  expect(performed).toEqual(['one']);
});

test('a worker with an expired lease cannot complete or postpone work of another process', async () => {
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
      seen: new Map(),
      capacity: 10,
      async perform(item) {
        taken.set(owner, item);
        await gate.promise;
      },
    });
    cleanUp.push(queue.stop, gate.resolve);
    return queue;
  };
  const late = queueOf('late');
  await opened.store.commit([late.add(scope, 'plg_1', 'one', 0)]);
  const next = queueOf('next');
  await next.start();
  while (!taken.has('next')) await new Promise((resolve) => setImmediate(resolve));
  const [before, now] = [taken.get('late')!, taken.get('next')!];
  expect(now.epoch).toBe(Number(before.epoch) + 1);
  expect((await opened.store.commit([late.finish(before)])).ok).toBe(false);
  expect((await opened.store.commit([late.defer(before, 5)])).ok).toBe(false);
  expect((await opened.store.commit([next.finish(now)])).ok).toBe(true);
});

test('work that always fails is retried with increasing delays of up to five minutes', async () => {
  const { queue, clock, performed, put } = begin();
  await put(['broken-1']);
  await queue.settled();
  for (let second = 0; second < 3_600; second++) {
    clock.now += 1_000;
    queue.wake();
    await queue.settled();
  }
  expect(performed.length).toBe(17);
});
