// Issues over REST: the response and the events of each request.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { scenarioOf, type Scenario } from '../../scenario.ts';

let app: TestApp;
let step: Scenario;
let states: Json[];

beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
  states = (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
});
afterAll(() => app.stop());

const stateOf = (type: string): string => states.find((state) => state.type === type).id;

test('a created issue returns exactly five fields, with ETag and Location', async () => {
  const reply = await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'First' });
  expect(reply.status).toBe(201);
  expect(Object.keys(reply.json)).toEqual(['id', 'identifier', 'title', 'priority', 'url']);
  expect(reply.json).toMatchObject({
    identifier: 'ENG-1',
    title: 'First',
    priority: 'none',
    url: `${app.url}/issues/ENG-1`,
  });
  expect(reply.headers.get('location')).toBe(`${app.url}/api/v1/issues/${reply.json.id}`);
  expect(reply.headers.get('etag')).toMatch(/^"1-/);
});

test('an issue is created, updated, deleted and restored with the events of each step', async () => {
  const { id } = await step(
    'POST',
    '/issues',
    { team: 'ENG', title: 'Life', labels: ['BUG'] },
    { status: 201, events: ['issue.created'] },
  );
  const path = `/issues/${id}`;
  await step('PATCH', path, { title: 'Life' }, { status: 200, body: { version: 1 } });
  await step(
    'PATCH',
    path,
    { priority: 'high' },
    { status: 200, body: { version: 2, priority: 'high' }, events: ['issue.updated'] },
  );
  await step(
    'PATCH',
    path,
    { stateId: stateOf('started') },
    {
      status: 200,
      body: { version: 3, state: { type: 'started' } },
      events: ['issue.updated', 'issue.state_changed'],
    },
  );
  await step(
    'PATCH',
    path,
    { assigneeId: app.workspace.userId },
    { status: 200, body: { assignee: { name: 'Acme owner' } }, events: ['issue.updated', 'issue.assigned'] },
  );
  await step(
    'PATCH',
    path,
    { labels: ['feature', 'bug'] },
    {
      status: 200,
      body: { labels: [{ name: 'bug' }, { name: 'feature' }] },
      events: ['issue.updated', 'issue.labeled'],
    },
  );
  await step('PATCH', path, { labels: ['bug', 'feature'] }, { status: 200, body: { version: 5 } });
  await step(
    'PATCH',
    path,
    { stateId: stateOf('completed'), labels: [], assigneeId: null },
    {
      status: 200,
      body: { assignee: null, labels: [] },
      events: ['issue.updated', 'issue.state_changed', 'issue.assigned', 'issue.labeled'],
    },
  );
  await step('DELETE', path, undefined, { status: 204, events: ['issue.deleted'] });
  await step('GET', path, undefined, { status: 404, error: ['not_found'] });
  await step('PATCH', path, { title: 'x' }, { status: 404, error: ['not_found'] });
  await step('DELETE', path, undefined, { status: 404, error: ['not_found'] });
  await step('POST', `${path}/restore`, undefined, {
    status: 200,
    body: { title: 'Life' },
    events: ['issue.restored'],
  });
  await step('POST', `${path}/restore`, undefined, { status: 200 });
  const history = (await app.call('GET', `/api/v1${path}/history`)).json.data;
  expect(history.map((event: Json) => event.type)).toEqual([
    'issue.created',
    'issue.updated',
    'issue.updated',
    'issue.state_changed',
    'issue.updated',
    'issue.assigned',
    'issue.updated',
    'issue.labeled',
    'issue.updated',
    'issue.state_changed',
    'issue.assigned',
    'issue.labeled',
    'issue.deleted',
    'issue.restored',
  ]);
  expect(history[1].data.previous).toEqual({ priority: 'none' });
});

