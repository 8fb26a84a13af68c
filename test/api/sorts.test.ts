// Every list sorts by the creation and update times and by the names of its objects, without a declaration in the
// contract. Missing values are last in both directions.
import Database from 'libsql';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { TObject } from 'typebox';
import { contracts } from '../../core/features/contracts.ts';
import { bind } from '../../core/platform/store/statement.ts';
import { startApp, type Json, type Reply, type TestApp } from '../app.ts';
import { fillPath, referredBy, seed, type Seeds } from './seeds.ts';

let app: TestApp;
let seeds: Seeds;
const receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });

/** Lists with a fixed order. */
const ordered = ['favorites', 'inbox', 'relations'];
/** Tables without a limit on their rows in a workspace. */
const growing = ['attachments', 'comments', 'project_updates', 'sla_clocks'];

interface List {
  readonly name: string;
  readonly path: string;
  readonly sorts: readonly string[];
}
let lists: readonly List[];

const get = (path: string): Promise<Reply> => app.call('GET', path);
const post = (path: string, body: object): Promise<Reply> => app.call('POST', `/api/v1${path}`, body);

beforeAll(async () => {
  app = await startApp({ flags: { egressAllow: '127.0.0.0/8' } });
  seeds = await seed(app, app.call, 'ENG', `http://127.0.0.1:${receiver.port}/`);
  for (const [at, name] of ['Zeta', 'alpha', 'Äther'].entries())
    for (const contract of contracts) {
      const { path, parent, fields, examples } = contract;
      if (!examples?.create || path === 'webhooks') continue;
      app.clock.advance(1_000);
      const own = { ...('name' in fields ? { name } : {}), ...('key' in fields ? { key: `k${at}` } : {}) };
      const body = { ...examples.create, ...referredBy(contract, seeds), ...own };
      await post(parent ? `/${parent.path}/${seeds[parent.name]}/${path}` : `/${path}`, body);
    }
  lists = app.app.routes.flatMap((route): List[] => {
    const [path = '', verb] = route.name.split('.');
    const contract = contracts.find((one) => one.path === path);
    if (verb !== 'list' || !contract || !('list' in contract.operations)) return [];
    const { sort } = (route.query as TObject).properties as { sort?: { description: string } };
    const sorts = sort ? (/from (.*)\. The prefix/.exec(sort.description)?.[1] ?? '').split(', ') : [];
    return [{ name: path, path: fillPath(route.path, route.params, seeds), sorts }];
  });
});
afterAll(async () => {
  await app.stop();
  await receiver.stop(true);
});

test('every list accepts `sort` by its times and names', () => {
  expect(lists.length).toBeGreaterThan(20);
  const unsorted = lists.filter(({ sorts }) => sorts.length === 0).map(({ name }) => name);
  expect(unsorted.toSorted()).toEqual(ordered);
  for (const { name, sorts } of lists.filter(({ sorts }) => sorts.length > 0)) {
    const { fields } = contracts.find(({ path }) => path === name)!;
    const wanted = ['createdAt', 'updatedAt', ...('name' in fields ? ['name'] : [])];
    expect([name, wanted.filter((one) => !sorts.includes(one))]).toEqual([name, []]);
  }
});

/** All pages of a list in sequence. */
async function pagesOf(path: string, sort: string, limit: number): Promise<Json[]> {
  const all: Json[] = [];
  let after = '';
  for (;;) {
    const { status, json } = await get(`${path}?limit=${limit}&sort=${sort}${after}`);
    expect([path, sort, status]).toEqual([path, sort, 200]);
    all.push(...json.data);
    if (!json.pageInfo.hasNextPage) return all;
    after = `&after=${encodeURIComponent(json.pageInfo.endCursor)}`;
  }
}

