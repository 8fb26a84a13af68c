// Boards of one request: the issues of a list in columns, without a stored board.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { askAs, rightsBut } from '../../rights/asking.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

const v1 = '/api/v1';
let app: TestApp;
let step: Scenario;
let ana: string;
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
  ana = app.workspace.userId;
  await create('/teams', { key: 'OPS' });
  await create('/workflows', { team: 'OPS', name: 'Hush', type: 'started' });
  await create('/fields', {
    key: 'severity',
    name: 'Severity',
    type: 'select',
    options: [
      { value: 'big', name: 'Big' },
      { value: 'small', name: 'Small' },
    ],
  });
  const priorities = ['none', 'low', 'medium', 'high', 'urgent'];
  for (let index = 0; index < 12; index++) {
    app.clock.advance(1000);
    await create('/issues', {
      team: index % 4 === 3 ? 'OPS' : 'ENG',
      title: `Card ${index % 5} of ${index}`,
      state: index % 2 === 0 ? 'Backlog' : 'In Progress',
      priority: priorities[index % 5],
      ...(index % 3 === 0 && { assigneeId: ana }),
      ...(index % 4 === 0 && { labels: ['bug'] }),
      ...(index % 2 === 0 && { fields: { severity: index % 4 === 0 ? 'big' : 'small' } }),
    });
  }
});
afterAll(() => app.stop());

async function create(path: string, body: object): Promise<Json> {
  const { status, json, text } = await app.call('POST', v1 + path, body);
  expect([status, text]).toEqual([201, text]);
  return json;
}

const get = async (path: string, query: Readonly<Record<string, string>> = {}): Promise<Json> => {
  const { status, json, text } = await app.call('GET', `${v1}${path}?${new URLSearchParams(query)}`);
  expect([path, status, text]).toEqual([path, 200, text]);
  return json;
};

const idsOf = (cards: Json[]): string[] => cards.map(({ id }) => id);

/** Reads a column or lane page by page. */
async function readColumn(column: string, query: Readonly<Record<string, string>>): Promise<string[]> {
  const ids: string[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page = await get(`/issues/board/columns/${encodeURIComponent(column)}/cards`, {
      ...query,
      limit: '2',
      ...(after && { after }),
    });
    ids.push(...idsOf(page.data));
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null;
  }
  return ids;
}

const filter = { priority: { neq: 'low' } };

test.each([
  { groupBy: 'state', swimlanes: null, sort: '-createdAt' },
  { groupBy: 'stateType', swimlanes: 'assignee', sort: '-priority,title' },
  { groupBy: 'assignee', swimlanes: null, sort: 'title' },
  { groupBy: 'priority', swimlanes: 'fields.severity', sort: 'state' },
  { groupBy: 'label', swimlanes: 'state', sort: '-updatedAt' },
  { groupBy: 'fields.severity', swimlanes: null, sort: 'assignee,fields.severity' },
])('the issues of a list are in the same columns as on a stored board: %p', async (settings) => {
  for (const team of [null, 'ENG']) {
    const stored = await create('/boards', { name: 'Stored', filter, team, ...settings });
    const { groupBy, swimlanes, sort } = settings;
    const query = {
      ...(team && { team }),
      ...(swimlanes && { swimlanes }),
      filter: JSON.stringify(filter),
      groupBy,
      sort,
    };
    const { board, ...cards } = await get(`/boards/${stored.id}/cards`);
    expect(board.id).toBe(stored.id);
    expect(withoutCursors(await get('/issues/board', query))).toEqual(withoutCursors(cards));
    expect(cards.columns.some(({ count }: Json) => count > (team ? 0 : 2))).toBe(true);
    const few = { perColumn: '1', fields: 'title' };
    const { board: _, ...first } = await get(`/boards/${stored.id}/cards`, few);
    expect(withoutCursors(await get('/issues/board', { ...query, ...few }))).toEqual(withoutCursors(first));
    for (const { key, cards: whole, lanes } of cards.columns) {
      if (whole) expect(await readColumn(key, query)).toEqual(idsOf(whole));
      for (const lane of lanes ?? [])
        expect(await readColumn(key, { ...query, lane: lane.key })).toEqual(idsOf(lane.cards));
    }
  }
});

/** Cursors are bound to the board. */
function withoutCursors(cards: Json): unknown {
  return JSON.parse(
    JSON.stringify(cards, (name, value) => (name === 'endCursor' ? value && 'cursor' : value)),
  );
}

test('every filter of the list selects the cards', async () => {
  const [{ id: blocked }, { id: blocker }] = (await get('/issues', { limit: '2' })).data;
  await create(`/issues/${blocker}/relations`, { type: 'blocks', issueId: blocked });
  const [deleted] = (await get('/issues', { limit: '1', sort: 'createdAt' })).data;
  expect((await app.call('DELETE', `${v1}/issues/${deleted.id}`)).status).toBe(204);
  for (const query of [
    {},
    { team: 'ENG' },
    { assignee: 'me' },
    { label: 'bug', priority: 'high' },
    { hasOpenBlockers: 'true' },
    { blockedBy: blocker },
    { deleted: 'only' },
    { deleted: 'include', state: 'Backlog' },
    { filter: '{"or":[{"assignee":"me"},{"label":"bug"}]}' },
  ]) {
    const { data } = await get('/issues', { ...query, limit: '100' });
    const { columns, elsewhere } = await get('/issues/board', query);
    expect(idsOf(columns.flatMap(({ cards }: Json) => cards)).sort()).toEqual(idsOf(data).sort());
    expect([query, data.length > 0, elsewhere]).toEqual([query, true, 0]);
  }
});

