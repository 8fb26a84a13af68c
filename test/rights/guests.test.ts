// Checks that guests see only their teams in every read, in events, the stream, the inbox and plugin
// responses.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { allScopes } from '../../core/kernel/rights/table.ts';
import { streamEvents } from '../../sdk/client/stream.ts';
import { startApp, type Client, type Json, type TestApp } from '../app.ts';
import { fillPath, nowhere, seed, type Seeds } from '../api/seeds.ts';
import { install, packSource } from '../features/plugins/pack.ts';

const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
const v1 = '/api/v1';
let app: TestApp;
let guest: Client;
let guestKey: string;
let guestId: string;
let inside: Seeds;
/** Objects of two teams that the guest cannot see. */
let outside: Seeds[];
/** The ids of all objects of the hidden teams. */
const hidden = new Set<string>();

async function create(path: string, body: object): Promise<Json> {
  const { status, json, text } = await app.call('POST', `${v1}${path}`, body);
  if (status !== 201 && status !== 200) throw new Error(`POST ${path} answered ${status}: ${text}`);
  return json;
}

const lookup = (id: string) => `{
  id: '${id}', version: '1.0.0', engines: { tatami: '*' },
  scopes: { 'issues:read': { why: 'test' }, 'comments:read': { why: 'test' }, 'cycles:read': { why: 'test' }, 'boards:read': { why: 'test' }, 'labels:read': { why: 'test' } },
  actions: {
    look: { target: 'none', handle: async (_, ctx) => ({
      issues: (await ctx.issues.list({ limit: 100 })).data.map(({ id, title }) => ({ id, title })),
      found: (await ctx.search.query({ q: 'secret canary' })).data,
      cycles: (await ctx.cycles.list({})).data, boards: (await ctx.boards.list({})).data, labels: (await ctx.labels.list({})).data,
    }) },
    peek: { target: 'none', input: { type: 'object', properties: { id: { type: 'string' } } }, handle: async ({ input }, ctx) => await ctx.issues.get(input.id) },
  },
}`;

/** Fills a team with objects whose names all contain `canary`. */
async function fill(key: string, project: string): Promise<Seeds> {
  const canary = `canary ${key}`;
  const team = await create('/teams', { key, name: canary });
  const label = await create('/labels', { name: canary, team: key });
  const field = await create('/fields', {
    key: `canary_${key.toLowerCase()}`,
    name: canary,
    type: 'text',
    team: key,
  });
  const state = await create('/workflows', { name: canary, type: 'started', team: key });
  const span = { startsAt: '2031-01-06T00:00:00Z', endsAt: '2031-01-20T00:00:00Z' };
  const cycle = await create('/cycles', { team: key, name: canary, ...span });
  const issue = await create('/issues', {
    ...{ team: key, title: `secret ${canary}`, description: canary, labels: [label.id], stateId: state.id },
    ...{ projectId: project, cycleId: cycle.id, assigneeId: guestId, priority: 'urgent' },
    ...{ externalSource: 'seeded', externalId: `of-${key}`, parentId: inside.issue },
  });
  const second = await create('/issues', { team: key, title: `secret ${canary} too` });
  const comment = await create(`/issues/${issue.id}/comments`, { body: `${canary} @${guestId}` });
  const reaction = await create(`/comments/${comment.id}/reactions`, { emoji: '👍' });
  const relation = await create(`/issues/${issue.id}/relations`, { type: 'blocks', issueId: inside.issue });
  await create(`/issues/${inside.issue}/relations`, { type: 'relates_to', issueId: second.id });
  const template = await create('/templates', { name: canary, team: key, title: canary });
  const attachment = await create(`/issues/${issue.id}/attachments`, {
    title: canary,
    url: `https://example.com/${key}-canary`,
  });
  const board = await create('/boards', { name: canary, team: key, groupBy: 'state' });
  const results = {
    label,
    field,
    state,
    cycle,
    issue,
    comment,
    reaction,
    relation,
    template,
    attachment,
    board,
    team,
  };
  const ids = Object.fromEntries(Object.entries(results).map(([name, { id }]) => [name, id as string]));
  for (const id of [...Object.values(ids), second.id]) hidden.add(id);
  return { ...inside, ...ids, identifier: `${key}-1`, externalId: `of-${key}` };
}

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  guestId = (await create('/members', { name: 'Gil', role: 'guest', teams: ['eng'] })).id;
  await create('/members', { name: 'Ada', email: 'ada@else.example' });
  guestKey = (await create('/api-keys', { name: 'of a guest', scopes: allScopes, memberId: guestId })).key;
  guest = app.clientOf(guestKey);
  inside = await seed(app, app.call, 'ENG', `http://127.0.0.1:${receiver.port}/`);
  await install(app.call, await packSource(lookup('com.test.look')));
  const project = inside.project!;
  outside = [await fill('OUT', project), await fill('FAR', project)];
  // Objects that refer to issues of all teams: an issue of the guest, an issue from another team, a release,
  // a board and a view.
  const came = await create('/issues', { team: 'OUT', title: 'Secret that came over' });
  await create(`/issues/${came.id}/move`, { team: 'ENG' });
  await app.call('PATCH', `${v1}/issues/${inside.issue}`, {
    parentId: outside[0]!.issue,
    projectId: project,
  });
  const issueIds = outside.map(({ issue }) => issue!);
  await app.call('POST', `${v1}/releases/${inside.release}/issues`, { issueIds });
  await app.call('POST', `${v1}/releases/${inside.release}/notes/draft`, { save: true });
  for (const { issue } of outside) await app.call('PATCH', `${v1}/issues/${issue}`, { priority: 'low' });
  await app.settled();
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

