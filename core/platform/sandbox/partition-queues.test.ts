import { expect, test } from 'bun:test';
import { createPartitionQueues, type PartitionQueues } from './dispatch.ts';

const owner = (workspaceId: string, installId: string) => ({ workspaceId, installId });
const takeAll = (
  queues: PartitionQueues<string>,
  accept: (item: string) => boolean = () => true,
): string[] => {
  const taken: string[] = [];
  for (let item = queues.take(accept); item !== undefined; item = queues.take(accept)) taken.push(item);
  return taken;
};

test('a partition releases one item at a time and in order', () => {
  const queues = createPartitionQueues<string>(16);
  for (const item of ['one', 'two']) queues.push('a/0', owner('ws', 'a'), item);
  expect(takeAll(queues)).toEqual(['one']);
  queues.release('a/0');
  expect(takeAll(queues)).toEqual(['two']);
  queues.release('a/0');
  queues.release('a/0');
  expect(takeAll(queues)).toEqual([]);
});

test('a workspace with forty endless partitions leaves slots to others, and to its other installs', () => {
  const queues = createPartitionQueues<string>(16);
  for (let partition = 0; partition < 40; partition++)
    queues.push(`a/${partition}`, owner('ws1', 'a'), `a${partition}`);
  expect(takeAll(queues).length).toBe(4);
  queues.push('b/0', owner('ws1', 'b'), 'b');
  queues.push('c/0', owner('ws2', 'c'), 'c');
  expect(takeAll(queues).toSorted()).toEqual(['b', 'c']);
});

test('workspaces alternate, and a rejected item stays queued', () => {
  const queues = createPartitionQueues<string>(64);
  for (let partition = 0; partition < 3; partition++)
    queues.push(`a/${partition}`, owner('ws1', 'a'), `a${partition}`);
  queues.push('b/0', owner('ws2', 'b'), 'b0');
  queues.push('c/0', owner('ws2', 'c'), 'c0');
  expect(takeAll(queues, (item) => item !== 'b0')).toEqual(['a0', 'c0', 'a1', 'a2']);
  expect(queues.clear()).toEqual(['b0']);
  expect(takeAll(queues)).toEqual([]);
});
