import { expect, test } from 'bun:test';
import { ApiError, errorCodes, type ErrorCode } from '../../../platform/lib/errors/errors.ts';
import { etagOf, ifMatchVersion, respondError, respondJson } from './response.ts';
import { newExchange, type Exchange } from '../requests.ts';
import { allScopes, expandScopes } from '../../rights/table.ts';

const exchange: Exchange = {
  ...newExchange('req_1'),
  verdict: { admitted: true, limit: 10, remaining: 4, resetSeconds: 30 },
};

test('every response has the request id and the three RateLimit headers, and only 429 has Retry-After', async () => {
  expect(Object.fromEntries(respondJson(exchange, 200, '{}').headers)).toEqual({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'content-type': 'application/json',
    'ratelimit-limit': '10',
    'ratelimit-remaining': '4',
    'ratelimit-reset': '30',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-request-id': 'req_1',
  });
  for (const code of Object.keys(errorCodes) as ErrorCode[]) {
    const response = respondError(exchange, new ApiError(code));
    expect([code, response.status, response.headers.get('retry-after')]).toEqual([
      code,
      errorCodes[code].status,
      errorCodes[code].status === 429 ? '1' : null,
    ]);
    expect(await response.json()).toEqual({
      error: { code, message: errorCodes[code].text, details: [], requestId: 'req_1' },
    });
  }
  expect(respondJson({ ...exchange, mode: 'simulate' }, 200, '{}').headers.get('tatami-mode')).toBe(
    'simulate',
  );
});

test('If-Match is compared by the version in the tag', () => {
  const rows: [header: string | null, version: number | null][] = [
    [null, null],
    ['*', null],
    [' * ', null],
    [etagOf(7, '{"a":1}'), 7],
    [`W/${etagOf(7, 'x')}`, 7],
    ['"12"', 12],
    ['12', 12],
    ['"h-abc"', -1],
    ['"-1"', -1],
    ['"1.5"', -1],
    ['', -1],
    ['"1", "2"', -1],
    [`"${'9'.repeat(20)}"`, -1],
  ];
  for (const [header, version] of rows) expect([header, ifMatchVersion(header)]).toEqual([header, version]);
  expect(etagOf(7, 'a')).not.toBe(etagOf(7, 'b'));
  expect(etagOf(undefined, 'a')).toMatch(/^"h-/);
});

test('a write scope implies its read scope, `plugins:write` includes `backtests:write`, and no other scope implies another', () => {
  for (const scope of allScopes) {
    const read = scope.replace(/:write$/, ':read');
    const part = scope === 'plugins:write' ? ['backtests:write'] : [];
    expect([...expandScopes([scope])].sort()).toEqual([...new Set([scope, read, ...part])].sort());
  }
  expect(new Set(allScopes).size).toBe(allScopes.length);
  for (const scope of allScopes) expect(scope).toMatch(/^[a-z-]+:(read|write)$/);
});