test('a sorted list is complete and ordered in both directions, with missing values last, at any page size', async () => {
  let compared = 0;
  for (const { name, path, sorts } of lists) {
    const ids = (await get(`${path}?limit=100`)).json.data.map(({ id }: Json) => id).sort();
    if (ids.length > 1) compared++;
    for (const sort of sorts) {
      const [up, down] = [await pagesOf(path, sort, 100), await pagesOf(path, `-${sort}`, 2)];
      for (const all of [up, down])
        expect([name, sort, all.map(({ id }) => id).sort()]).toEqual([name, sort, ids]);
      const [upwards, downwards] = [up, down].map((all) => all.map((one) => one[sort] ?? null));
      const there = upwards!.filter((value) => value !== null);
      const missing = upwards!.slice(there.length);
      expect([name, sort, upwards]).toEqual([name, sort, [...there, ...missing]]);
      expect([name, sort, downwards]).toEqual([name, sort, [...there.toReversed(), ...missing]]);
      if (/^(name|createdAt|updatedAt)$/.test(sort)) {
        const sorted = there.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect([name, sort, there]).toEqual([name, sort, sorted]);
      }
    }
  }
  expect(compared).toBeGreaterThan(15);
});

test('no sort scans a growing table of a workspace', async () => {
  const db = new Database(join(app.dataDir, 'tatami.db'), { readonly: true });
  const { store } = app.services;
  const { read } = store;
  const wholes: string[] = [];
  const seen = new Set<string>();
  store.read = (scope, statement, params = {}) => {
    const plan = db
      .prepare(`EXPLAIN QUERY PLAN ${statement.text}`)
      .all(bind(statement, params, scope.workspaceId)) as { detail: string }[];
    for (const { detail } of plan) {
      const table = /^(?:SCAN|SEARCH) (\w+)/.exec(detail)?.[1] ?? '';
      if (!growing.includes(table)) continue;
      seen.add(table);
      if (detail.startsWith('SCAN') || detail.endsWith('(workspace_id=?)')) wholes.push(detail);
    }
    return read(scope, statement, params);
  };
  try {
    for (const { path, sorts } of lists) for (const sort of sorts) await get(`${path}?sort=-${sort}`);
  } finally {
    store.read = read;
    db.close();
  }
  expect(wholes).toEqual([]);
  expect([...seen].sort()).toEqual(growing);
});

test('issues also sort missing values last in both directions, also in past lists', async () => {
  await post('/fields', { key: 'points', name: 'Points', type: 'number' });
  await post('/fields', { key: 'note', name: 'Note', type: 'text' });
  const choices = [
    { value: 'low', name: 'Low' },
    { value: 'high', name: 'High' },
  ];
  await post('/fields', { key: 'risk', name: 'Risk', type: 'select', options: choices });
  const parent = (await post('/issues', { team: 'ENG', title: 'None' })).json;
  const created = [
    {
      dueDate: '2027-01-02',
      estimate: 3,
      fields: { points: 3, note: 'b', risk: 'low' },
      parentId: parent.id,
    },
    {
      dueDate: '2027-01-01',
      estimate: 5,
      fields: { points: -5, note: 'a', risk: 'high' },
      parentId: parent.id,
    },
  ];
  await post('/issues/bulk', { issues: created.map((one) => ({ team: 'ENG', title: 'Some', ...one })) });
  const at = await app.lastSequence();
  const names = [
    'dueDate',
    'estimate',
    'subOrder',
    'slaDueAt',
    'fields.points',
    'fields.note',
    'fields.risk',
  ];
  for (const name of names) {
    const valueOf = (one: Json): unknown =>
      (name.startsWith('fields.') ? one.fields[name.slice(7)] : one[name]) ?? null;
    for (const asOf of ['', `&asOf=${at}`]) {
      const listed = async (sort: string): Promise<unknown[]> =>
        (await get(`/api/v1/issues?limit=100&sort=${sort}${asOf}`)).json.data.map(valueOf);
      const [up, down] = [await listed(name), await listed(`-${name}`)];
      const there = up.filter((value) => value !== null);
      const missing = up.slice(there.length);
      expect([name, asOf, there.length > 0, missing.length > 0]).toEqual([name, asOf, true, true]);
      expect([name, asOf, up]).toEqual([name, asOf, [...there, ...missing]]);
      expect([name, asOf, down]).toEqual([name, asOf, [...there.toReversed(), ...missing]]);
    }
  }
});

