// The error for a typo or a small mistake names its position and a correction.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sources } from '../imports.ts';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';
import { signIn } from '../features/sign-in/person.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const v1 = '/api/v1';
const create = async (path: string, body: object): Promise<Json> => {
  const { status, json } = await app.call('POST', v1 + path, body);
  expect([path, status]).toEqual([path, 201]);
  return json;
};

test('broken JSON is refused with the line, the column and the syntax that JSON allows there', async () => {
  const send = async (text: string): Promise<unknown[]> => {
    const { status, json } = await app.call('POST', `${v1}/issues`, text);
    return [status, json.error.code, json.error.message];
  };
  const start = 'The body is not valid JSON: expected';
  for (const [text, message] of [
    ['{"team": "ENG"\n "title": "x"}', `${start} a comma or } at line 2, column 2.`],
    ['{"team": "ENG", "title": x}', `${start} a value at line 1, column 26.`],
    ['{"team": "ENG",}', `${start} a name in double quotes at line 1, column 16.`],
    ['{"team": "ENG"', `${start} a comma or } at line 1, column 15.`],
    [
      '{"title": "x',
      `${start} a closing double quote (the text begins at line 1, column 11) at line 1, column 13.`,
    ],
    ['{"a": 1,\n"a": 2}', 'The property "a" appears twice. See line 2, column 1.'],
    ['{"a": 1e999}', 'The number 1e999 is out of range. Send a finite number. See line 1, column 7.'],
  ] as const)
    expect([text, ...(await send(text))]).toEqual([text, 400, 'malformed_request', message]);
  const filter = encodeURIComponent('{"priority":');
  const { json } = await app.call('GET', `${v1}/issues?filter=${filter}`);
  expect(json.error.message).toContain(
    'filter: The filter is not valid JSON: expected a value at line 1, column 13.',
  );
});

test('null as a neighbor moves a card or a sub-issue to an end', async () => {
  const parent = await create('/issues', { team: 'ENG', title: 'parent' });
  const [a, b, c] = await Promise.all(
    ['a', 'b', 'c'].map((title) => create('/issues', { team: 'ENG', title, parentId: parent.id })),
  );
  const board = await create('/boards', { name: 'B', groupBy: 'stateType' });
  const orders = {
    [`/issues?parent=${parent.id}&sort=subOrder&fields=id`]: (one: Json, position: object) =>
      app.call('POST', `${v1}/issues/${one.id}/reorder`, position),
    [`/boards/${board.id}/columns/started/cards?fields=id`]: (one: Json, position: object) =>
      app.call('POST', `${v1}/boards/${board.id}/move`, { issueId: one.id, column: 'started', ...position }),
  };
  for (const [list, put] of Object.entries(orders)) {
    for (const one of [a, b, c]) expect((await put(one, { position: 'bottom' })).status).toBe(200);
    const idsOf = ({ json }: Reply): string[] => json.data.map(({ id }: Json) => id);
    const from = await app.lastSequence();
    expect((await put(c, { after: null })).status).toBe(200);
    expect(idsOf(await app.call('GET', v1 + list))).toEqual([c.id, a.id, b.id]);
    expect((await put(a, { before: null })).status).toBe(200);
    expect(idsOf(await app.call('GET', v1 + list))).toEqual([c.id, b.id, a.id]);
    expect(await app.eventTypes(from)).toHaveLength(2);
    const both = await put(b, { after: null, before: a.id });
    expect([both.status, both.json.error.details[0].issue]).toEqual([422, 'conflict']);
  }
});

test('a missing path returns a page to browsers and a JSON error to all other clients', async () => {
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
  const anybody = app.clientOf(null);
  for (const path of ['/nothing/here', '/nothing/<b>', '/docs/guides/nothing']) {
    const page = await anybody('GET', path, undefined, browser);
    expect([path, page.status, page.headers.get('content-type')]).toEqual([
      path,
      404,
      'text/html; charset=utf-8',
    ]);
    expect(page.text).toContain('Page not found · Tatami');
    expect(page.text).toMatch(/<a class="button" href="\/">/);
    expect(page.text).not.toContain('<b>');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const program = await anybody('GET', path, undefined, { accept: 'application/json' });
    expect([path, program.status, program.json.error.code]).toEqual([path, 404, 'not_found']);
  }
  expect((await anybody('GET', '/nothing/here')).json.error.code).toBe('not_found');
  // API paths return JSON to every client.
  for (const [method, path] of [
    ['GET', `${v1}/isues`],
    ['GET', `${v1}/issues/ENG-999`],
    ['POST', '/nothing'],
  ] as const)
    expect((await app.call(method, path, undefined, browser)).json.error.code).toBe('not_found');
});

test('an error of a page is a page for browsers, with the request id if the server failed', async () => {
  const form = { accept: 'text/html,*/*;q=0.8', origin: app.url, 'content-type': 'text/plain' };
  const wrongType = await fetch(`${app.url}/sign-in`, { method: 'POST', headers: form, body: 'x' });
  expect([wrongType.status, wrongType.headers.get('content-type')]).toEqual([
    415,
    'text/html; charset=utf-8',
  ]);
  const reads = app.services.store.readSystem;
  app.services.store.readSystem = () => Promise.reject(new Error('The disk is gone.'));
  const headers = { accept: 'text/html', cookie: '__Host-tatami=x' };
  const broken = await app
    .clientOf(null)('GET', '/account', undefined, headers)
    .finally(() => (app.services.store.readSystem = reads));
  expect([broken.status, broken.headers.get('content-type')]).toEqual([500, 'text/html; charset=utf-8']);
  expect(broken.text).toContain(`Request id: ${broken.headers.get('x-request-id')}`);
  expect(broken.text).not.toContain('disk');
});

