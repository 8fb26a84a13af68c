import { expect, test } from 'bun:test';
import { createLanes, type Lanes } from './lanes.ts';

const owner = (workspaceId: string, installId: string) => ({ workspaceId, installId });
const takeAll = (lanes: Lanes<string>, accept: (item: string) => boolean = () => true): string[] => {
  const taken: string[] = [];
  for (let item = lanes.take(accept); item !== undefined; item = lanes.take(accept)) taken.push(item);
  return taken;
};

test('a lane gives one item at a time and in order', () => {
  const lanes = createLanes<string>(16);
  for (const item of ['one', 'two']) lanes.push('a/0', owner('ws', 'a'), item);
  expect(takeAll(lanes)).toEqual(['one']);
  lanes.release('a/0');
  expect(takeAll(lanes)).toEqual(['two']);
  lanes.release('a/0');
  lanes.release('a/0');
  expect(takeAll(lanes)).toEqual([]);
});

test('a workspace with forty lanes that never end leaves slots to others, and to its other installs', () => {
  const lanes = createLanes<string>(16);
  for (let lane = 0; lane < 40; lane++) lanes.push(`a/${lane}`, owner('ws1', 'a'), `a${lane}`);
  expect(takeAll(lanes).length).toBe(4);
  lanes.push('b/0', owner('ws1', 'b'), 'b');
  lanes.push('c/0', owner('ws2', 'c'), 'c');
  expect(takeAll(lanes).toSorted()).toEqual(['b', 'c']);
});

test('workspaces take turns, and who is not accepted keeps waiting', () => {
  const lanes = createLanes<string>(64);
  for (let lane = 0; lane < 3; lane++) lanes.push(`a/${lane}`, owner('ws1', 'a'), `a${lane}`);
  lanes.push('b/0', owner('ws2', 'b'), 'b0');
  lanes.push('c/0', owner('ws2', 'c'), 'c0');
  expect(takeAll(lanes, (item) => item !== 'b0')).toEqual(['a0', 'c0', 'a1', 'a2']);
  expect(lanes.clear()).toEqual(['b0']);
  expect(takeAll(lanes)).toEqual([]);
});
