import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readConfig } from '../../../core/app/config/config.ts';
import { replay } from '../../../core/app/doctor/replay.ts';
import { openSubject } from '../../../core/app/doctor/subject.ts';
import { composedStatement } from '../../../core/platform/store/statement.ts';
import { scopeOf, tenantOp } from '../../../core/platform/store/store.ts';
import { seededRandom } from '../../faults/server.ts';
import { startApp, type Json, type Reply, type TestApp } from '../../app.ts';
import { install, packSource } from '../plugins/pack.ts';
import { isSerial, type OrderRequest, type Columns } from './orders-model.ts';

let app: TestApp;
beforeAll(async () => void (app = await startApp()));
afterAll(() => app.stop());

const isLong = process.env.TATAMI_LONG === '1';
const seed = Number(process.env.TATAMI_SEED ?? Math.floor(Math.random() * 1e9));

const create = async (path: string, body: object): Promise<Json> => {
  const { status, json, text } = await app.call('POST', `/api/v1${path}`, body);
  expect([status, text]).toEqual([201, text]);
  return json;
};
const read = async (path: string): Promise<Json> => (await app.call('GET', `/api/v1${path}`)).json;

async function issuesOf(title: string, count: number, fields: object = {}): Promise<string[]> {
  app.clock.advance(1000);
  const issues = Array.from({ length: count }, (_, at) => ({
    team: 'ENG',
    title: `${title} ${at}`,
    ...fields,
  }));
  return (await create('/issues/bulk', { issues })).data.map(({ id }: Json) => id);
}

const boardOf = (title: string): Promise<Json> =>
  create('/boards', { name: title, filter: { title: { startsWith: `${title} ` } } });

async function columnsOf({ id }: Json, query = ''): Promise<Columns> {
  const { columns } = await read(`/boards/${id}/cards?perColumn=100&fields=title${query}`);
  return new Map(columns.map(({ key, cards }: Json) => [key, cards.map((card: Json) => card.id)]));
}

async function siblingsOf(parent: string): Promise<Json[]> {
  return (await read(`/issues?parent=${parent}&sort=subOrder&limit=100`)).data;
}
const subIssuesOf = async (parent: string): Promise<Columns> =>
  new Map([[parent, (await siblingsOf(parent)).map(({ id }) => id)]]);

async function expectOwnRanks(parent: string): Promise<void> {
  const ranks = (await siblingsOf(parent)).map(({ subOrder }) => subOrder);
  expect(ranks).toEqual([...new Set(ranks)].sort());
}

const moveOn = (board: Json, { id, column, ...position }: OrderRequest): Promise<Reply> =>
  app.call('POST', `/api/v1/boards/${board.id}/move`, { issueId: id, column, ...position });
const reorder = ({ id, position, before, after }: Omit<OrderRequest, 'column'>): Promise<Reply> =>
  app.call('POST', `/api/v1/issues/${id}/reorder`, { position, before, after });

/** Sends all requests concurrently. @returns the requests in log order, those without an event last */
async function allAtOnce(
  requests: readonly OrderRequest[],
  ask: (one: OrderRequest) => Promise<Reply>,
): Promise<OrderRequest[]> {
  const from = await app.lastSequence();
  const replies = await Promise.all(requests.map(ask));
  expect(replies.map(({ status, text }) => [status, text])).toEqual(replies.map(({ text }) => [200, text]));
  const events: Json[] = [];
  for (let after = from; ; after = events.at(-1).sequence) {
    const { data, pageInfo } = await read(`/events?limit=100&after=${after}`);
    events.push(...data);
    if (!pageInfo.hasNextPage) break;
  }
  const isMoveOf = ({ type, data }: Json, id: string): boolean =>
    type === 'board.card_moved'
      ? data.issue.id === id && data.column !== null
      : type === 'issue.updated' && data.id === id && 'subOrder' in data.previous;
  const logIndexOf = ({ id }: OrderRequest): number => {
    const at = events.findIndex((event) => isMoveOf(event, id));
    return at < 0 ? events.length : at;
  };
  return requests
    .map((one) => ({ one, index: logIndexOf(one) }))
    .sort((a, b) => a.index - b.index)
    .map(({ one, index }) => ({ ...one, ...(index === events.length ? { changesNothing: true } : {}) }));
}

