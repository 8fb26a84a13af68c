// The pages: the API reference works offline, and none of them shows a tenant's data.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

test('/docs loads its script from here and nothing from elsewhere, with the headers of every answer', async () => {
  const page = await app.clientOf(null)('GET', '/docs');
  expect(page.status).toBe(200);
  expect(page.text).toContain('/docs/scalar.js');
  expect(page.text).toContain('/api/v1/openapi.json');
  const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
  expect(loaded.filter((address) => /^(https?:)?\/\//.test(address))).toEqual([]);
  for (const header of [
    'x-request-id',
    'ratelimit-limit',
    'ratelimit-remaining',
    'ratelimit-reset',
    'content-security-policy',
  ])
    expect(page.headers.has(header)).toBe(true);
  const script = await app.clientOf(null)('GET', '/docs/scalar.js');
  expect(script.status).toBe(200);
  expect(script.text.length).toBeGreaterThan(1_000_000);
});

test('the page of an issue says how to read it, and is the same whether it exists or not', async () => {
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Very secret title' });
  const here = await app.clientOf(null)('GET', '/issues/ENG-1');
  const nowhere = await app.clientOf(null)('GET', '/issues/ENG-2');
  expect(here.status).toBe(200);
  expect(here.text).not.toContain('secret');
  expect(nowhere.text.replaceAll('ENG-2', 'ENG-1').replaceAll('"number":2', '"number":1')).toBe(here.text);
  expect((await app.clientOf(null)('GET', '/issues/<script>')).status).toBe(404);
});
