import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type OpenedStore } from '../../../platform/store/open-store.ts';
import { systemStatement, tenantStatement } from '../../../platform/store/statement.ts';
import { scopeOf, tenantOp, type Scope } from '../../../platform/store/store.ts';
import { appendEvents, type NewEvent } from '../log/append.ts';
import { createConsumer, type Consumer } from './consumer.ts';
import { createFreshEvents } from './fresh.ts';
import { ConsumerPosition, positionsMax } from './consumer-positions.ts';
import { storeSubscriptionOp } from './past-subscriptions.ts';
import { createPositions } from './positions.ts';
import { createUnitQueue, type Unit, type UnitQueue } from '../work/queue.ts';
import { createClock } from '../../../../test/app.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  // The list is emptied first, so a failing clean-up is not run again after the next test.
  for (const clean of cleanUp.splice(0).toReversed()) await clean();
});

// Work rows of these tests are stored in `cursors`, with ids that no consumer uses.
const insert = tenantStatement(
  'test.insert_work',
  "INSERT INTO cursors (workspace_id, consumer, sequence) SELECT :ws, 'work ' || value, 0 FROM json_each(:ids)",
);
const find = tenantStatement<{ id: string }>(
  'test.find_work',
  `SELECT substr(consumer, 6) AS id FROM cursors WHERE workspace_id = :ws
     AND consumer IN (SELECT 'work ' || value FROM json_each(:ids))`,
);
const leased = systemStatement<{ id: string }>(
  'test.leased',
  'work items that wait for a worker, in all workspaces',
  'SELECT id FROM due_work ORDER BY id',
);

const first = scopeOf('00000000-0000-7000-8000-000000000000');
const workspaceOf = (index: number): Scope =>
  scopeOf(`00000000-0000-7000-8000-${String(index).padStart(12, '0')}`);

/** A process on the database, with the work it performs and the completions that are refused. */
interface Process {
  readonly consumer: Consumer;
  storeMarks(): Promise<void>;
  readonly queue: UnitQueue<Unit>;
  /** Ids of the performed units, in start order. */
  readonly performed: string[];
  /** Ids of units whose completion was refused. */
  readonly refused: readonly string[];
  /** Appends events, each of which is work for every subscriber. */
  happen(ids: readonly string[], scope?: Scope): Promise<void>;
  cursor(): Promise<number>;
}

interface Setting {
  readonly subjects?: readonly string[];
  readonly capacity?: number;
  /** Default: the monotonic clock of the system. */
  readonly clock?: Clock;
  /** True if all units of a subscriber share one order key. */
  readonly isOrdered?: boolean;
  /** True if the process crashes before any of its timers fires. */
  readonly isCut?: boolean;
  /** Last event that is matched against earlier subscriptions. */
  readonly pastUntil?: number;
  /** True if some work never ends, so that stopping the queue would block. */
  readonly hangs?: boolean;
  /** Resolves when a unit may end; never resolves for a unit that hangs. */
  mayEnd?(id: string): Promise<void>;
  /** Called while the completion of a unit is being committed. */
  atEnd?(): Promise<void>;
}

function openBase(): OpenedStore {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-consumer-'));
  const opened = openStore(dir, () => 0);
  cleanUp.push(() => rmSync(dir, { recursive: true }), opened.close);
  return opened;
}

const readCursor = tenantStatement<{ sequence: number }>(
  'test.cursor',
  "SELECT sequence FROM cursors WHERE workspace_id = :ws AND consumer = 'test'",
);

