// Every path with every method: mounted methods respond, all others get 405 with the exact Allow, OPTIONS lists the
// same methods, HEAD is GET without a body, and all responses have the common headers. Generated from the routes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Reply, type TestApp } from '../app.ts';
import { fillPath, nowhere } from './seeds.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp({ flags: { rateLimit: 'on', rateRead: '100000', rateWorkspace: '100000' } });
});
afterAll(() => app.stop());

function hasUsualHeaders({ headers }: Reply): boolean {
  return (
    /^req_[0-9a-z]{26}$/.test(headers.get('x-request-id') ?? '') &&
    ['limit', 'remaining', 'reset'].every((name) => /^\d+$/.test(headers.get(`ratelimit-${name}`) ?? '')) &&
    !headers.has('retry-after')
  );
}

test('other methods are answered with 405 and the allowed methods', async () => {
  const byPath = Map.groupBy(app.app.routes, ({ path }) => path);
  for (const [path, routes] of byPath) {
    const there = fillPath(path, routes[0]!.params, nowhere);
    const mounted: string[] = routes.map(({ method }) => method);
    const allowed = [...mounted, ...(mounted.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']) {
      if (mounted.includes(method) || method === 'TRACE') continue;
      const reply = await app.call(method, there);
      expect([path, method, reply.status, reply.json?.error?.code, hasUsualHeaders(reply)]).toEqual([
        path,
        method,
        405,
        'method_not_allowed',
        true,
      ]);
      expect(reply.headers.get('allow')!.split(', ').sort()).toEqual(allowed);
    }
    const options = await app.call('OPTIONS', there);
    expect([path, options.status, options.text, hasUsualHeaders(options)]).toEqual([path, 204, '', true]);
    expect(options.headers.get('allow')!.split(', ').sort()).toEqual(allowed);
  }
});

test('HEAD has the headers of GET without the body', async () => {
  for (const route of app.app.routes) {
    if (route.method !== 'GET') continue;
    const path = fillPath(route.path, route.params, nowhere);
    const [get, head] = [await app.call('GET', path), await app.call('HEAD', path)];
    expect([path, head.status, head.text, hasUsualHeaders(head)]).toEqual([path, get.status, '', true]);
    // Requests for the usage change the usage.
    if (route.name === 'usage.get') continue;
    expect([path, head.headers.get('etag'), head.headers.get('content-type')]).toEqual([
      path,
      get.headers.get('etag'),
      get.headers.get('content-type'),
    ]);
    expect(hasUsualHeaders(get)).toBe(true);
  }
});

test('a missing or similar path is answered with 404', async () => {
  for (const path of [
    '/nothing',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v2/issues',
    '/api/v1/issues/',
    '/api/v1//issues',
    '/API/v1/issues',
    '/api/v1/issues/bulk/x',
    '/api/v1/issues/iss_00000000000000000000000001/',
    '/api/v1/issues/iss_00000000000000000000000001/nothing',
    '/api/v1/issues/..%2fteams',
    '/__proto__',
  ]) {
    const reply = await app.call('GET', path);
    expect([path, reply.status, reply.json?.error?.code, hasUsualHeaders(reply)]).toEqual([
      path,
      404,
      'not_found',
      true,
    ]);
  }
});

test('a path without a route is answered with the most similar route', async () => {
  const id = 'iss_00000000000000000000000001';
  for (const [method, path, meant] of [
    ['POST', '/api/v1/isues', 'POST /api/v1/issues'],
    ['GET', '/api/v1/Issues/', 'GET /api/v1/issues'],
    ['GET', '/v1/issues', 'GET /api/v1/issues'],
    ['GET', '/api/v2/teams', 'GET /api/v1/teams'],
    ['GET', '/labels', 'GET /api/v1/labels'],
    ['GET', '/api/v1/apikeys', 'GET /api/v1/api-keys'],
    ['PATCH', `/api/v1/issue/${id}`, 'PATCH /api/v1/issues/{id}'],
    ['GET', `/api/v1/issues/${id}/comment`, 'GET /api/v1/issues/{id}/comments'],
    ['GET', '/api/v1/issues/bulk/', '/api/v1/issues/bulk (POST)'],
    ['DELETE', '/api/v1/usages', '/api/v1/usage (GET)'],
    ['GET', '/api/v1/openapi.yaml', 'GET /api/v1/openapi.json'],
    ['GET', '/api/v1/nothing', null],
    ['GET', `/api/v1/${'x'.repeat(3000)}`, null],
    ['GET', '/robots.txt', null],
  ] as const) {
    const { status, json } = await app.call(method, path);
    const displayPath = path.replace(/x{1000,}/, '…');
    const ends = meant === null ? ' See /docs for all routes.' : ` Did you mean ${meant}?`;
    expect([status, json.error.message]).toEqual([404, `There is no route ${method} ${displayPath}.${ends}`]);
  }
});