test('a cursor continues only the column, filter and order it was issued for', async () => {
  const query = { groupBy: 'stateType', filter: JSON.stringify(filter) };
  const { columns } = await get('/issues/board', { ...query, perColumn: '1' });
  const { key, cards, pageInfo } = columns.find(({ count }: Json) => count > 1);
  const path = `/issues/board/columns/${key}/cards`;
  const rest = await get(path, { ...query, cursor: pageInfo.endCursor });
  expect(idsOf([...cards, ...rest.data])).toEqual(await readColumn(key, query));
  for (const other of [{ filter: '{}' }, { sort: 'title' }, { swimlanes: 'priority' }, { team: 'ENG' }])
    await step(
      'GET',
      `${path}?${new URLSearchParams({ ...query, ...other, after: pageInfo.endCursor })}`,
      undefined,
      { status: 400, error: ['invalid_cursor'] },
    );
});

test('a wrong parameter is rejected with its name', async () => {
  for (const [query, detail] of [
    ['groupBy=color', 'groupBy invalid_format'],
    ['groupBy=fields.nothing', 'groupBy not_found'],
    ['swimlanes=label', 'swimlanes invalid_format'],
    ['swimlanes=fields.nothing', 'swimlanes not_found'],
    ['groupBy=priority&swimlanes=priority', 'swimlanes conflict'],
    ['sort=manual', 'sort invalid_enum'],
    ['sort=color', 'sort invalid_enum'],
    ['fields=description', 'fields invalid_enum'],
    ['fields=color', 'fields invalid_enum'],
    ['perColumn=0', 'perColumn too_small'],
    ['team=NONE', 'team not_found'],
    ['filter=[', 'filter invalid_format'],
    ['color=red', 'color unknown_field'],
  ] as const)
    await step('GET', `/issues/board?${query}`, undefined, {
      status: 422,
      error: ['validation_failed', detail],
    });
  const { json } = await app.call('GET', `${v1}/issues/board?sort=manual`);
  expect(json.error.message).toContain('Only stored boards have a manual order.');
  for (const path of ['columns/Nowhere/cards', 'columns/Backlog/cards?lane=none'])
    await step('GET', `/issues/board/${path}`, undefined, { status: 404, error: ['not_found'] });
});

test('another workspace finds neither the issues nor the values of this one', async () => {
  const other = await app.addWorkspace('Other', 'OTH');
  const call = app.clientOf(other.apiKey);
  const { columns } = (await call('GET', `${v1}/issues/board?groupBy=assignee`)).json;
  expect(columns.map(({ key, count }: Json) => [key, count])).toEqual([['none', 0]]);
  const [issue] = (await get('/issues', { limit: '1' })).data;
  for (const query of [`team=${issue.team.id}`, `blocks=${issue.id}`, 'groupBy=fields.severity'])
    expect((await call('GET', `${v1}/issues/board?${query}`)).json.error.details[0].issue).toBe('not_found');
  expect((await call('GET', `${v1}/issues/board/columns/${ana}/cards?groupBy=assignee`)).status).toBe(404);
  const { json } = await app.call('GET', `${v1}/issues/board?groupBy=priority&perColumn=1`);
  const { key, pageInfo } = json.columns.find(({ count }: Json) => count > 1);
  const path = `${v1}/issues/board/columns/${key}/cards?groupBy=priority&after=${pageInfo.endCursor}`;
  expect((await call('GET', path)).json.error.code).toBe('invalid_cursor');
});

test('a caller limited to one team sees and counts only its issues, columns and fields', async () => {
  const [secret] = (await get('/issues', { team: 'OPS', limit: '1' })).data;
  await create('/fields', { key: 'secret', name: 'Secret', type: 'checkbox', team: 'OPS' });
  await create('/labels', { name: 'covert', team: 'OPS' });
  const changed = await app.call('PATCH', `${v1}/issues/${secret.id}`, { addLabels: ['covert'] });
  expect(changed.status).toBe(200);
  const where = { where: { team: ['ENG'] } };
  const rights = rightsBut({ 'issues:read': where, 'issues:write': where });
  const seen = async (path: string): Promise<Json> => {
    const { status, text } = await askAs(app, rights, 'GET', `${v1}/issues/board${path}`);
    return { status, text, json: JSON.parse(text) };
  };
  const { data } = await get('/issues', { team: 'ENG', limit: '100' });
  for (const groupBy of ['state', 'stateType', 'assignee', 'priority', 'label', 'fields.severity']) {
    const { json, text } = await seen(`?groupBy=${groupBy}`);
    const found = new Set<string>(idsOf(json.columns.flatMap(({ cards }: Json) => cards)));
    expect([groupBy, [...found].sort()]).toEqual([groupBy, idsOf(data).sort()]);
    expect(text).not.toMatch(/OPS-|Hush|covert/);
    for (const { key, count, cards } of json.columns) {
      expect(count).toBe(cards.length);
      const column = await seen(`/columns/${encodeURIComponent(key)}/cards?groupBy=${groupBy}`);
      expect(column.json.data).toHaveLength(count);
    }
  }
  for (const query of ['?team=OPS', '?groupBy=fields.secret', `?team=${secret.team.id}`])
    expect([query, (await seen(query)).status]).toEqual([query, 422]);
});

test('a key without the scope of issues is refused, and boards need no scope of their own', async () => {
  const [without, reading] = [await app.mintKey(['boards:read']), await app.mintKey(['issues:read'])];
  for (const path of ['/issues/board', '/issues/board/columns/Backlog/cards']) {
    expect((await app.clientOf(without)('GET', v1 + path)).json.error.code).toBe('insufficient_scope');
    expect((await app.clientOf(reading)('GET', v1 + path)).status).toBe(200);
  }
});