const ends = ['bottom', 'top'] as const;

test('concurrent moves into one column give the order of some sequence of moves', async () => {
  const ids = await issuesOf('column', 12);
  const board = await boardOf('column');
  const before = await columnsOf(board);
  const requests = ids.map((id, at): OrderRequest => ({ id, column: 'Todo', position: ends[at % 2]! }));
  const logged = await allAtOnce(requests, (one) => moveOn(board, one));
  const after = await columnsOf(board);
  expect(isSerial(before, logged, after)).toBeTrue();
  const positions = new Map(requests.map(({ id, position }) => [id, position]));
  const byEnd = after.get('Todo')!.map((id) => positions.get(id));
  // The first card to arrive is alone in the column, so its requested position does not matter.
  expect(byEnd.filter((end, at) => end !== byEnd[at - 1]).length).toBeLessThanOrEqual(3);
});

test('concurrent reorders of sub-issues give the order of some sequence of reorders, with a unique rank each', async () => {
  const [parent = ''] = await issuesOf('parent', 1);
  const ids = await issuesOf('child', 12, { parentId: parent });
  const before = await subIssuesOf(parent);
  const requests = ids.map((id, at): OrderRequest => ({ id, column: parent, position: ends[at % 2]! }));
  const logged = await allAtOnce(requests, reorder);
  const after = await subIssuesOf(parent);
  expect(isSerial(before, logged, after)).toBeTrue();
  await expectOwnRanks(parent);
});

test('objects created concurrently without a position get a unique one', async () => {
  const { id: project } = await create('/projects', { name: 'Ordered' });
  const each = (path: string, body: (at: number) => object) =>
    Promise.all(Array.from({ length: 6 }, (_, at) => create(path, body(at))));
  const policy = { kind: 'resolution', filter: {}, targetMinutes: 60 };
  const created = [
    await each(`/projects/${project}/milestones`, (at) => ({ name: `Step ${at}` })),
    await each('/workflows', (at) => ({ team: 'ENG', name: `State ${at}`, type: 'started' })),
    await each('/sla-policies', (at) => ({ name: `Policy ${at}`, ...policy })),
  ];
  for (const all of created) {
    const positions = all.map(({ position }) => position).sort((a, b) => a - b);
    expect(positions).toEqual(positions.map((_, at) => positions[0] + at));
  }
});

test('concurrent replacements of columns leave those of one request, and cycles moved concurrently do not overlap', async () => {
  const board = await boardOf('replaced');
  const candidates = ['Todo', 'Done', 'Backlog', 'In Progress'].map((value) => [
    { value },
    { value: 'Canceled' },
  ]);
  const patch = (path: string, body: object): Promise<Reply> => app.call('PATCH', `/api/v1${path}`, body);
  const replaced = await Promise.all(candidates.map((columns) => patch(`/boards/${board.id}`, { columns })));
  expect(replaced.map(({ status }) => status)).toEqual(candidates.map(() => 200));
  const { columns } = await read(`/boards/${board.id}`);
  expect(candidates.map(([first]) => first!.value)).toContain(columns[0].value);
  expect(columns.map(({ value }: Json) => value)).toEqual([columns[0].value, 'Canceled']);
  const at = (day: number): string => new Date(Date.UTC(2031, 0, day)).toISOString();
  const days = [1, 8, 15, 22];
  const cycles = await Promise.all(
    days.map((day) => create('/cycles', { team: 'ENG', startsAt: at(day), endsAt: at(day + 7) })),
  );
  const moved = await Promise.all(
    cycles.map(({ id }) => patch(`/cycles/${id}`, { startsAt: at(50), endsAt: at(57) })),
  );
  expect(moved.map(({ status }) => status).sort()).toEqual([200, 422, 422, 422]);
  const { data } = await read('/cycles?team=ENG');
  expect(data.map(({ startsAt }: Json) => startsAt).filter((start: string) => start === at(50))).toHaveLength(
    1,
  );
  expect(new Set(data.map(({ number }: Json) => number)).size).toBe(data.length);
});