/** Returns the traces of the hidden teams in a text. @param mentioned values that the request itself named */
function leaked(text: string, mentioned: readonly string[] = []): string[] {
  let said = text;
  for (const one of mentioned) said = said.replaceAll(one, '');
  const names = [...said.matchAll(/canary|\b(?:OUT|FAR)(?:-\d+)?\b|ada@else\.example/g)].map(
    ([name]) => name,
  );
  return [...names, ...[...hidden].filter((id) => said.includes(id))];
}

/** Additional query strings for each read. */
const queries: Readonly<Record<string, readonly string[]>> = {
  'issues.list': [
    '?sort=-priority&expand=parent&limit=100',
    '?fields=title,parent&limit=100',
    '?team=OUT',
    '?label=canary%20OUT',
    `?filter=${encodeURIComponent(JSON.stringify({ or: [{ team: 'OUT' }, { title: { contains: 'canary' } }] }))}`,
    '?deleted=include&limit=100',
    '?asOf=2026-11-20T12:00:00.000Z',
  ],
  'issues.get': ['?expand=parent'],
  'labels.list': ['?team=OUT', '?limit=100'],
  'fields.list': ['?team=FAR'],
  'workflows.list': ['?team=OUT', '?limit=100'],
  'boards.list': ['?team=OUT', '?asOf=2026-11-20T12:00:00.000Z'],
  'boards.get': ['?asOf=2026-11-20T12:00:00.000Z'],
  'boards.cards': ['?asOf=2026-11-20T12:00:00.000Z'],
  'cycles.list': ['?team=OUT'],
  'search.query': ['?q=canary', '?q=secret', '?q=OUT-1', '?q=canary+OUT&team=OUT'],
  'events.list': [
    '?limit=100',
    '?types=issue.*,comment.*&limit=100',
    '?types=label.*,team.*,member.*,board.*&limit=100',
  ],
  'projects.progress': ['?since=2026-11-19'],
  'cycles.progress': ['?since=2026-11-19'],
  'inbox.list': ['?archived=include&snoozed=include'],
  'templates.list': ['?team=OUT'],
};

const reads = () =>
  app.app.routes.filter(
    ({ method, kind, path }) =>
      method === 'GET' && kind !== 'stream' && path.startsWith(v1) && path !== `${v1}/openapi.json`,
  );

test('no read returns data of the hidden teams, for any query', async () => {
  let answered = 0;
  for (const route of reads())
    for (const query of ['', ...(queries[route.name] ?? [])]) {
      const path = fillPath(route.path, route.params, inside);
      const { status, text } = await guest('GET', path + query);
      if (status === 200) answered++;
      const mentioned = ['OUT', 'FAR'].filter((key) => query.includes(key) && status !== 200);
      expect([
        route.name,
        query,
        leaked(text, query.includes('canary') && status !== 200 ? ['canary', ...mentioned] : mentioned),
      ]).toEqual([route.name, query, []]);
    }
  expect(answered).toBeGreaterThan(60);
});

test('every object of a hidden team responds like one that does not exist', async () => {
  const names = Object.keys(outside[0]!).filter((name) => outside[0]![name] !== inside[name]);
  let compared = 0;
  for (const route of app.app.routes.filter(
    ({ params, scope, kind }) => params && scope !== null && kind !== 'stream' && kind !== 'upload',
  )) {
    const paths = [...outside, nowhere].map((seeds) =>
      fillPath(route.path, route.params, {
        ...inside,
        ...Object.fromEntries(names.map((name) => [name, seeds[name] ?? nowhere[name]!])),
      }),
    );
    if (paths[0] === fillPath(route.path, route.params, inside) || route.name === 'issues.external.put')
      continue;
    const answers = [];
    const then =
      route.method === 'GET' && 'asOf' in (route.query?.properties ?? {})
        ? '?asOf=2026-11-20T12:00:00.000Z'
        : '';
    for (const path of paths.flatMap((one) => (then === '' ? [one] : [one, one + then]))) {
      const { status, json, text } = await guest(route.method, path, route.body ? route.example : undefined);
      expect([route.name, leaked(text, path.split('/'))]).toEqual([route.name, []]);
      answers.push([status, json?.error?.code, json?.error?.message]);
    }
    const nobodys = answers.slice(-answers.length / 3);
    expect([route.name, answers]).toEqual([route.name, [...nobodys, ...nobodys, ...nobodys]]);
    compared++;
  }
  expect(compared).toBeGreaterThan(40);
});

