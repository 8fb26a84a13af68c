import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { askAs, rightsBut } from '../../rights/asking.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
const states: Record<string, string> = {};
beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
  await app.call('POST', '/api/v1/teams', { key: 'OPS' });
  for (const { id, name } of (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data)
    states[name] = id;
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
async function issuesOf(title: string, count: number, fields: object = {}): Promise<string[]> {
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    app.clock.advance(1000);
    ids.push((await create('/issues', { team: 'ENG', title: `${title} ${index}`, ...fields })).id);
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

const move = (board: Json, body: object, headers = {}) =>
  app.call('POST', `/api/v1/boards/${board.id}/move`, body, headers);

test('a board counts its cards exactly and pages each column independently', async () => {
  const ids = await issuesOf('paged', 7);
  const [doing] = await issuesOf('paged doing', 1, { stateId: states['In Progress'] });
  const board = await boardOf('paged', {
    columns: [
      { value: 'Backlog', limit: 6 },
      { value: states['In Progress'], title: 'Doing' },
      { value: 'Done', hidden: true },
    ],
  });
  const newest = ids.toReversed();
  const response = await cardsOf(board, '?perColumn=3&fields=title');
  expect(response).toMatchObject({
    board: { id: board.id, name: 'paged' },
    columns: [
      { key: 'Backlog', title: 'Backlog', count: 7, limit: 6, over: true, pageInfo: { hasNextPage: true } },
      {
        key: states['In Progress'],
        title: 'Doing',
        count: 1,
        limit: null,
        over: false,
        cards: [{ id: doing }],
      },
      { key: 'Done', count: 0, hidden: true },
    ],
    lanes: null,
    elsewhere: 0,
  });
  expect(response.columns[2]).not.toHaveProperty('cards');
  const seen = response.columns[0].cards.map(({ id }: Json) => id);
  let after: string = response.columns[0].pageInfo.endCursor;
  for (let more = true; more;) {
    const path = `/api/v1/boards/${board.id}/columns/Backlog/cards?limit=3&after=${after}`;
    const { json } = await app.call('GET', path);
    seen.push(...json.data.map(({ id }: Json) => id));
    expect(json.data[0]).not.toHaveProperty('description');
    [more, after] = [json.pageInfo.hasNextPage, json.pageInfo.endCursor];
  }
  expect(seen).toEqual(newest);
  const foreign = `/boards/${board.id}/columns/${states['In Progress']}/cards?after=${after}`;
  await step('GET', foreign, undefined, { status: 400, error: ['invalid_cursor'] });
  await step('GET', `/boards/${board.id}/columns/Nowhere/cards`, undefined, {
    status: 404,
    error: ['not_found'],
  });
});

test('a move changes the issue and its position in one change set, under the version of the issue', async () => {
  const [a = '', b = '', c = ''] = await issuesOf('moved', 3);
  const board = await boardOf('moved');
  expect(await cardsByColumn(board)).toEqual({ Backlog: [c, b, a] });
  const path = `/boards/${board.id}/move`;
  const events = ['issue.updated', 'issue.state_changed', 'board.card_moved'];
  const body = { issueId: a, column: 'In Progress' };
  const simulated = await move(board, body, { 'tatami-mode': 'simulate' });
  expect([simulated.status, simulated.json.state.name]).toEqual([200, 'In Progress']);
  expect(await cardsByColumn(board)).toEqual({ Backlog: [c, b, a] });
  const moved = await step('POST', path, body, { status: 200, events, body: { id: a, version: 2 } });
  expect(moved.state.name).toBe('In Progress');
  // A move within a column does not change the issue.
  const order = { issueId: c, column: 'Backlog', after: b };
  await step('POST', path, order, { status: 200, events: ['board.card_moved'], body: { id: c, version: 1 } });
  await step('POST', path, order, { status: 200, events: [] });
  expect(await cardsByColumn(board)).toEqual({ Backlog: [b, c], 'In Progress': [a] });
  const stale = await move(board, { issueId: a, column: 'Done' }, { 'if-match': '"1"' });
  expect([stale.status, stale.json.error.code]).toEqual([412, 'precondition_failed']);
  const { json } = await app.call('GET', '/api/v1/events?types=board.card_moved&limit=100');
  expect(json.data.at(-1).data).toEqual({
    board: { id: board.id, name: 'moved' },
    issue: { id: c },
    column: 'Backlog',
    lane: null,
    rank: expect.any(String),
  });
});

test('an impossible move is rejected with the reason', async () => {
  const [a = '', b = ''] = await issuesOf('refused', 2);
  const [foreign = ''] = await issuesOf('foreign', 1);
  const board = await boardOf('refused');
  const path = `/boards/${board.id}/move`;
  const to = (rest: object) => ({ issueId: a, column: 'Backlog', ...rest });
  for (const [body, detail] of [
    [to({ column: 'Nowhere' }), 'column not_found'],
    [to({ issueId: foreign }), 'issueId not_found'],
    [to({ before: a }), 'before conflict'],
    [to({ before: foreign }), 'before not_found'],
    [to({ column: 'Done', after: b }), 'after not_found'],
    [to({ before: b, after: b }), 'after conflict'],
    [to({ lane: 'none' }), 'lane conflict'],
    [to({ position: 'middle' }), 'position invalid_enum'],
  ] as const)
    await step('POST', path, body, { status: 422, error: ['validation_failed', detail] });
  const { json: team } = await app.call('GET', '/api/v1/teams');
  const { id } = team.data.find(({ key }: Json) => key === 'ENG');
  const transitions = { [states['Backlog']!]: [states['Todo']!] };
  await app.call('PATCH', `/api/v1/teams/${id}`, { transitions });
  await step('POST', path, to({ column: 'Done' }), {
    status: 409,
    error: ['transition_not_allowed', 'column.stateId conflict'],
  });
  await app.call('PATCH', `/api/v1/teams/${id}`, { transitions: null });
  const sorted = await boardOf('refused', { sort: '-priority' });
  await step('POST', `/boards/${sorted.id}/move`, to({ before: b }), {
    status: 422,
    error: ['validation_failed', 'before conflict'],
  });
  await step('POST', `/boards/${sorted.id}/move`, to({ column: 'Todo' }), {
    status: 200,
    events: ['issue.updated', 'issue.state_changed'],
  });
});

test('columns group by assignee, priority or label, and lanes group within them', async () => {
  const me = (await app.call('GET', '/api/v1/me')).json.member.id;
  const [a = '', b = ''] = await issuesOf('crossed', 2, { labels: ['bug'] });
  const board = await boardOf('crossed', { groupBy: 'priority', swimlanes: 'assignee' });
  const path = `/boards/${board.id}/move`;
  const events = ['issue.updated', 'issue.assigned', 'board.card_moved'];
  await step('POST', path, { issueId: a, column: 'urgent', lane: me }, { status: 200, events });
  const { columns, lanes } = await cardsOf(board, '?fields=priority');
  expect(lanes).toEqual([
    { key: 'none', title: 'No assignee', count: 1 },
    { key: me, title: 'Acme owner', count: 1 },
  ]);
  const cells = columns.flatMap(({ key, lanes: all }: Json) =>
    all.map((lane: Json) => [key, lane.key, lane.count, lane.cards.map(({ id }: Json) => id)]),
  );
  expect(cells).toEqual([
    ['urgent', me, 1, [a]],
    ['none', 'none', 1, [b]],
  ]);
  const labels: Json[] = (await app.call('GET', '/api/v1/labels')).json.data;
  const [bug, feature] = ['bug', 'feature'].map((name) => labels.find((label) => label.name === name).id);
  const byLabel = await boardOf('crossed', {
    groupBy: 'label',
    columns: [{ value: null }, { value: bug }, { value: feature }],
  });
  expect(await cardsByColumn(byLabel)).toEqual({ [bug]: [b, a] });
  const labeled = ['issue.updated', 'issue.labeled', 'board.card_moved'];
  const to = `/boards/${byLabel.id}/move`;
  await step('POST', to, { issueId: a, column: feature }, { status: 200, events: labeled });
  await step('POST', to, { issueId: b, column: 'none' }, { status: 200, events: labeled });
  expect(await cardsByColumn(byLabel)).toEqual({ none: [b], [feature]: [a] });
});

test('a board of several teams has one column for each state name, and a moved card gets the state of its team', async () => {
  const [eng = ''] = await issuesOf('teams', 1);
  const ops = (await create('/issues', { team: 'OPS', title: 'teams too' })).id;
  const board = await boardOf('teams');
  expect(await cardsByColumn(board)).toEqual({ Backlog: [ops, eng] });
  await move(board, { issueId: ops, column: 'Todo', position: 'bottom' });
  await move(board, { issueId: eng, column: 'Todo', position: 'bottom' });
  expect(await cardsByColumn(board)).toEqual({ Todo: [ops, eng] });
  const { json } = await app.call('GET', `/api/v1/issues/${ops}`);
  expect([json.team.key, json.state.name]).toEqual(['OPS', 'Todo']);
  await app.call('POST', '/api/v1/workflows', { team: 'OPS', name: 'On call', type: 'started' });
  await step(
    'POST',
    `/boards/${board.id}/move`,
    { issueId: eng, column: 'On call' },
    {
      status: 422,
      error: ['validation_failed', 'column not_found'],
    },
  );
  const one = await boardOf('teams', { team: 'ENG' });
  expect(await cardsByColumn(one)).toEqual({ Todo: [eng] });
});

test('a key limited to one team sees, counts and moves only the cards of that team', async () => {
  const [eng = ''] = await issuesOf('narrow', 1);
  const ops = (await create('/issues', { team: 'OPS', title: 'narrow too' })).id;
  const board = await boardOf('narrow', { groupBy: 'priority', swimlanes: 'state' });
  const where = { where: { team: ['ENG'] } };
  const rights = rightsBut({ 'issues:read': where, 'issues:write': where });
  const { text } = await askAs(app, rights, 'GET', `/api/v1/boards/${board.id}/cards`);
  expect([text.includes(eng), text.includes(ops)]).toEqual([true, false]);
  const { columns, lanes, elsewhere } = JSON.parse(text);
  const counts = columns.map(({ count }: Json) => count);
  expect([counts, lanes.map(({ count }: Json) => count), elsewhere]).toEqual([
    [0, 0, 0, 0, 1],
    expect.anything(),
    0,
  ]);
  const path = `/api/v1/boards/${board.id}/move`;
  for (const [issueId, status] of [
    [eng, 200],
    [ops, 422],
  ] as const)
    expect(await askAs(app, rights, 'POST', path, { issueId, column: 'high' })).toMatchObject({ status });
  const fields = rightsBut({ 'issues:write': { fields: ['stateId'] } });
  expect(await askAs(app, fields, 'POST', path, { issueId: eng, column: 'low' })).toMatchObject({
    status: 403,
    message: expect.stringContaining('this request writes priority.'),
  });
});

test('a board accepts only existing references, and a reference deleted later leaves an empty column', async () => {
  for (const [body, detail] of [
    [{ filter: { nothing: 1 } }, 'filter.nothing unknown_field'],
    [{ sort: 'colour' }, 'sort invalid_enum'],
    [{ groupBy: 'priority', swimlanes: 'priority' }, 'swimlanes conflict'],
    [{ columns: [{ value: 'Backlog' }, { value: states['Backlog'] }] }, 'columns.1.value already_exists'],
    [{ groupBy: 'priority', columns: [{ value: 'Backlog' }] }, 'columns.0.value not_found'],
    [{ team: 'NOPE' }, 'team not_found'],
  ] as const)
    await step(
      'POST',
      '/boards',
      { name: 'wrong', ...body },
      {
        status: 422,
        error: ['validation_failed', detail],
      },
    );
  const { id: label } = await create('/labels', { name: 'short-lived' });
  await issuesOf('stays', 1, { labels: ['short-lived'] });
  const board = await boardOf('stays', { groupBy: 'label', columns: [{ value: label }, { value: null }] });
  await app.call('PATCH', `/api/v1/boards/${board.id}`, {
    filter: { or: [{ label: 'short-lived' }, { title: { startsWith: 'stays' } }] },
  });
  await app.call('DELETE', `/api/v1/labels/${label}`);
  const { columns } = await cardsOf(board);
  expect(columns.map(({ count }: Json) => count)).toEqual([0, 1]);
  await step('DELETE', `/boards/${board.id}`, undefined, { status: 204, events: ['board.deleted'] });
  expect((await app.call('GET', `/api/v1/boards/${board.id}/cards`)).status).toBe(404);
  await step('POST', `/boards/${board.id}/restore`, undefined, { status: 200, events: ['board.restored'] });
});

test('columns and lanes group by custom field values, and a move sets them', async () => {
  const field = (key: string, type: string, rest: object = {}) =>
    create('/fields', { key, name: key, type, ...rest });
  const options = ['high', 'none'].map((value) => ({ value, name: value.toUpperCase() }));
  const severity = await field('severity', 'select', { options, team: 'ENG' });
  await field('checked', 'checkbox');
  await field('reviewer', 'member');
  await field('notes', 'text');
  const me = (await app.call('GET', '/api/v1/me')).json.member.id;
  const [a = '', b = ''] = await issuesOf('valued', 2, { fields: { severity: 'none' } });
  const board = await boardOf('valued', { groupBy: 'fields.severity', swimlanes: 'fields.checked' });
  const response = await cardsOf(board, '?fields=title');
  expect(response.columns.map(({ key, title, count }: Json) => [key, title, count])).toEqual([
    ['-', 'No severity', 0],
    ['high', 'HIGH', 0],
    ['none', 'NONE', 2],
  ]);
  expect(response.lanes.map(({ key, title, count }: Json) => [key, title, count])).toEqual([
    ['none', 'No checked', 2],
    ['false', 'Not checked', 0],
    ['true', 'Checked', 0],
  ]);
  const path = `/boards/${board.id}/move`;
  const events = ['issue.updated', 'board.card_moved'];
  const to = { issueId: a, column: 'high', lane: 'true' };
  const moved = await step('POST', path, to, { status: 200, events });
  expect(moved.fields).toEqual({ severity: 'high', checked: true });
  // A move within a lane to the column without an option clears the field.
  const emptied = await step('POST', path, { issueId: a, column: '-' }, { status: 200, events });
  expect(emptied.fields).toEqual({ checked: true });
  await step('POST', path, to, { status: 200, events });
  const cellsOf = ({ columns }: Json): Json[] =>
    columns.flatMap(({ title, lanes }: Json) =>
      lanes.map((lane: Json) => [title, lane.key, lane.cards.map(({ id }: Json) => id)]),
    );
  const cells = cellsOf(await cardsOf(board));
  expect(cells).toEqual([
    ['HIGH', 'true', [a]],
    ['NONE', 'none', [b]],
  ]);
  const byMember = await boardOf('valued', {
    groupBy: 'fields.reviewer',
    columns: [{ value: me, limit: 1 }, { value: null }],
    limits: 'hard',
  });
  await step('POST', `/boards/${byMember.id}/move`, { issueId: b, column: me }, { status: 200, events });
  expect(await cardsByColumn(byMember)).toEqual({ [me]: [b], none: [a] });
  await step(
    'POST',
    `/boards/${byMember.id}/move`,
    { issueId: a, column: me },
    { status: 409, error: ['conflict'] },
  );
  for (const [body, detail] of [
    [{ groupBy: 'fields.notes' }, 'groupBy not_found'],
    [{ groupBy: 'fields.nothing' }, 'groupBy not_found'],
    [{ groupBy: 'fields.severity', team: 'OPS' }, 'groupBy not_found'],
    [{ swimlanes: 'label' }, 'swimlanes invalid_format'],
    [{ groupBy: 'fields.severity', columns: [{ value: 'low' }] }, 'columns.0.value not_found'],
  ] as const)
    await step(
      'POST',
      '/boards',
      { name: 'wrong', ...body },
      { status: 422, error: ['validation_failed', detail] },
    );
  const sequence = await app.lastSequence();
  await app.call('DELETE', `/api/v1/fields/${severity.id}`);
  expect((await cardsOf(board)).columns).toMatchObject([{ key: 'none', title: 'No value', count: 2 }]);
  expect(cellsOf(await cardsOf(board, `?asOf=${sequence}`))).toEqual(cells);
});
