// The API reference works offline, and no public page shows data of a workspace.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const always = ['x-request-id', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];

test('/docs loads its script from this server only, with the headers of every response', async () => {
  const page = await app.clientOf(null)('GET', '/docs');
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const loaded = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address!);
  const links = ['/', '/issues', '/account', '/docs/guides', '/api/v1/openapi.json'];
  expect(loaded).toEqual(['/favicon.svg', '/docs/viewer.css', ...links, '/docs/viewer.js']);
  expect(page.text.replaceAll(' xmlns="http://www.w3.org/2000/svg"', '')).not.toMatch(
    /(https?:)?\/\/[a-z]|url\(|@import/i,
  );
  expect(page.text).toContain('<title>API reference · Tatami</title>');
  const csp = page.headers.get('content-security-policy')!;
  for (const rule of [
    "default-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
  ])
    expect(csp.split('; ')).toContain(rule);
  expect(csp).not.toMatch(/https?:|\*/);
  const script = await app.clientOf(null)('GET', '/docs/viewer.js');
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(script.text.length).toBeGreaterThan(1_000_000);
  const style = await app.clientOf(null)('GET', '/docs/viewer.css');
  expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect(style.text).toContain('.swagger-ui');
  expect(style.text).not.toMatch(/url\((?!["']?data:)|@import/);
  for (const { status, headers } of [script, style])
    expect([status, headers.get('cache-control')]).toEqual([200, expect.stringContaining('max-age=')]);
  for (const { headers } of [page, script, style])
    expect(always.filter((name) => !headers.has(name))).toEqual([]);
});

test('the root page links to the account, the reference, the guides and the OpenAPI document', async () => {
  const page = await app.clientOf(null)('GET', '/');
  const [, main = ''] = page.text.split('<main>');
  const links = [...main.matchAll(/<a href="([^"]+)"/g)].map(([, address]) => address!);
  const linkPaths = ['/account', '/docs', '/docs/guides', '/api/v1/openapi.json'];
  expect(links).toEqual(linkPaths.map((path) => `${app.url}${path}`));
  for (const link of links) expect((await fetch(link)).status).toBe(200);
});

test('the page of an issue explains how to read it, and is identical for issues that do not exist', async () => {
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Very secret title' });
  const here = await app.clientOf(null)('GET', '/issues/ENG-1');
  const nowhere = await app.clientOf(null)('GET', '/issues/ENG-2');
  expect(here.status).toBe(200);
  expect(here.text).not.toContain('secret');
  expect(nowhere.text.replaceAll('ENG-2', 'ENG-1')).toBe(here.text);
  const [, address = ''] = /curl '([^']+)'/.exec(here.text) ?? [];
  const reply = await app.call('GET', address.slice(app.url.length));
  expect(reply.json.title).toBe('Very secret title');
  expect((await app.clientOf(null)('GET', '/issues/eng-1')).status).toBe(200);
  expect((await app.clientOf(null)('GET', '/issues/<script>')).status).toBe(404);
});
