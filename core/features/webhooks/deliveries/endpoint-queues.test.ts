// Slots of endpoints: a waiting attempt is admitted as soon as a slot becomes available, for any reason.
import { expect, test } from 'bun:test';
import { createEndpointQueues } from './endpoint-queues.ts';

/** Returns queues of one endpoint, and the names of the admitted attempts. */
function begin(isProbing: () => boolean) {
  const queues = createEndpointQueues(isProbing);
  const admitted: string[] = [];
  const enter = (name: string): void =>
    void queues.enter('whe_1').then((isIn) => admitted.push(isIn ? name : `${name} sent away`));
  return { lanes: queues, admitted, enter };
}
const nextTick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('eight attempts start at once, and each finished one admits another', async () => {
  const { lanes: queues, admitted, enter } = begin(() => false);
  for (let n = 1; n <= 10; n++) enter(`${n}`);
  await nextTick();
  expect(admitted).toHaveLength(8);
  queues.leave('whe_1');
  await nextTick();
  expect(admitted.slice(8)).toEqual(['9']);
  queues.close();
  await nextTick();
  expect(admitted.slice(9)).toEqual(['10 sent away']);
});

test('a probed endpoint has one slot, and all slots once it recovers, even while the probe hangs', async () => {
  let probing = true;
  const { lanes: queues, admitted, enter } = begin(() => probing);
  for (const name of ['probe', 'second', 'third']) enter(name);
  await nextTick();
  expect(admitted).toEqual(['probe']);
  probing = false;
  queues.admit('whe_1');
  await nextTick();
  expect(admitted).toEqual(['probe', 'second', 'third']);
});