const insertCard = composedStatement(
  'INSERT INTO board_cards (workspace_id, board_id, issue_id, rank) VALUES (:ws, :board, :id, :rank)',
);

test('a plugin run positions moved and created issues in the order of its calls', async () => {
  const [a = '', b = '', c = '', d = '', e = ''] = await issuesOf('run', 5);
  const [x = '', y = '', z = '', w = ''] = await issuesOf('crowd', 4);
  const [board, crowd] = [await boardOf('run'), await boardOf('crowd')];
  // Only a rank beyond the length limit fits between these two, so the run assigns shorter ranks to all.
  const scope = scopeOf(app.workspace.workspaceId);
  const ranked = ['V', 'W'].map((last, at) => ({ id: [x, y][at]!, rank: `a0${'V'.repeat(61)}${last}` }));
  for (const card of ranked)
    await app.services.store.commit([tenantOp(scope, insertCard, { board: crowd.id, ...card })]);
  const moves: (readonly [Json, string, object])[] = [
    [board, a, { position: 'top' }],
    [board, b, { position: 'top' }],
    [board, c, { position: 'bottom' }],
    [board, d, { after: b }],
    [board, e, { before: d }],
    [board, a, { position: 'bottom' }],
    [crowd, z, { after: x }],
    [crowd, w, { after: z }],
    [crowd, z, { before: y }],
  ];
  const requests = moves.map(([{ id }, issueId, position]) => [
    id,
    { issueId, column: id === board.id ? 'Todo' : 'Backlog', ...position },
  ]);
  const document = await packSource(`{
    id: 'com.test.mover', version: '1.0.0', engines: { tatami: '*' },
    scopes: { 'boards:write': { why: 'test' }, 'issues:write': { why: 'test' }, 'projects:write': { why: 'test' } },
    on: { 'project.created': { handle: async (event, ctx) => {
      for (const [board, move] of ${JSON.stringify(requests)}) await ctx.boards.move(board, move);
      for (const name of ['first', 'second', 'third']) await ctx.milestones.create(event.data.id, { name });
    } } },
  }`);
  await install(app.call, document);
  const project = await create('/projects', { name: 'Mover' });
  await app.settled();
  const [run] = (await read('/plugins/com.test.mover/runs')).data;
  expect([run.status, run.error]).toEqual(['succeeded', null]);
  expect((await columnsOf(board)).get('Todo')).toEqual([b, e, d, c, a]);
  expect((await columnsOf(crowd)).get('Backlog')).toEqual([x, w, z, y]);
  const { data } = await read(`/projects/${project.id}/milestones`);
  expect(data.map(({ name, position }: Json) => [name, position])).toEqual([
    ['first', 0],
    ['second', 1],
    ['third', 2],
  ]);
});

test('a restored sub-issue gets a unique rank, also when its old one is taken', async () => {
  const [parent = ''] = await issuesOf('gone parent', 1);
  const [a = '', b = '', c = ''] = await issuesOf('gone', 3, { parentId: parent });
  // Two insertions behind the same sub-issue, with no other between them.
  await reorder({ id: b, position: 'top' });
  await reorder({ id: c, after: a });
  await app.call('DELETE', `/api/v1/issues/${c}`);
  await reorder({ id: b, after: a });
  expect((await app.call('POST', `/api/v1/issues/${c}/restore`)).status).toBe(200);
  await expectOwnRanks(parent);
  const order = (await subIssuesOf(parent)).get(parent)!;
  expect([order[0], [...order].sort()]).toEqual([a, [a, b, c]]);
});

const makeEqual = composedStatement(
  "UPDATE issues SET sub_order = 'a1' WHERE workspace_id = :ws AND parent_id = :parent",
);