function startProcess({ store }: OpenedStore, owner: string, setting: Setting = {}): Process {
  const {
    subjects = ['plg_1'],
    capacity = 4_000,
    isOrdered = false,
    mayEnd = () => Promise.resolve(),
  } = setting;
  const fresh = createFreshEvents();
  const performed: string[] = [];
  const refused: string[] = [];
  const clock = setting.clock ?? {
    nowMs: () => 0,
    monotonicMs: () => performance.now(),
    after: (delayMs: number, run: () => void) => {
      const timer = setting.isCut ? undefined : setTimeout(run, delayMs);
      return () => clearTimeout(timer);
    },
  };
  const log = (): undefined => undefined;
  const insertOp = (scope: Scope, units: readonly Unit[]) =>
    tenantOp(scope, insert, { ids: JSON.stringify(units.map(({ id }) => id)) });
  const stored = async (scope: Scope, ids: readonly string[]): Promise<Set<string>> =>
    new Set((await store.read(scope, find, { ids: JSON.stringify(ids) })).map(({ id }) => id));
  const queue: UnitQueue<Unit> = createUnitQueue<Unit>({
    store,
    clock,
    log,
    kind: 'test',
    owner,
    seen: new Map(),
    capacity,
    async perform(item) {
      performed.push(item.id);
      await mayEnd(item.id);
      await store.commit([queue.finish(item)]);
    },
    rows: {
      isBlocked: () => Promise.resolve(false),
      isStored: async ({ scope, id }) => (await stored(scope, [id])).has(id),
      insertOp,
      addInOrderOp: ({ scope, subject, id }, leases) =>
        queue.addAll(scope, [{ id, subject }], clock.nowMs(), leases),
      stored: () => undefined,
    },
  });
  const unitOf = ({ workspaceId }: Scope, event: { id: string; sequence: number }, subject: string): Unit => {
    const scope = scopeOf(workspaceId, subject);
    const id = `${event.id} of ${subject}`;
    const unit: Unit = {
      scope,
      subject,
      id,
      sequence: event.sequence,
      orderKey: isOrdered ? subject : null,
      async perform(item) {
        performed.push(id);
        await mayEnd(id);
        const ended = await queue.whileSealed(item, async () => {
          const op = item.epoch === null ? queue.ending(item, insertOp(scope, [unit])) : queue.finish(item);
          await setting.atEnd?.();
          return store.commit([op]);
        });
        if (!ended.ok) refused.push(id);
      },
    };
    return unit;
  };
  const positions = createPositions({ store, clock, log });
  const consumer = createConsumer<Unit>({
    store,
    clock,
    log,
    fresh,
    queue,
    name: 'test',
    isStored: async (scope, id) => (await stored(scope, [id])).has(id),
    positions,
    listens: () => Promise.resolve({ isAny: true, pastUntil: setting.pastUntil ?? 0 }),
    async plan(scope, events, isMeant, isNew) {
      const units: Unit[] = [];
      for (const event of events)
        for (const subject of subjects.filter((one) => isMeant(one, event.sequence))) {
          const unit = unitOf(scope, event, subject);
          if (await isNew(unit.id)) units.push(unit);
        }
      return { units, notes: [] };
    },
  });
  if (!setting.hangs) cleanUp.push(queue.stop);
  cleanUp.push(consumer.stop);
  return {
    consumer,
    storeMarks: positions.stop,
    queue,
    performed,
    refused,
    async happen(ids, scope = first) {
      const events = ids.map((id) => eventWithId(scope, id));
      const appending = appendEvents(scope, events, new Map());
      const outcome = await store.commit(appending.map(({ op }) => op));
      if (!outcome.ok) throw new Error(outcome.message);
      fresh.add(
        scope.workspaceId,
        appending.map((event, index) => event.appended(outcome.rows[index]!)),
      );
    },
    cursor: async () => (await store.readOne(first, readCursor))?.sequence ?? 0,
  };
}

const eventWithId = ({ workspaceId }: Scope, id: string): NewEvent => ({
  id,
  type: 'label.created',
  workspaceId,
  createdAt: 0,
  entityType: 'label',
  entityId: 'lbl_1',
  subjectId: null,
  commitAssignedOf: null,
  actor: { kind: 'system', id: 'test', name: 'Test' },
  cause: { rootEventId: id, parentRunId: null, depth: 0, path: [] },
  requestId: null,
  traceparent: null,
  data: {},
});

