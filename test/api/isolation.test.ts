// Isolation of workspaces (docs/spec/api.md › Scopes): every operation answers a foreign id in path or body like an
// unknown one, and the rows of the other workspace do not change. Generated from the routes.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { TSchema } from 'typebox';
import { startApp, type Client, type Json, type Reply, type TestApp } from '../app.ts';
import { rowsOf } from './rows.ts';
import { fillPath, formOf, nowhere, requiredQueryOf, seed, type Seeds } from './seeds.ts';

let app: TestApp;
let foreignId: string;
let own: Seeds;
let foreign: Seeds;
let call: Client;
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  const other = await app.addWorkspace('Other', 'OTHER');
  foreignId = other.workspaceId;
  call = app.call;
  const url = `http://127.0.0.1:${receiver.port}/`;
  own = await seed(app, app.call, 'ENG', url);
  foreign = await seed(app, app.clientOf(other.apiKey), 'OTHER', url);
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

const foreignRows = (): Promise<string> => rowsOf(app, foreignId);

/** The response without its request id and the submitted id, which are all that may differ. */
function visible(reply: Reply, requestedId: string): unknown {
  const json = reply.text === '' ? null : JSON.parse(reply.text.replaceAll(requestedId, '<id>'));
  if (json?.error) delete json.error.requestId;
  const headers = [...reply.headers.keys()].filter((name) => name !== 'date').sort();
  return { status: reply.status, json, headers };
}

test('every operation answers a foreign id in its path like an unknown one', async () => {
  const before = await foreignRows();
  let compared = 0;
  for (const route of app.app.routes) {
    if (!route.params || route.scope === null) continue;
    const properties = Object.entries((route.params as { properties: Record<string, TSchema> }).properties);
    for (const [name, schema] of properties) {
      const form = formOf(schema);
      if (form === undefined) continue;
      const path = (ids: Seeds): string =>
        fillPath(route.path, route.params, { ...own, [form]: ids[form]! }) + requiredQueryOf(route);
      const ask = (ids: Seeds): Promise<Reply> =>
        call(route.method, path(ids), route.body ? route.example : undefined);
      const [there, none] = [await ask(foreign), await ask(nowhere)];
      expect([route.name, name, visible(there, foreign[form]!)]).toEqual([
        route.name,
        name,
        visible(none, nowhere[form]!),
      ]);
      expect([route.name, there.status]).toEqual([route.name, 404]);
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(35);
  expect(await foreignRows()).toBe(before);
});

test('every operation answers a foreign id in its body like an unknown one', async () => {
  const before = await foreignRows();
  let compared = 0;
  for (const route of app.app.routes) {
    const properties = Object.entries(
      (route.body as { properties?: Record<string, TSchema> } | undefined)?.properties ?? {},
    );
    for (const [name, schema] of properties) {
      const form = formOf(schema);
      if (form === undefined) continue;
      const path = route.params ? fillPath(route.path, route.params, own) : route.path;
      const ask = (ids: Seeds): Promise<Reply> => {
        const example: Json = { ...(route.example as object) };
        if (name === 'teamId') delete example.team;
        if (name === 'before' || name === 'after') delete example.position;
        return call(route.method, path, { ...example, [name]: ids[form] });
      };
      const [there, none] = [await ask(foreign), await ask(nowhere)];
      expect([route.name, name, visible(there, foreign[form]!)]).toEqual([
        route.name,
        name,
        visible(none, nowhere[form]!),
      ]);
      expect([route.name, name, there.status, there.json.error.details[0]]).toMatchObject([
        route.name,
        name,
        422,
        { path: name, issue: 'not_found' },
      ]);
      compared++;
    }
  }
  // stateId, assigneeId, projectId and parentId on create and update, teamId, the parent of a comment, and the lead of
  // a project twice.
  expect(compared).toBeGreaterThanOrEqual(12);
  for (const label of [foreign.label!, `label-OTHER`])
    expect((await call('PATCH', `/api/v1/issues/${own.issue}`, { labels: [label] })).status).toBe(422);
  expect((await call('POST', '/api/v1/issues', { team: 'OTHER', title: 'x' })).status).toBe(422);
  expect(await foreignRows()).toBe(before);
});

test('lists, filters, cursors and the feed contain nothing of another workspace', async () => {
  const other = app.clientOf((await app.addWorkspace('Third', 'THIRD')).apiKey);
  for (let i = 0; i < 3; i++) await other('POST', '/api/v1/issues', { team: 'THIRD', title: `Third ${i}` });
  const cursor = (await other('GET', '/api/v1/issues?limit=1')).json.pageInfo.endCursor;
  expect(await call('GET', `/api/v1/issues?limit=1&after=${cursor}`)).toMatchObject({
    status: 400,
    json: { error: { code: 'invalid_cursor' } },
  });
  expect((await call('GET', `/api/v1/events?after=${foreign.event}`)).status).toBe(422);
  const byId = `?filter=${encodeURIComponent(`{"id":{"in":["${foreign.issue}"]}}`)}`;
  expect((await call('GET', `/api/v1/issues${byId}`)).json).toMatchObject({ data: [] });
  for (const [name, value] of [
    ['team', 'OTHER'],
    ['label', 'label-OTHER'],
    ['assignee', foreign.member!],
  ] as const) {
    const { json } = await call('GET', `/api/v1/issues?${name}=${value}`);
    expect(json.error.details).toMatchObject([{ path: name, issue: 'not_found' }]);
    expect(json.error.message).toEndWith(
      ` ${value}. Name an existing ${name === 'assignee' ? 'member' : name}.`,
    );
  }
  for (const path of [
    '/issues',
    '/members',
    '/teams',
    '/labels',
    '/projects',
    '/workflows',
    '/webhooks',
    '/plugins',
    '/api-keys',
    '/events',
    '/audit-log',
  ]) {
    const { text } = await call('GET', `/api/v1${path}?limit=100`);
    for (const id of [...Object.values(foreign), foreignId, 'OTHER', 'THIRD'])
      expect([path, id, text.includes(id)]).toEqual([path, id, false]);
  }
});