/** Returns the ids of the issues that the guest sees, by endpoint. */
const idsOf = (list: readonly Json[]): string[] => list.map(({ id }) => id).sort();

test('lists, search, events, the stream, boards, views and plugins show the same issues, all of the guest’s team', async () => {
  const truth = idsOf((await app.call('GET', `${v1}/issues?team=ENG&limit=100`)).json.data);
  const listed = idsOf((await guest('GET', `${v1}/issues?limit=100`)).json.data);
  expect(listed).toEqual(truth);
  expect(truth.length).toBeGreaterThan(2);

  const results = idsOf(
    (await guest('GET', `${v1}/search?q=secret&limit=50`)).json.data.map((hit: Json) => hit.issue ?? hit),
  );
  expect(results).toEqual(truth);

  const { json: called } = await guest('POST', `${v1}/plugins/com.test.look/actions/look`, {});
  expect(called.status).toBe('succeeded');
  expect(leaked(JSON.stringify(called))).toEqual([]);
  expect(idsOf(called.result.issues)).toEqual(truth);
  for (const { issue } of outside) {
    const { json: peeked } = await guest('POST', `${v1}/plugins/com.test.look/actions/peek`, {
      input: { id: issue },
    });
    expect([peeked.status, peeked.calls[0].code]).toEqual(['dead', 'not_found']);
  }

  const board = await create('/boards', { name: 'Everything', groupBy: 'stateType' });
  const { json: cards } = await guest('GET', `${v1}/boards/${board.id}/cards`);
  expect(leaked(JSON.stringify(cards))).toEqual([]);
  const { json: view } = await app.call('POST', `${v1}/views`, { name: 'All', visibility: 'shared' });
  expect(idsOf((await guest('GET', `${v1}/views/${view.id}/issues?limit=100`)).json.data)).toEqual(truth);
  const { json: progress } = await guest('GET', `${v1}/projects/${inside.project}/progress`);
  const { json: whole } = await app.call('GET', `${v1}/projects/${inside.project}/progress`);
  expect(JSON.stringify(progress)).not.toBe(JSON.stringify(whole));

  const { json: feed } = await guest('GET', `${v1}/events?types=issue.created&limit=100`);
  const created = feed.data.map((event: Json) => event.data.id).sort();
  const moved = truth.filter((id) => !created.includes(id));
  // The issue from another team was created there.
  expect(moved.length).toBe(1);
});

test('objects that can belong to a team are listed and published if they belong to a visible team or to none', async () => {
  const seen = {
    label: 'labels',
    field: 'fields',
    workflow: 'workflows',
    board: 'boards',
    template: 'templates',
  };
  for (const [namespace, path] of Object.entries(seen)) {
    const listed: Json[] = (await guest('GET', `${v1}/${path}?limit=100`)).json.data;
    const all: Json[] = (await app.call('GET', `${v1}/${path}?limit=100`)).json.data;
    const keyOf = ({ team }: Json): string | null => team?.key ?? team;
    const theirs = all.filter((one) => [null, 'ENG'].includes(keyOf(one)));
    expect([path, idsOf(listed)]).toEqual([path, idsOf(theirs)]);
    expect([path, theirs.length < all.length, theirs.length > 0]).toEqual([path, true, true]);
    const types = namespace === 'workflow' ? 'workflow.state_created' : `${namespace}.created`;
    const events: Json[] = (await guest('GET', `${v1}/events?types=${types}&limit=100`)).json.data;
    expect([path, idsOf(events.map(({ data }) => data))]).toEqual([path, idsOf(theirs)]);
  }
  const { json: teams } = await guest('GET', `${v1}/teams`);
  expect(teams.data.map(({ key }: Json) => key)).toEqual(['ENG']);
  const { json: people } = await guest('GET', `${v1}/members?limit=100`);
  expect(Object.keys(people.data[0]).sort()).toEqual([
    'createdAt',
    'id',
    'name',
    'role',
    'updatedAt',
    'version',
  ]);
});

test('the stream sends a guest the same events as the feed', async () => {
  const feed: Json[] = [];
  for (let after = ''; ;) {
    const { json } = await guest('GET', `${v1}/events?limit=100${after}`);
    feed.push(...json.data);
    if (!json.pageInfo.hasNextPage) break;
    after = `&after=${encodeURIComponent(json.pageInfo.endCursor)}`;
  }
  const streamed: Json[] = [];
  for await (const { payload } of streamEvents({ server: app.url, token: guestKey, after: 0 })) {
    streamed.push(JSON.parse(payload));
    if (streamed.length === feed.length) break;
  }
  expect(leaked(JSON.stringify(streamed))).toEqual([]);
  expect(streamed).toEqual(feed);
  expect(new Set(feed.map(({ type }) => type.split('.')[0])).size).toBeGreaterThan(8);
});
