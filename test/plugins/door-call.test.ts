// Mapping from the arguments of a guest to a request of the in-process adapter.
import { expect, test } from 'bun:test';
import { CallError, doorCallOf, type DoorCall } from '../../core/plugins/door-call.ts';
import { hostCallsOf } from '../../core/plugins/host-calls.ts';
import { resourceRoutes } from '../../core/resources.ts';

const calls = hostCallsOf(resourceRoutes);
const asked = (name: string, ...args: readonly unknown[]): DoorCall => doorCallOf(calls.get(name)!, args);

test('arguments have the order id, body, query, options', () => {
  expect(asked('issues.update', 'iss_1', { title: 'x' }, { ifVersion: 3 })).toEqual({
    params: { id: 'iss_1' },
    body: { title: 'x' },
    ifMatch: 3,
  });
  expect(asked('comments.list', 'iss_1', { limit: 2 })).toEqual({
    params: { id: 'iss_1' },
    query: { limit: 2 },
  });
  expect(asked('issues.list', { filter: { priority: ['none'] } })).toEqual({
    params: {},
    query: { filter: { priority: ['none'] } },
  });
  expect(asked('issues.list')).toEqual({ params: {}, query: {} });
});

test('a version may be a text, and an invalid version matches no object', () => {
  const versions = [2, '2', '*', 'x', null, -1, 1.5, {}].map(
    (ifVersion) => asked('comments.resolve', 'cmt_1', { ifVersion }).ifMatch,
  );
  expect(versions).toEqual([2, 2, -1, -1, -1, -1, -1, -1]);
});

test('a call passed to map ignores the index after the id', () => {
  const [made] = ['iss_1'].map((...args) => asked('issues.get', ...args));
  expect(made).toEqual({ params: { id: 'iss_1' }, query: {} });
  expect(['cmt_1'].map((...args) => asked('comments.resolve', ...args))[0]!.ifMatch).toBeUndefined();
});

test('arguments of another type are refused', () => {
  for (const [name, ...args] of [
    ['issues.get', 1],
    ['issues.get', 'iss_1/../x'],
    ['issues.get', 'iss_1', 'title'],
    ['issues.update', 'iss_1'],
    ['issues.update', 'iss_1', 3],
    ['issues.update', 'iss_1', {}, 3],
    ['issues.list', 5],
    ['comments.create', 'iss_1', ['x']],
  ] as const)
    expect(() => asked(name, ...args)).toThrow(CallError);
});