test('equal ranks of an import order by creation time, and the next reorder replaces them', async () => {
  const [parent = ''] = await issuesOf('equal parent', 1);
  const [a = '', b = '', c = '', d = ''] = await issuesOf('equal', 4, { parentId: parent });
  const scope = scopeOf(app.workspace.workspaceId);
  await app.services.store.commit([tenantOp(scope, makeEqual, { parent })]);
  expect((await subIssuesOf(parent)).get(parent)).toEqual([a, b, c, d]);
  expect((await reorder({ id: d, after: a })).status).toBe(200);
  expect((await subIssuesOf(parent)).get(parent)).toEqual([a, d, b, c]);
  await expectOwnRanks(parent);
});

test('a proposed order is applied as previewed, and previewed again if it changed since', async () => {
  const [parent = ''] = await issuesOf('proposed parent', 1);
  const [a = '', b = '', c = ''] = await issuesOf('proposed', 3, { parentId: parent });
  const { id: memberId } = await create('/members', { name: 'Ada', email: 'ada@example.com', role: 'admin' });
  const scopes = ['issues:write', 'approvals:write', 'proposals:read'];
  const ada = app.clientOf((await create('/api-keys', { name: 'ada', memberId, scopes })).key);
  const propose = async (id: string, position: object): Promise<string> =>
    (await app.call('POST', `/api/v1/issues/${id}/reorder`, position, { 'tatami-mode': 'propose' })).json.id;
  const first = await propose(b, { position: 'bottom' });
  const second = await propose(a, { position: 'bottom' });
  expect((await ada('POST', `/api/v1/proposals/${first}/approve`, {})).status).toBe(200);
  expect((await subIssuesOf(parent)).get(parent)).toEqual([a, c, b]);
  // The last card has changed.
  const moved = await ada('POST', `/api/v1/proposals/${second}/approve`, {});
  expect(moved.json.error.message).toContain('revision 2');
  expect((await ada('POST', `/api/v1/proposals/${second}/approve`, { revision: 2 })).status).toBe(200);
  expect((await subIssuesOf(parent)).get(parent)).toEqual([c, b, a]);
  await expectOwnRanks(parent);
});

test('random concurrent moves give the order of some sequence of moves', async () => {
  const random = seededRandom(seed);
  const below = (count: number): number => Math.floor(random() * count);
  const [parent = ''] = await issuesOf('any parent', 1);
  const children = await issuesOf('any child', 7, { parentId: parent });
  const cards = await issuesOf('any', 9);
  const board = await boardOf('any');
  const names = ['Backlog', 'Todo', 'Done'];
  const drawn = (ids: readonly string[], now: Columns): OrderRequest[] => {
    const movers = [...ids].sort(() => random() - 0.5).slice(0, 2 + below(4));
    return movers.map((id) => {
      const column = [...now.keys()].filter((name) => name === parent || names.includes(name));
      const to = column[below(column.length)]!;
      // Only cards that stay in their column, so that no request names a card that leaves the column concurrently.
      const others = now.get(to)!.filter((other) => (to === parent ? other !== id : !movers.includes(other)));
      const way = below(others.length > 0 ? 4 : 2);
      if (way < 2) return { id, column: to, position: ends[way]! };
      return { id, column: to, [way === 2 ? 'before' : 'after']: others[below(others.length)]! };
    });
  };
  for (let round = 0; round < (isLong ? 1_000 : 12); round++) {
    for (const [ids, state, ask] of [
      [children, () => subIssuesOf(parent), reorder],
      [cards, () => columnsOf(board), (one: OrderRequest) => moveOn(board, one)],
    ] as const) {
      const before = await state();
      const logged = await allAtOnce(drawn(ids, before), ask);
      const after = await state();
      const said = { seed, round, before: [...before], logged, after: [...after] };
      expect({ ...said, is: isSerial(before, logged, after) }).toEqual({ ...said, is: true });
    }
    await expectOwnRanks(parent);
  }
  expect(await columnsOf(board, `&asOf=${await app.lastSequence()}`)).toEqual(await columnsOf(board));
  const subject = openSubject(readConfig({ dataDir: app.dataDir }, {}), app.clock.now());
  expect(await replay.look(subject)).toEqual([]);
  subject.close();
});
