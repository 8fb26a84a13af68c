// From the arguments that a guest gives to the request that the door sees.
import { expect, test } from 'bun:test';
import { CallError, requestOf, type DoorRequest } from '../../core/plugins/door-request.ts';
import { hostCallsOf } from '../../core/plugins/host-calls.ts';
import { resourceRoutes } from '../../core/resources.ts';

const calls = hostCallsOf(resourceRoutes);
const request = (name: string, ...args: readonly unknown[]): DoorRequest => requestOf(calls.get(name)!, args);

test('arguments come in the order id, body, query, options', () => {
  expect(request('issues.update', 'iss_1', { title: 'x' }, { ifVersion: 3 })).toEqual({
    method: 'PATCH',
    path: '/api/v1/issues/iss_1',
    body: { title: 'x' },
    headers: { 'if-match': '"3"' },
  });
  expect(request('comments.list', 'iss_1', { limit: 2 }).path).toBe('/api/v1/issues/iss_1/comments?limit=2');
  expect(request('comments.resolve', 'cmt_1', { ifVersion: 2 }).headers).toEqual({ 'if-match': '"2"' });
});

test('lists and filters are given as plain values or as text', () => {
  const asked = { fields: ['title', 'team'], filter: { priority: ['none'] }, after: null, sort: undefined };
  const search = new URLSearchParams({ fields: 'title,team', filter: '{"priority":["none"]}' });
  expect(request('issues.list', asked).path).toBe(`/api/v1/issues?${search}`);
  expect(request('issues.list').path).toBe('/api/v1/issues');
});

test('a call is handed to map: the index behind the id is none of its arguments', () => {
  const [made] = ['iss_1'].map((...args) => request('issues.get', ...args));
  expect(made).toEqual({ method: 'GET', path: '/api/v1/issues/iss_1' });
  expect(['cmt_1'].map((...args) => request('comments.resolve', ...args))[0]!.headers).toBeUndefined();
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
    expect(() => request(name, ...args)).toThrow(CallError);
});
