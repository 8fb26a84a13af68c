// Checks every page, found by requesting every route, and every way to sign in against session fixation.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type TestApp } from '../../app.ts';
import { authorizePath, pkce, registerApp } from '../oauth/client.ts';
import { createAuthenticator } from './authenticator.ts';
import { ask, formTokenOf, invite, join, password } from './member.ts';
import { createVisitor, type PageResponse, type Visitor } from './visitor.ts';

let app: TestApp;
beforeAll(async () => {
  // Browsers allow passkeys for host names only, not for IP addresses.
  app = await startApp({ flags: { host: 'localhost' } });
});
afterAll(() => app.stop());

const isPage = ({ headers }: PageResponse): boolean =>
  headers.get('content-type')?.startsWith('text/html') === true;

/** Routes that would end the session of the test. */
const endings = ['/sign-out', '/account/end-sessions'];

/** Returns every response that a browser shows as a page, by route. */
async function pagesFor(visitor: Visitor): Promise<ReadonlyMap<string, PageResponse>> {
  const pages = new Map<string, PageResponse>();
  for (const { method, path } of app.app.routes) {
    if ((method !== 'GET' && method !== 'POST') || endings.includes(path)) continue;
    const at = path.replaceAll(/\{\w+\}/g, 'x');
    const page = method === 'GET' ? await visitor.get(at) : await visitor.post(at);
    if (isPage(page)) pages.set(`${method} ${path}`, page);
  }
  return pages;
}

let invited = 0;

/** Returns the pages of routes that need an object. */
async function furtherPages(visitor: Visitor): Promise<[string, PageResponse][]> {
  const begun = await visitor.get(authorizePath(await registerApp(app), pkce().challenge));
  const { json: issue } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Proposed' });
  const path = `/api/v1/issues/${issue.id}`;
  const { json } = await app.call('PATCH', path, { priority: 'low' }, { 'tatami-mode': 'propose' });
  const { link } = await invite(app, `later${++invited}@acme.example`);
  const further: [string, PageResponse][] = [];
  for (const at of [begun.to!, `/proposals/${json.id}`, link, '/docs/guides/errors'])
    further.push([at, await visitor.get(at)]);
  for (const [at, { status }] of further) expect([at, status]).toEqual([at, 200]);
  return further;
}

test('every page has the header, an icon and a title with the name of the product', async () => {
  const { visitor } = await join(app);
  const pages = [
    ...(await pagesFor(createVisitor(app))),
    ...(await pagesFor(visitor)),
    ...(await furtherPages(visitor)),
  ];
  for (const [name, { text }] of pages) {
    expect([name, /<title\s*>(.*?)<\/title/s.exec(text)?.[1]]).toEqual([
      name,
      expect.stringMatching(/Tatami$/),
    ]);
    expect([name, /<link\s+rel="icon"/.test(text)]).toEqual([name, true]);
    // The web app has a navigation of its own.
    const isApp = text.includes('<div id="app">');
    expect([name, isApp || /<header class="site">\s*<a href="\/">/.test(text)]).toEqual([name, true]);
  }
  const { text } = await visitor.get('/account');
  expect(/<nav aria-label="Site">.*?<\/nav>/s.exec(text)?.[0]).toMatch(
    /href="\/issues".*href="\/account".*action="\/sign-out".*Sign out/s,
  );
  expect((await createVisitor(app).get('/sign-in')).text).not.toContain('href="/account"');
});

test('no page can be framed, cached or send a referrer', async () => {
  const { visitor } = await join(app);
  const pages = [
    ...(await pagesFor(createVisitor(app))),
    ...(await pagesFor(visitor)),
    ...(await furtherPages(visitor)),
  ];
  expect(pages.length).toBeGreaterThan(45);
  for (const [name, { headers }] of pages) {
    const headersOf = (...names: string[]): unknown[] => [name, ...names.map((each) => headers.get(each))];
    expect(headersOf('content-security-policy', 'referrer-policy')).toEqual([
      name,
      expect.stringContaining("frame-ancestors 'none'"),
      'no-referrer',
    ]);
    // Public pages can be cached, and have nothing to click.
    if (/ \/docs|^\/docs| \/$/.test(name)) continue;
    expect(headersOf('x-frame-options', 'cache-control')).toEqual([name, 'DENY', 'no-store']);
  }
});

const session = '__Host-tatami';

/**
 * Ways to sign in. Each takes a browser with a planted session, and returns the account that the browser has
 * afterwards.
 */
const waysIn: Readonly<Record<string, (visitor: Visitor) => Promise<string>>> = {
  async password(visitor) {
    const { email } = await join(app);
    expect((await visitor.post('/sign-in', { email, password })).status).toBe(303);
    return email;
  },
  async passkey(visitor) {
    const owner = await join(app);
    const authenticator = createAuthenticator(app.url);
    const form_token = await formTokenOf(owner.visitor);
    const { json: adding } = await ask(app, owner.visitor, '/account/passkeys/options', { form_token });
    const added = { form_token, name: 'Phone', credential: authenticator.create(adding) };
    expect((await ask(app, owner.visitor, '/account/passkeys', added)).status).toBe(200);
    const { json: options } = await ask(app, visitor, '/sign-in/passkey/options', {});
    const credential = authenticator.get(options);
    expect((await ask(app, visitor, '/sign-in/passkey', { credential })).status).toBe(200);
    return owner.email;
  },
};

test('a session planted in a browser belongs to no account before and after sign-in', async () => {
  for (const [way, comeIn] of Object.entries(waysIn))
    for (const planted of ['A'.repeat(43), (await join(app)).visitor.cookies.get(session)!]) {
      const visitor = createVisitor(app);
      visitor.cookies.set(session, planted);
      const email = await comeIn(visitor);
      expect(visitor.cookies.get(session)).not.toBe(planted);
      expect((await visitor.get('/account')).text).toContain(email);
      const whoPlanted = createVisitor(app);
      whoPlanted.cookies.set(session, planted);
      expect([way, (await whoPlanted.get('/account')).to]).toEqual([
        way,
        expect.stringMatching(/^\/sign-in/),
      ]);
    }
});
