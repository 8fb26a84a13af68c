// The API reference works offline, and no public page shows data of a workspace.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../app.ts';
import { signIn } from '../features/sign-in/person.ts';

let app: TestApp;
/** The cookie header of a signed-in person. */
let cookie: string;
beforeAll(async () => {
  app = await startApp();
  ({ cookie } = await signIn(app));
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

test('the root page and the page of an issue lead a signed-out person to the sign-in and back', async () => {
  for (const path of ['/', '/issues/ENG-1?view=mine']) {
    const { status, headers, text } = await app.clientOf(null)('GET', path);
    const to = new URL(headers.get('location')!);
    expect([status, to.origin + to.pathname, to.searchParams.get('to')]).toEqual([
      ...[303, `${app.url}/sign-in`, path],
    ]);
    expect(text).toBe('');
  }
});

test('the page of an issue is the web app, and is identical for issues that do not exist', async () => {
  await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Very secret title' });
  const visit = (path: string, headers = {}) => app.clientOf(null)('GET', path, undefined, headers);
  const [here, nowhere] = await Promise.all(
    ['/issues/ENG-1', '/issues/ENG-2'].map((path) => visit(path, { cookie })),
  );
  expect([here!.status, nowhere!.status]).toEqual([200, 200]);
  expect(here!.text).toContain('<div id="app"></div>');
  expect(here!.text).not.toContain('secret');
  expect(nowhere!.text).toBe(here!.text);
  const [out, outNowhere] = await Promise.all(['/issues/ENG-1', '/issues/ENG-2'].map((path) => visit(path)));
  expect(out!.text).not.toContain('secret');
  expect([outNowhere!.status, outNowhere!.text]).toEqual([out!.status, out!.text]);
});

test('the reference links to the web app, the account, the guides and the OpenAPI document', async () => {
  for (const path of ['/', '/issues', '/account', '/docs/guides', '/api/v1/openapi.json'])
    expect([path, (await app.clientOf(null)('GET', path, undefined, { cookie })).status]).toEqual([
      path,
      200,
    ]);
});
