import { afterAll, beforeAll, expect, test } from 'bun:test';
import { seededRandom } from '../../faults/server.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

const create = async (path: string, body: object): Promise<Json> => {
  const { status, json, text } = await app.call('POST', `/api/v1${path}`, body);
  expect([status, text]).toEqual([201, text]);
  return json;
};

/**
 * Creates issues with a unique title, so that a board filter selects only them. They are created one second
 * apart, newest last.
 */
async function issuesOf(title: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    app.clock.advance(1000);
    ids.push((await create('/issues', { team: 'ENG', title: `${title} ${index}` })).id);
  }
  return ids;
}

const boardOf = (title: string, fields: object = {}): Promise<Json> =>
  create('/boards', { name: title, filter: { title: { startsWith: title } }, ...fields });

const cardsOf = async (board: Json, query = ''): Promise<Json> =>
  (await app.call('GET', `/api/v1/boards/${board.id}/cards${query}`)).json;

/** Returns the ids of the cards of each nonempty column. */
async function cardsByColumn(board: Json): Promise<Record<string, string[]>> {
  const { columns } = await cardsOf(board, '?perColumn=100&fields=title');
  return Object.fromEntries(
    columns.flatMap(({ key, cards, count }: Json) => {
      expect(cards).toHaveLength(count);
      return count === 0 ? [] : [[key, cards.map(({ id }: Json) => id)]];
    }),
  );
}

const move = (board: Json, body: object) => app.call('POST', `/api/v1/boards/${board.id}/move`, body);

test('concurrent moves neither lose nor duplicate a card, and positions are unique', async () => {
  const ids = await issuesOf('raced', 12);
  const board = await boardOf('raced', { sort: 'manual' });
  const [anchor = ''] = ids;
  const others = ids.slice(1);
  const sent = await Promise.all(
    others.map((issueId) => move(board, { issueId, column: 'Backlog', after: anchor })),
  );
  expect(sent.map(({ status }) => status)).toEqual(others.map(() => 200));
  const { Backlog: order = [] } = await cardsByColumn(board);
  expect([order[0], order.toSorted()]).toEqual([anchor, ids.toSorted()]);
  const { json } = await app.call('GET', '/api/v1/events?types=board.card_moved&limit=100');
  const ranks = json.data
    .filter(({ data }: Json) => data.board.id === board.id)
    .map(({ data }: Json) => data.rank);
  expect(new Set(ranks).size).toBe(others.length);
  const columns = ['Todo', 'In Progress', 'Done', 'Backlog'];
  const twice = await Promise.all(
    columns.flatMap((column) => others.slice(0, 3).map((issueId) => move(board, { issueId, column }))),
  );
  expect(new Set(twice.map(({ status }) => status))).toEqual(new Set([200]));
  expect(
    Object.values(await cardsByColumn(board))
      .flat()
      .toSorted(),
  ).toEqual(ids.toSorted());
});

test('a card that leaves a column concurrently does not take a position in it', async () => {
  const ids = await issuesOf('left', 9);
  const board = await boardOf('left');
  const [anchor, ...others] = ids;
  const sent = await Promise.all(
    others.flatMap((issueId) => [
      move(board, { issueId, column: 'Todo' }),
      move(board, { issueId, column: 'Backlog', after: anchor }),
    ]),
  );
  expect(new Set(sent.map(({ status }) => status))).toEqual(new Set([200]));
  const { json } = await app.call(
    'GET',
    `/api/v1/events?types=board.card_moved&limit=100&after=${await firstOf(board)}`,
  );
  const movedTo = new Map(json.data.map(({ data }: Json) => [data.issue.id, data.column]));
  const stand = Object.entries(await cardsByColumn(board)).flatMap(([column, all]) =>
    all.map((id) => [id, column]),
  );
  expect(new Map(stand.filter(([id]) => id !== anchor) as [string, string][])).toEqual(
    new Map([...movedTo] as [string, string][]),
  );
});

/** Returns the sequence number of the event that created the board. */
async function firstOf({ id }: Json): Promise<number> {
  const { json } = await app.call('GET', '/api/v1/events?types=board.created&limit=100');
  return json.data.find(({ data }: Json) => data.id === id).sequence;
}

