// The trail of an issue through the public doors: why it is what it is, as a tree from the event that all of it began with.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

let app: TestApp;
let issue: Json;
let plugin: Json;

const reacting = (id: string, on: string, does: string) =>
  `{ id: '${id}', name: '${id.slice(9)}', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes}, on: { '${on}': { handle: async (event, ctx) => { ${does} } } } }`;

beforeAll(async () => {
  app = await startApp();
  const { call } = app;
  plugin = await install(
    call,
    await packSource(
      reacting(
        'com.test.sorts',
        'issue.created',
        `await ctx.issues.update(event.data.id, { priority: 'high' });`,
      ),
    ),
  );
  await install(
    call,
    await packSource(
      reacting(
        'com.test.tells',
        'issue.updated',
        `if (event.data.priority === 'high') await ctx.comments.create(event.data.id, { body: 'pressing' });`,
      ),
    ),
  );
  const team = (await call('GET', '/api/v1/teams')).json.data[0].key;
  issue = (await call('POST', '/api/v1/issues', { team, title: 'Why' })).json;
  await app.settled();
});
afterAll(() => app.stop());

const trail = async (query = '', client = app.call): Promise<Json> => {
  const { status, json } = await client('GET', `/api/v1/issues/${issue.id}/trail${query}`);
  expect({ status, error: json.error }).toEqual({ status: 200, error: undefined });
  return json;
};

/** Its nodes as lines, each as deep as what it came of. */
const drawn = (nodes: Json[]): string[] => {
  const depth = ({ parentId }: Json): number =>
    parentId === null ? 0 : 1 + depth(nodes.find(({ id }) => id === parentId));
  return nodes.map((node) => `${'  '.repeat(depth(node))}${node.type ?? node.run?.plugin ?? node.kind}`);
};

test('a chain of two plugins is one tree under the event that it began with', async () => {
  const { data, pageInfo } = await trail();
  expect(data.map(({ nodes }: Json) => drawn(nodes))).toEqual([
    ['issue.created', '  sorts', '    issue.updated', '      tells', '        comment.added'],
  ]);
  expect(pageInfo).toMatchObject({ hasNextPage: false, leftOut: [], setBy: null });
  const [, run, updated] = data[0].nodes;
  expect(run.run).toMatchObject({
    status: 'succeeded',
    handler: 'issue.created',
    calls: { 'issues.update': 1 },
    effects: 1,
  });
  expect(updated.fields).toContainEqual({ field: 'priority', from: 'none', to: 'high' });
});

test('a field is followed from the event that gave it its value back to the root', async () => {
  const { data, pageInfo } = await trail('?field=priority');
  const [created, run, updated] = data[0].nodes;
  expect(pageInfo.setBy).toEqual({
    field: 'priority',
    eventId: updated.id,
    chain: [updated.id, run.id, created.id],
  });
  expect((await trail('?field=title')).pageInfo.setBy.chain).toEqual([created.id]);
  const wrong = await app.call('GET', `/api/v1/issues/${issue.id}/trail?field=nope`);
  expect(wrong.status).toBe(422);
});

test('an undo stands where it belongs, marked, and pages go by roots', async () => {
  const [run] = (await app.call('GET', `/api/v1/plugins/${plugin.id}/runs`)).json.data;
  await app.call('POST', `/api/v1/runs/${run.id}/undo`);
  await app.call('PATCH', `/api/v1/issues/${issue.id}`, { title: 'By hand' });
  await app.settled();
  const first = await trail('?limit=1');
  expect(first.data.map(({ nodes }: Json) => drawn(nodes))).toEqual([['issue.updated', '  tells']]);
  expect(first.pageInfo.hasNextPage).toBe(true);
  const second = await trail(`?limit=1&after=${encodeURIComponent(first.pageInfo.endCursor)}`);
  const nodes: Json[] = second.data[0].nodes;
  expect(nodes.find(({ id }) => id === run.id).run.undoneBy).toStartWith('und_');
  const back = nodes.find(({ isUndo, type }) => isUndo && type === 'issue.updated');
  expect(back).toMatchObject({ parentId: run.id });
  expect(back.fields).toContainEqual({ field: 'priority', from: 'high', to: 'none' });
});

test('what a key may not read is left out, and said', async () => {
  const narrow = app.clientOf(await app.mintKey(['issues:read']));
  const { data, pageInfo } = await trail('', narrow);
  expect(pageInfo.leftOut).toEqual(['plugins:read', 'webhooks:read']);
  const nodes: Json[] = data.at(-1).nodes;
  expect(nodes.map(({ type }) => type)).not.toContain('comment.added');
  expect(nodes.find(({ run }) => run).run).toMatchObject({
    plugin: 'sorts',
    status: 'succeeded',
    calls: null,
    handler: null,
  });
});