test('issues sort by workflow order and by assignee name, and a cursor continues while both change', async () => {
  await post('/teams', { key: 'WRK', name: 'Work' });
  const states: Json[] = (await get('/api/v1/workflows?team=WRK')).json.data;
  const [early, late] = [3, 1].map((position) => ({ team: 'WRK', type: 'started', position }));
  for (const [name, body] of [
    ['Review', early],
    ['Build', late],
  ] as const)
    states.push((await post('/workflows', { ...body, name })).json);
  const people: Json[] = [];
  for (const name of ['Zoe', 'Ana', 'Ana', 'Äda']) people.push((await post('/members', { name })).json);
  let created = 0;
  for (const { id: stateId } of states.toReversed())
    for (const assigneeId of [...people.map(({ id }) => id), null])
      await post('/issues', { team: 'WRK', title: `Work ${created++}`, stateId, assigneeId });
  const types = ['triage', 'backlog', 'unstarted', 'started', 'completed', 'canceled', 'duplicate'];
  const ranked = states.toSorted(
    (a, b) => types.indexOf(a.type) - types.indexOf(b.type) || a.position - b.position,
  );
  const assignees = [
    ...people.toSorted((a, b) => Buffer.compare(Buffer.from(a.name + a.id), Buffer.from(b.name + b.id))),
    null,
  ];
  const rankOf = {
    state: (one: Json) => ranked.findIndex(({ id }) => id === one.state.id),
    assignee: (one: Json) => assignees.findIndex((person) => person?.id === one.assignee?.id),
  };
  for (const sort of ['state', 'assignee'] as const) {
    const [up, down] = [
      await pagesOf('/api/v1/issues', `${sort}&team=WRK`, 4),
      await pagesOf('/api/v1/issues', `-${sort}&team=WRK`, 3),
    ];
    const ranks = up.map(rankOf[sort]);
    expect([sort, up.length, new Set(up.map(({ id }) => id)).size, ranks]).toEqual([
      sort,
      created,
      created,
      ranks.toSorted((a, b) => a - b),
    ]);
    const there = up.filter((one) => one[sort] !== null);
    expect([sort, down.map(({ id }) => id)]).toEqual([
      sort,
      [...there.toReversed(), ...up.slice(there.length).toReversed()].map(({ id }) => id),
    ]);
  }
  for (const sort of ['state', '-assignee'] as const) {
    const whole = await pagesOf('/api/v1/issues', `${sort}&team=WRK`, 100);
    const first = (await get(`/api/v1/issues?team=WRK&limit=7&sort=${sort}`)).json;
    await app.call('PATCH', `/api/v1/workflows/${ranked[0].id}`, { name: 'Inbox' });
    await post('/workflows', { team: 'WRK', name: `Added ${sort}`, type: 'unstarted' });
    await post('/members', { name: `Added ${sort}` });
    const after = encodeURIComponent(first.pageInfo.endCursor);
    const rest = (await get(`/api/v1/issues?team=WRK&limit=100&sort=${sort}&after=${after}`)).json.data;
    expect([...first.data, ...rest].map(({ id }: Json) => id)).toEqual(whole.map(({ id }) => id));
  }
  // Pages use the names that states and members had at that time.
  const at = await app.lastSequence();
  const lists = ['state', '-assignee'].map((sort) => `${sort}&team=WRK`);
  const were = await Promise.all(lists.map((list) => pagesOf('/api/v1/issues', list, 100)));
  for (const { id } of ranked)
    await app.call('PATCH', `/api/v1/workflows/${id}`, {
      position: 40 - ranked.findIndex((one) => one.id === id),
    });
  for (const [index, { id }] of people.entries())
    await app.call('PATCH', `/api/v1/members/${id}`, { name: `Renamed ${index}` });
  for (const [index, list] of lists.entries())
    expect(await pagesOf('/api/v1/issues', `${list}&asOf=${at}`, 6)).toEqual(were[index]!);
});