test('concurrent moves do not exceed a hard limit, and a soft limit reports the excess', async () => {
  const ids = await issuesOf('full', 6);
  const columns = [{ value: 'Backlog' }, { value: 'Todo', limit: 2 }];
  const board = await boardOf('full', { columns, limits: 'hard' });
  const sent = await Promise.all(ids.map((issueId) => move(board, { issueId, column: 'Todo' })));
  expect(sent.map(({ status }) => status).toSorted()).toEqual([200, 200, 409, 409, 409, 409]);
  const refused = sent.find(({ status }) => status === 409);
  expect(refused?.json.error).toMatchObject({
    code: 'conflict',
    message: expect.stringContaining('its limit'),
  });
  const { Todo = [], Backlog = [] } = await cardsByColumn(board);
  expect([Todo.length, Backlog.length]).toEqual([2, 4]);
  // A card in a full column can still be reordered.
  expect((await move(board, { issueId: Todo[1], column: 'Todo', position: 'top' })).status).toBe(200);
  await app.call('PATCH', `/api/v1/boards/${board.id}`, { limits: 'soft' });
  expect((await move(board, { issueId: Backlog[0], column: 'Todo' })).status).toBe(200);
  expect((await cardsOf(board)).columns[1]).toMatchObject({ count: 3, limit: 2, over: true });
});

test('long ranks are rewritten, and every card stays in position', async () => {
  const ids = await issuesOf('long', 4);
  const board = await boardOf('long');
  const [a = '', b = '', c = '', d = ''] = ids;
  // b and c alternate between a and the last insertion, which halves the same gap.
  const before = await app.lastSequence();
  let order = [d, c, b, a];
  for (let round = 0; round < 420; round++) {
    const [moved, other] = round % 2 === 0 ? [b, c] : [c, b];
    expect((await move(board, { issueId: moved, column: 'Backlog', before: other })).status).toBe(200);
    order = [d, moved, other, a];
  }
  expect((await cardsByColumn(board)).Backlog).toEqual(order);
  const ranks: string[] = [];
  let respaced = 0;
  for (let after = before; ;) {
    const { json } = await app.call('GET', `/api/v1/events?types=board.card_moved&limit=100&after=${after}`);
    ranks.push(...json.data.map(({ data }: Json) => data.rank));
    respaced += json.data.filter(({ data }: Json) => data.column === null).length;
    if (!json.pageInfo.hasNextPage || json.data.length === 0) break;
    after = json.data.at(-1).sequence;
  }
  expect(respaced).toBeGreaterThan(0);
  expect(Math.max(...ranks.map(({ length }) => length))).toBeLessThanOrEqual(64);
});

test('a random sequence of moves leaves the board in the state of a model', async () => {
  const seed = Number(process.env.TATAMI_SEED ?? 20261122);
  const random = seededRandom(seed);
  const oneOf = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
  const ids = await issuesOf('walked', 14);
  const board = await boardOf('walked');
  const names = ['Backlog', 'Todo', 'Done'];
  const model = new Map<string, string[]>(
    names.map((name) => [name, name === 'Backlog' ? ids.toReversed() : []]),
  );
  const moves = process.env.TATAMI_LONG ? 2_000 : 120;
  for (let round = 0; round < moves; round++) {
    const issueId = oneOf(ids);
    const column = oneOf(names);
    const rest = model.get(column)!.filter((id) => id !== issueId);
    const way = oneOf(rest.length > 0 ? ['before', 'after', 'top', 'bottom'] : ['top', 'bottom']);
    const beside = way === 'before' || way === 'after' ? oneOf(rest) : null;
    const position = beside === null ? { position: way } : { [way]: beside };
    const { status, text } = await move(board, { issueId, column, ...position });
    expect({ seed, turn: round, status, text }).toEqual({ seed, turn: round, status: 200, text });
    for (const [name, all] of model)
      model.set(
        name,
        all.filter((id) => id !== issueId),
      );
    const at =
      beside === null ? (way === 'top' ? 0 : rest.length) : rest.indexOf(beside) + (way === 'after' ? 1 : 0);
    model.set(column, rest.toSpliced(at, 0, issueId));
    if (round % 10 > 0) continue;
    const actual = await cardsByColumn(board);
    expect({ seed, turn: round, shown: actual }).toEqual({
      seed,
      turn: round,
      shown: Object.fromEntries([...model].filter(([, all]) => all.length > 0)),
    });
  }
});