const names = (count: number, prefix = 'evt_'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(4, '0')}`);
const worksOf = (events: readonly string[], subject = 'plg_1'): string[] =>
  events.map((id) => `${id} of ${subject}`);
const until = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  const sinceMs = performance.now();
  while (!(await isTrue())) {
    if (performance.now() - sinceMs > 50_000)
      throw new Error('The expected condition was not reached within 50 s.');
    await new Promise((resolve) => setImmediate(resolve));
  }
};

async function settle({ consumer, queue, storeMarks }: Process): Promise<void> {
  await consumer.settled();
  await queue.settled();
  await storeMarks();
}

test('each event makes its work once, also in more workspaces than the position cache holds', async () => {
  const process = startProcess(openBase(), 'me');
  const expected: string[] = [];
  for (const round of [1, 2]) {
    for (let from = 0; from < positionsMax + 50; from += 50) {
      const indexes = Array.from({ length: 50 }, (_, at) => from + at);
      await Promise.all(
        indexes.map((index) => process.happen([`evt_${round}_${index}`], workspaceOf(index))),
      );
      expected.push(...worksOf(indexes.map((index) => `evt_${round}_${index}`)));
    }
    await settle(process);
    expect(process.performed.toSorted()).toEqual(expected.toSorted());
  }
});

test('work that ends soon is written once, with no stored row, and the cursor follows', async () => {
  const opened = openBase();
  // Without timers nothing is written early, however slow the machine is.
  const process = startProcess(opened, 'me', { isCut: true });
  const events = names(500);
  await process.happen(events);
  await settle(process);
  expect(process.performed).toEqual(worksOf(events));
  expect(await opened.store.readSystem(leased)).toEqual([]);
  expect(await process.cursor()).toBe(500);
});

test('a subscriber without capacity lags behind, loses no work, and does not delay others', async () => {
  const gate = Promise.withResolvers<void>();
  const process = startProcess(openBase(), 'me', {
    subjects: ['plg_slow', 'plg_quick'],
    capacity: 40,
    mayEnd: (id) => (id.endsWith('slow') ? gate.promise : Promise.resolve()),
  });
  cleanUp.push(gate.resolve);
  const events = names(1_500);
  await process.happen(events);
  await until(() => process.performed.filter((id) => id.endsWith('quick')).length === 1_500);
  gate.resolve();
  await settle(process);
  // The order varies: on a slow machine work of the fast subscriber is also written to the database, and
  // stored work waits behind work in memory.
  expect(process.performed.toSorted()).toEqual(
    [...worksOf(events, 'plg_slow'), ...worksOf(events, 'plg_quick')].toSorted(),
  );
  expect(await process.cursor()).toBe(1_500);
});

test('work within the capacity has no rows, unless it takes longer than ten seconds', async () => {
  const opened = openBase();
  const clock = createClock(0);
  const mayEnd = (): Promise<void> => new Promise(() => undefined);
  const process = startProcess(opened, 'me', { clock, hangs: true, mayEnd });
  const rows = async (): Promise<number> => (await opened.store.readSystem(leased)).length;
  await process.happen(names(200));
  await until(() => process.performed.length === 200);
  clock.advance(9_900);
  // A batch that was under way would be written before this one.
  await process.happen(names(1, 'evt_other_'));
  expect(await rows()).toBe(0);
  clock.advance(5_100);
  await until(async () => (await rows()) === 200);
});

test('work that hangs is stored, so that the cursor advances, and another process takes it over', async () => {
  const opened = openBase();
  const clock = createClock(0);
  const process = startProcess(opened, 'me', {
    capacity: 40,
    hangs: true,
    clock,
    mayEnd: (id) => (id < 'evt_0300' ? Promise.resolve() : new Promise(() => undefined)),
  });
  const events = names(400);
  await process.happen(events);
  const waiting = async () => (await opened.store.readSystem(leased)).map(({ id }) => id);
  await until(async () => {
    // Hanging work is stored after ten seconds, and its lease, which takes capacity, ends after ten minutes.
    clock.advance(20_000);
    return (await process.cursor()) === 400 && (await waiting()).length === 100;
  });
  expect(await waiting()).toEqual(worksOf(events.slice(300)));
  const next = startProcess(opened, 'next');
  await next.queue.start();
  await settle(next);
  expect(next.performed.toSorted()).toEqual(worksOf(events.slice(300)));
});

test('after a crash finished work is not repeated, and unfinished work is', async () => {
  const opened = openBase();
  const process = startProcess(opened, 'me', {
    isCut: true,
    hangs: true,
    mayEnd: (id) => (Number(id.slice(4, 8)) % 3 === 0 ? new Promise(() => undefined) : Promise.resolve()),
  });
  const events = names(90);
  const ended = worksOf(events).filter((_, index) => index % 3 !== 0);
  await process.happen(events);
  const stored = async (): Promise<number> =>
    (await opened.store.read(first, find, { ids: JSON.stringify(ended) })).length;
  await until(async () => (await stored()) === ended.length);
  await process.storeMarks();
  expect(await process.cursor()).toBe(0);
  const next = startProcess(opened, 'next');
  await next.queue.start();
  await next.happen(['evt_0090']);
  await settle(next);
  const underWay = events.filter((_, index) => index % 3 === 0);
  expect(next.performed.toSorted()).toEqual(worksOf([...underWay, 'evt_0090']));
  expect(await process.cursor()).toBe(91);
});

test('units of one order key are performed in sequence', async () => {
  const order: string[] = [];
  let running = 0;
  const process = startProcess(openBase(), 'me', {
    isOrdered: true,
    // Nothing is stored, however slow the machine is: for stored work the statement of each work type decides the
    // order.
    isCut: true,
    async mayEnd(id) {
      expect(++running).toBe(1);
      order.push(id);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
    },
  });
  const events = names(400);
  await process.happen(events);
  await settle(process);
  expect(order).toEqual(worksOf(events));
});

test('a unit whose completion is being committed is not overwritten', async () => {
  const process = startProcess(openBase(), 'me', { isOrdered: true, atEnd: () => Bun.sleep(400) });
  const events = names(3);
  await process.happen(events);
  await settle(process);
  expect(process.performed).toEqual(worksOf(events));
  expect(process.refused).toEqual([]);
});

test('the cursor follows events without matching subscribers', async () => {
  const process = startProcess(openBase(), 'me', { subjects: [] });
  await process.happen(names(5_000));
  await process.consumer.settled();
  expect(await process.cursor()).toBeGreaterThan(2_000);
  await process.storeMarks();
  expect(await process.cursor()).toBe(5_000);
});

test('storeWork stores the work of all events so far, also without capacity', async () => {
  const opened = openBase();
  const process = startProcess(opened, 'me', {
    capacity: 40,
    hangs: true,
    mayEnd: () => new Promise(() => undefined),
  });
  const events = names(1_200);
  await process.happen(events);
  await Promise.all(Array.from({ length: 5 }, () => process.consumer.storeWork(first)));
  expect((await opened.store.readSystem(leased)).map(({ id }) => id)).toEqual(worksOf(events));
});

const pastCount = tenantStatement<{ count: number }>(
  'test.past_subscriptions',
  'SELECT count(*) AS count FROM past_subscriptions WHERE workspace_id = :ws',
);

test('earlier subscriptions are deleted once the cursor has passed their events', async () => {
  const opened = openBase();
  const process = startProcess(opened, 'me', { isCut: true, pastUntil: 5 });
  await process.happen(names(5));
  await opened.store.commit([storeSubscriptionOp(first, 'test', 'plg_1', {})]);
  const left = async () => (await opened.store.readOne(first, pastCount))!.count;
  expect(await left()).toBe(1);
  await process.happen(names(1, 'evt_later_'));
  await settle(process);
  expect([await process.cursor(), await left()]).toEqual([6, 0]);
});

test('the low-water mark does not pass a lagging subscriber', () => {
  const position = new ConsumerPosition(3, 3);
  position.at = 20;
  expect(position.lowWater).toBe(20);
  position.lagging.set('plg_1', { after: 7, movedMs: 0, isLookedAt: false });
  expect(position.lowWater).toBe(7);
  position.open(5);
  expect(position.lowWater).toBe(4);
});

test('a consumer with unfinished work reports its lag and the time since its last progress', async () => {
  const end = Promise.withResolvers<void>();
  const { consumer, queue, performed, happen } = startProcess(openBase(), 'hangs', {
    isCut: true,
    mayEnd: () => end.promise,
  });
  cleanUp.push(end.resolve);
  const none = { consumer: 'test', behind: 0, stalledMs: 0 };
  expect(consumer.progress()).toEqual(none);
  await happen(['evt_1', 'evt_2']);
  while (performed.length < 2) await Bun.sleep(1);
  expect(consumer.progress()).toEqual({ ...none, behind: 2 });
  await Bun.sleep(5);
  expect(consumer.progress().stalledMs).toBeGreaterThanOrEqual(4);
  end.resolve();
  await consumer.settled();
  await queue.settled();
  expect(consumer.progress()).toEqual(none);
});
