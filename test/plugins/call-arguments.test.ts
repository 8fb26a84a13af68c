// From the arguments that a guest gives to what is asked at the door.
import { expect, test } from 'bun:test';
import { CallError, gatewayCallOf, type GatewayCall } from '../../core/plugins/gateway-call.ts';
import { hostCallsOf } from '../../core/plugins/host-calls.ts';
import { resourceRoutes } from '../../core/resources.ts';

const calls = hostCallsOf(resourceRoutes);
const callOf = (name: string, ...args: readonly unknown[]): GatewayCall =>
  gatewayCallOf(calls.get(name)!, args);

test('arguments come in the order id, body, query, options', () => {
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

test('a version may be given as text; what is none is one that no object has', () => {
  const versions = [2, '2', '*', 'x', null, -1, 1.5, {}].map(
    (ifVersion) => callOf('comments.resolve', 'cmt_1', { ifVersion }).ifMatch,
  );
  expect(versions).toEqual([2, 2, -1, -1, -1, -1, -1, -1]);
});

test('a call is handed to map: the index behind the id is none of its arguments', () => {
  const [mapped] = ['iss_1'].map((...args) => callOf('issues.get', ...args));
  expect(mapped).toEqual({ params: { id: 'iss_1' }, query: {} });
  expect(['cmt_1'].map((...args) => callOf('comments.resolve', ...args))[0]!.ifMatch).toBeUndefined();
});

test('arguments of another kind are refused', () => {
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