test('a GET of a form action returns a page with a link to browsers, and a JSON error to all other clients', async () => {
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
  const anybody = app.clientOf(null);
  for (const path of ['/sign-out', '/account/password']) {
    const page = await anybody('GET', path, undefined, browser);
    expect([path, page.status, page.headers.get('content-type'), page.headers.get('allow')]).toEqual([
      ...[path, 405, 'text/html; charset=utf-8', 'POST, OPTIONS'],
    ]);
    expect(page.text).toContain('href="/account"');
    const program = await anybody('GET', path, undefined, { accept: 'application/json' });
    expect([path, program.status, program.json.error.code]).toEqual([path, 405, 'method_not_allowed']);
  }
  // API paths return JSON to every client.
  const ofApi = await app.call('GET', `${v1}/issues/ENG-1/restore`, undefined, browser);
  expect(ofApi.json.error.code).toBe('method_not_allowed');
});

test('the server has an icon in both formats, and pages link to it', async () => {
  for (const [path, type, start] of [
    ['/favicon.ico', 'image/x-icon', [0, 0, 1, 0, 1, 0, 32, 32]],
    ['/favicon.svg', 'image/svg+xml', [...new TextEncoder().encode('<svg')]],
  ] as const) {
    const response = await fetch(app.url + path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(response.headers.get('cache-control')).toContain('max-age');
    expect([...new Uint8Array(await response.arrayBuffer())].slice(0, start.length)).toEqual([...start]);
  }
  const { cookie } = await signIn(app);
  for (const [path, headers] of [
    ['/sign-in', {}],
    ['/', { cookie }],
  ] as const)
    expect((await app.clientOf(null)('GET', path, undefined, headers)).text).toContain(
      'href="data:image/svg+xml,',
    );
});

test('a name is suggested only if it is similar and valid at the same place', async () => {
  const filtered = async (filter: object): Promise<string> => {
    const { json } = await app.call(
      'GET',
      `${v1}/issues?filter=${encodeURIComponent(JSON.stringify(filter))}`,
    );
    return json.error.message;
  };
  expect(await filtered({ nope: 1 })).not.toContain('Did you mean');
  expect(await filtered({ nod: { eq: 1 } })).not.toContain('Did you mean');
  expect(await filtered({ prioritty: 'high' })).toContain('Did you mean priority?');
  expect(await filtered({ ro: [{ priority: 'high' }] })).not.toContain('Did you mean id');
  expect(await filtered({ priority: { ep: 'high' } })).not.toContain('Did you mean');
  expect(await filtered({ title: { contians: 'x' } })).toContain('Did you mean contains?');
});

test('every path in an error is a path of the document', async () => {
  const { paths } = (await app.call('GET', '/api/v1/openapi.json')).json;
  const fresh = await app.addWorkspace('Fresh', 'FRS');
  const call = app.clientOf(fresh.apiKey);
  const issue = { team: 'FRS', title: 'x' };
  const project = (await call('POST', `${v1}/projects`, { name: 'Empty' })).json;
  for (let at = 0; at < 13; at++) await call('POST', `${v1}/labels`, { name: `label ${at}` });
  const { identifier } = (await call('POST', `${v1}/issues`, { ...issue, project: project.id })).json;
  const references = { milestone: 'Beta', cycle: 'Beta', template: 'Beta', labels: ['Beta'] };
  const refusals = [
    ...Object.entries(references).map(([name, value]) => ['POST', '/issues', { ...issue, [name]: value }]),
    ['PATCH', `/issues/${identifier}`, { milestone: 'Beta' }],
    ['POST', '/releases', { pipelineId: 'Beta', name: 'x', tag: 'x' }],
    ['POST', '/sla-policies', { name: 'x', kind: 'resolution', targetMinutes: 5, calendar: 'Beta' }],
    ['POST', '/issues', { ...issue, fields: { beta: 1 } }],
  ] as [string, string, object][];
  for (const [method, path, body] of refusals) {
    const { status, json } = await call(method, v1 + path, body);
    const text = JSON.stringify(json.error);
    const mentioned = [...text.matchAll(/GET (\/[^\s?.`",]+)/g)].map(([, at]) => at!);
    expect([text, status, mentioned.length > 0]).toEqual([text, 422, true]);
    expect([body, mentioned.filter((at) => !(at in paths))]).toEqual([body, []]);
  }
});

test('every path in a source text is a path of the document', async () => {
  const { paths } = (await app.call('GET', '/api/v1/openapi.json')).json;
  const plain = (path: string): string => path.replaceAll(/\$?\{[^}]*\}/g, '{}');
  const known = new Set(Object.keys(paths).map(plain));
  const mentioned = sources('core').flatMap(({ file, text }) =>
    [...text.matchAll(/\b(?:GET|POST|PUT|PATCH|DELETE) (\/api\/v1\/(?:\$?\{[^}]*\}|[^\s?.`'",)…])*)/g)].map(
      ([, path]) => `${file}: ${plain(path!)}`,
    ),
  );
  expect(mentioned.length).toBeGreaterThan(5);
  expect(mentioned.filter((one) => !known.has(one.slice(one.indexOf(': ') + 2)))).toEqual([]);
});
