import { afterEach, expect, test } from 'bun:test';
import { createClock } from '../../../../test/app.ts';
import {
  cleanUp,
  endProcesses,
  find,
  first,
  leased,
  names,
  openBase,
  settle,
  startProcess,
  until,
  workspaceOf,
  worksOf,
} from '../../../../test/consumer-process.ts';
import { writtenAfterMs } from '../work/window.ts';
import { positionsMax } from './consumer-positions.ts';

afterEach(endProcesses);

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
  const clock = createClock(0);
  const process = startProcess(openBase(), 'me', {
    isOrdered: true,
    clock,
    // Old units are stored as soon as nothing prevents it.
    atEnd: () => Promise.resolve().then(() => clock.advance(2 * writtenAfterMs)),
  });
  const events = names(3);
  await process.happen(events);
  await settle(process);
  expect(process.performed).toEqual(worksOf(events));
  expect(process.refused).toEqual([]);
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
