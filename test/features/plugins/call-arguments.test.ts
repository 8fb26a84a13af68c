// Mapping from the arguments of a guest to a request of the in-process adapter.
import { expect, test } from 'bun:test';
import {
  CallError,
  gatewayCallOf,
  type GatewayCall,
  hostCallsOf,
} from '../../../core/features/plugins/host-calls/gateway.ts';
import { resourceRoutes } from '../../../core/app/features.ts';

const calls = hostCallsOf(resourceRoutes);
const callOf = (name: string, ...args: readonly unknown[]): GatewayCall =>
  gatewayCallOf(calls.get(name)!, args);

test('arguments have the order id, body, query, options', () => {
  expect(callOf('issues.update', 'iss_1', { title: 'x' }, { ifVersion: 3 })).toEqual({
    params: { id: 'iss_1' },
    body: { title: 'x' },
    ifMatch: 3,
  });
  expect(callOf('comments.list', 'iss_1', { limit: 2 })).toEqual({
    params: { id: 'iss_1' },
    query: { limit: 2 },
  });
  expect(callOf('issues.list', { filter: { priority: ['none'] } })).toEqual({
    params: {},
    query: { filter: { priority: ['none'] } },
  });
  expect(callOf('issues.list')).toEqual({ params: {}, query: {} });
});

test('a version may be a text, and an invalid version matches no object', () => {
  const versions = [2, '2', '*', 'x', null, -1, 1.5, {}].map(
    (ifVersion) => callOf('comments.resolve', 'cmt_1', { ifVersion }).ifMatch,
  );
  expect(versions).toEqual([2, 2, -1, -1, -1, -1, -1, -1]);
});

test('a call passed to map ignores the index after the id', () => {
  const [mapped] = ['iss_1'].map((...args) => callOf('issues.get', ...args));
  expect(mapped).toEqual({ params: { id: 'iss_1' }, query: {} });
  expect(['cmt_1'].map((...args) => callOf('comments.resolve', ...args))[0]!.ifMatch).toBeUndefined();
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
    expect(() => callOf(name, ...args)).toThrow(CallError);
});