test('the team is given by `team`, `teamKey` or `teamId`, and contradictory values are refused', async () => {
  const ops = (await app.call('POST', '/api/v1/teams', { key: 'OPS' })).json;
  for (const naming of [
    { team: 'OPS' },
    { teamKey: 'OPS' },
    { teamId: ops.id },
    { team: 'OPS', teamId: ops.id },
  ])
    expect((await app.call('POST', '/api/v1/issues', { title: 'T', ...naming })).json.identifier).toMatch(
      /^OPS-\d+$/,
    );
  await step(
    'POST',
    '/issues',
    { title: 'T', team: 'ENG', teamId: ops.id },
    { status: 422, error: ['validation_failed', 'teamId conflict'] },
  );
});

test('identifiers of a team are unique and without gaps, also with concurrent and refused requests', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'RACE' });
  const replies = await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      app.call('POST', '/api/v1/issues', {
        team: 'RACE',
        title: `Race ${index}`,
        // Refused in planning, and refused inside the commit after a number was assigned.
        ...(index % 5 === 0 ? { labels: ['nope'] } : {}),
        ...(index % 7 === 0 ? { externalSource: 'race', externalId: 'one' } : {}),
      }),
    ),
  );
  const numbers = replies
    .filter(({ status }) => status === 201)
    .map(({ json }) => Number(json.identifier.slice(5)));
  // 60 have an unknown label, and one of the 34 others with the same external id succeeds.
  expect(numbers.length).toBe(300 - 60 - 33);
  expect(numbers.sort((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
  const sequences = (
    await app.services.store.readSystem<{ sequence: number }>({
      name: 'test',
      sql: '',
      reach: 'system',
      params: [],
      text: 'SELECT sequence FROM events ORDER BY sequence',
      returnsRows: true,
      chained: false,
      returning: null,
    })
  ).map(({ sequence }) => sequence);
  expect(sequences).toEqual(sequences.map((_, index) => index + 1));
});

test('a bulk creation succeeds or fails as a whole, with at most 100 issues', async () => {
  const issue = (title: string, more = {}) => ({ team: 'ENG', title, ...more });
  await step(
    'POST',
    '/issues/bulk',
    { issues: [issue('a'), issue('b', { priority: 'asap' })] },
    { status: 422, error: ['validation_failed', 'issues.1.priority invalid_enum'] },
  );
  await step(
    'POST',
    '/issues/bulk',
    { issues: [issue('a'), issue('b', { team: 'NOPE' })] },
    { status: 422, error: ['validation_failed', 'issues.1.team not_found'] },
  );
  await step(
    'POST',
    '/issues/bulk',
    { issues: [] },
    { status: 422, error: ['validation_failed', 'issues too_short'] },
  );
  await step(
    'POST',
    '/issues/bulk',
    { issues: Array.from({ length: 101 }, () => issue('x')) },
    { status: 422, error: ['validation_failed', 'issues too_long'] },
  );
  const { data } = await step(
    'POST',
    '/issues/bulk',
    { issues: [issue('a'), issue('b')] },
    { status: 201, events: ['issue.created', 'issue.created'] },
  );
  expect(Number(data[1].identifier.slice(4))).toBe(Number(data[0].identifier.slice(4)) + 1);
});

test('an external id is unique in the workspace', async () => {
  const external = { externalSource: 'jira', externalId: 'J-1' };
  await step(
    'POST',
    '/issues',
    { team: 'ENG', title: 'J', ...external },
    { status: 201, events: ['issue.created'] },
  );
  await step(
    'POST',
    '/issues',
    { team: 'OPS', title: 'J', ...external },
    { status: 409, error: ['conflict', 'externalId already_exists'] },
  );
  const twice = { team: 'ENG', title: 'K', externalSource: 'jira', externalId: 'J-2' };
  await step(
    'POST',
    '/issues/bulk',
    { issues: [twice, twice] },
    { status: 422, error: ['validation_failed', 'issues.1.externalId already_exists'] },
  );
  const replies = await Promise.all(
    Array.from({ length: 20 }, () => app.call('POST', '/api/v1/issues', twice)),
  );
  expect(replies.filter(({ status }) => status === 201).length).toBe(1);
});

test('transitions outside the workflow of a team are refused, and the error lists the allowed ones', async () => {
  const team = (await app.call('GET', '/api/v1/teams')).json.data.find((one: Json) => one.key === 'ENG');
  const [backlog, started] = [stateOf('backlog'), stateOf('started')];
  await step(
    'PATCH',
    `/teams/${team.id}`,
    { transitions: { [backlog]: [started] } },
    { status: 200, events: ['team.updated'] },
  );
  const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Moves' })).json;
  const refused = await step(
    'PATCH',
    `/issues/${id}`,
    { stateId: stateOf('completed') },
    { status: 409, error: ['transition_not_allowed', 'stateId conflict'] },
  );
  expect(refused.error.details[0].fix).toContain(started);
  await step(
    'PATCH',
    `/issues/${id}`,
    { stateId: started },
    { status: 200, events: ['issue.updated', 'issue.state_changed'] },
  );
  await step('PATCH', `/teams/${team.id}`, { transitions: null }, { status: 200, events: ['team.updated'] });
});

test('parents nest without cycles', async () => {
  const createIssue = async (title: string, more = {}): Promise<Json> =>
    (await app.call('POST', '/api/v1/issues', { team: 'ENG', title, ...more })).json;
  const a = await createIssue('a');
  const b = await createIssue('b', { parentId: a.id });
  expect((await app.call('GET', `/api/v1/issues/${b.id}?expand=parent`)).json.parent).toMatchObject({
    id: a.id,
    title: 'a',
  });
  await step(
    'PATCH',
    `/issues/${a.id}`,
    { parentId: b.id },
    { status: 422, error: ['validation_failed', 'parentId conflict'] },
  );
  await step(
    'PATCH',
    `/issues/${a.id}`,
    { parentId: a.id },
    { status: 422, error: ['validation_failed', 'parentId conflict'] },
  );
});

test('If-Match guards a write, If-None-Match saves a read, and simulate has no effect', async () => {
  const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Tags' })).json;
  const path = `/issues/${id}`;
  const read = await app.call('GET', `/api/v1${path}`);
  const etag = read.headers.get('etag')!;
  expect((await app.call('GET', `/api/v1${path}`, undefined, { 'if-none-match': etag })).status).toBe(304);
  await step(
    'PATCH',
    path,
    { priority: 'low' },
    { status: 200, headers: { 'if-match': etag }, events: ['issue.updated'] },
  );
  for (const tag of [etag, '"nonsense"']) {
    await step(
      'PATCH',
      path,
      { priority: 'high' },
      { status: 412, headers: { 'if-match': tag }, error: ['precondition_failed'] },
    );
    await step('DELETE', path, undefined, {
      status: 412,
      headers: { 'if-match': tag },
      error: ['precondition_failed'],
    });
  }
  await step('PATCH', path, { priority: 'low' }, { status: 200, headers: { 'if-match': '*' } });
  const simulated = await app.call(
    'PATCH',
    `/api/v1${path}`,
    { priority: 'urgent' },
    { 'tatami-mode': 'simulate' },
  );
  expect([simulated.json.priority, simulated.headers.get('tatami-mode')]).toEqual(['urgent', 'simulate']);
  expect((await app.call('GET', `/api/v1${path}`)).json.priority).toBe('low');
  const inMode = (mode: string) =>
    app.call('PATCH', `/api/v1${path}`, { priority: 'urgent' }, { 'tatami-mode': mode });
  expect(await inMode('propose')).toMatchObject({ status: 202, json: { status: 'open' } });
  expect((await app.call('GET', `/api/v1${path}`)).json.priority).toBe('low');
  expect(await inMode('dream')).toMatchObject({
    status: 422,
    json: { error: { details: [{ path: 'Tatami-Mode', issue: 'invalid_enum' }] } },
  });
});

test('concurrent patches all take effect, one after the other', async () => {
  const { id } = (await app.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Busy' })).json;
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      app.call('PATCH', `/api/v1/issues/${id}`, { estimate: index + 1 }),
    ),
  );
  const done = replies.filter(({ status }) => status === 200);
  expect(replies.every(({ status }) => status === 200 || status === 409)).toBe(true);
  expect((await app.call('GET', `/api/v1/issues/${id}`)).json.version).toBe(1 + done.length);
});
