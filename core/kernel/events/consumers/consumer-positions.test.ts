import { afterEach, expect, test } from 'bun:test';
import {
  cleanUp,
  endProcesses,
  first,
  names,
  openBase,
  settle,
  startProcess,
} from '../../../../test/consumer-process.ts';
import { tenantStatement } from '../../../platform/store/statement.ts';
import { ConsumerPosition } from './consumer-positions.ts';
import { storeSubscriptionOp } from './past-subscriptions.ts';

afterEach(endProcesses);

test('the cursor follows events without matching subscribers', async () => {
  const process = startProcess(openBase(), 'me', { subjects: [] });
  await process.happen(names(5_000));
  await process.consumer.settled();
  expect(await process.cursor()).toBeGreaterThan(2_000);
  await process.storeMarks();
  expect(await process.cursor()).toBe(5_000);
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
