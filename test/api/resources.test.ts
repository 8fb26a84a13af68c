// The life of each smaller resource over REST: the response and the exact events of every request.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../app.ts';
import { scenarioOf, type Scenario } from '../scenario.ts';

let app: TestApp;
let step: Scenario;

beforeAll(async () => {
  app = await startApp();
  step = scenarioOf(app);
});
afterAll(() => app.stop());

const gone = { status: 404, error: ['not_found'] } as const;
const make = async (path: string, body: object): Promise<Json> => {
  const { status, json } = await app.call('POST', `/api/v1${path}`, body);
  expect([status, json]).toMatchObject([201, {}]);
  return json;
};
const invalid = (...details: string[]): { status: number; error: [string, ...string[]] } => ({
  status: 422,
  error: ['validation_failed', ...details],
});
/** Number of `count` identical concurrent requests with status 201; all others must have 422. */
async function race(path: string, body: object, count = 20): Promise<number> {
  const replies = await Promise.all(
    Array.from({ length: count }, () => app.call('POST', `/api/v1${path}`, body)),
  );
  for (const { status } of replies) expect([201, 422]).toContain(status);
  return replies.filter(({ status }) => status === 201).length;
}

test('a thread has one level, is resolved by the id of its first comment, and is updated by its author', async () => {
  const issue = await make('/issues', { team: 'ENG', title: 'Discussed' });
  const list = `/issues/${issue.id}/comments`;
  const first = await step(
    'POST',
    list,
    { body: 'First' },
    {
      status: 201,
      body: {
        issue: { id: issue.id, identifier: issue.identifier },
        author: { kind: 'user', id: app.workspace.userId, name: 'Acme owner' },
        parentId: null,
        resolvedAt: null,
        version: 1,
      },
      events: ['comment.added'],
    },
  );
  const path = `/comments/${first.id}`;
  const inThread = { status: 201, body: { parentId: first.id }, events: ['comment.added'] };
  const reply = await step('POST', list, { body: 'Reply', parentId: first.id }, inThread);
  await step('POST', list, { body: 'Reply to the reply', parentId: reply.id }, inThread);
  const elsewhere = await make('/issues', { team: 'ENG', title: 'Elsewhere' });
  const misplaced = { body: 'x', parentId: first.id };
  await step('POST', `/issues/${elsewhere.id}/comments`, misplaced, invalid('parentId not_found'));
  for (const body of ['', ' \n', 'é'.repeat(40_000)])
    expect([body.length, (await app.call('POST', `/api/v1${list}`, { body })).status]).toEqual([
      body.length,
      422,
    ]);
  await step('PATCH', path, { body: 'First' }, { status: 200, body: { version: 1 } });
  await step(
    'PATCH',
    path,
    { body: 'Better' },
    { status: 200, body: { version: 2 }, events: ['comment.updated'] },
  );
  await step('POST', `/comments/${reply.id}/resolve`, undefined, { status: 409, error: ['conflict'] });
  await step('POST', `${path}/resolve`, undefined, {
    status: 200,
    body: { resolvedBy: { kind: 'user', id: app.workspace.userId, name: 'Acme owner' } },
    events: ['comment.resolved'],
  });
  await step('POST', `${path}/resolve`, undefined, { status: 200 });
  await step('POST', `${path}/unresolve`, undefined, {
    status: 200,
    body: { resolvedAt: null, resolvedBy: null },
    events: ['comment.unresolved'],
  });
  const stale = { status: 412, headers: { 'if-match': '"1-x"' }, error: ['precondition_failed'] } as const;
  await step('PATCH', path, { body: 'Stale' }, { ...stale, error: [...stale.error] });
  await step('DELETE', `/comments/${reply.id}`, undefined, { status: 204, events: ['comment.deleted'] });
  await step('GET', `/comments/${reply.id}`, undefined, { ...gone, error: [...gone.error] });
  const bodies = (await app.call('GET', `/api/v1${list}`)).json.data.map((comment: Json) => comment.body);
  expect(bodies).toEqual(['Better', 'Reply to the reply']);
});

test('comments are deleted and restored with their issue', async () => {
  const issue = await make('/issues', { team: 'ENG', title: 'Short-lived' });
  const comment = await make(`/issues/${issue.id}/comments`, { body: 'Mine' });
  await step('DELETE', `/issues/${issue.id}`, undefined, { status: 204, events: ['issue.deleted'] });
  await step('GET', `/issues/${issue.id}/comments`, undefined, { status: 404, error: ['not_found'] });
  await step('POST', `/issues/${issue.id}/comments`, { body: 'x' }, { status: 404, error: ['not_found'] });
  await step('GET', `/comments/${comment.id}`, undefined, { status: 404, error: ['not_found'] });
  await step('PATCH', `/comments/${comment.id}`, { body: 'x' }, { status: 404, error: ['not_found'] });
  await step('POST', `/comments/${comment.id}/resolve`, undefined, { status: 404, error: ['not_found'] });
  await step('DELETE', `/comments/${comment.id}`, undefined, { status: 404, error: ['not_found'] });
  await app.call('POST', `/api/v1/issues/${issue.id}/restore`);
  await step('GET', `/comments/${comment.id}`, undefined, { status: 200, body: { body: 'Mine' } });
});

test('a label name is unique in its team, and a deleted label is removed from issues', async () => {
  const label = await step(
    'POST',
    '/labels',
    { name: 'regression', color: '#b60205' },
    { status: 201, body: { team: null, version: 1 }, events: ['label.created'] },
  );
  const path = `/labels/${label.id}`;
  await step('POST', '/labels', { name: 'Regression' }, invalid('name already_exists'));
  await step('POST', '/labels', { name: 'x', color: 'red' }, invalid('color invalid_format'));
  await step('POST', '/labels', { name: 'x', team: 'NOPE' }, invalid('team not_found'));
  await step(
    'POST',
    '/labels',
    { name: 'regression', team: 'ENG' },
    { status: 201, body: { team: 'ENG' }, events: ['label.created'] },
  );
  await step('PATCH', path, { name: 'regression' }, { status: 200, body: { version: 1 } });
  await step(
    'PATCH',
    path,
    { color: '#000000' },
    { status: 200, body: { version: 2 }, events: ['label.updated'] },
  );
  await step('PATCH', path, { name: 'BUG' }, invalid('name already_exists'));
  const issue = await make('/issues', { team: 'ENG', title: 'Labelled', labels: [label.id, 'bug'] });
  await step('DELETE', path, undefined, {
    status: 204,
    events: ['label.deleted', 'issue.updated', 'issue.labeled'],
  });
  await step('GET', path, undefined, { status: 404, error: ['not_found'] });
  const current = { status: 200, body: { labels: [{ name: 'bug' }], version: 2 } };
  await step('GET', `/issues/${issue.id}`, undefined, current);
  // Setting the shown labels again is no change.
  await step('PATCH', `/issues/${issue.id}`, { labels: ['bug'] }, current);
  expect(await race('/labels', { name: 'contested' })).toBe(1);
});

test('a value that is no longer allowed does not prevent a change of other fields', async () => {
  const team = await make('/teams', { key: 'OLD' });
  const states = (await app.call('GET', '/api/v1/workflows?team=OLD')).json.data;
  const [todo, extra] = [
    states[2].id,
    (await make('/workflows', { team: 'OLD', name: 'Extra', type: 'started' })).id,
  ];
  await app.call('PATCH', `/api/v1/teams/${team.id}`, { transitions: { [todo]: [extra] } });
  expect((await app.call('DELETE', `/api/v1/workflows/${extra}`)).status).toBe(204);
  const renamed = { status: 200, body: { name: 'Older' }, events: ['team.updated'] };
  await step('PATCH', `/teams/${team.id}`, { name: 'Older' }, renamed);
  await step(
    'PATCH',
    `/teams/${team.id}`,
    { transitions: { [todo]: [todo, extra] } },
    invalid(`transitions.${todo}.1 not_found`),
  );
  const lead = await make('/members', { name: 'Leaving soon' });
  const project = await make('/projects', { name: 'Led', leadId: lead.id });
  await app.call('DELETE', `/api/v1/members/${lead.id}`);
  const atRisk = { status: 200, body: { lead: { id: lead.id } }, events: ['project.updated'] };
  await step('PATCH', `/projects/${project.id}`, { health: 'at_risk' }, atRisk);
});

test('a comment on a missing issue is answered with 404, also if its text is invalid', async () => {
  const nowhere = '/issues/iss_00000000000000000000000001/comments';
  await step('POST', nowhere, { body: 'é'.repeat(40_000) }, { status: 404, error: ['not_found'] });
});

test('a project has ordered dates and an existing lead', async () => {
  const project = await step(
    'POST',
    '/projects',
    { name: 'Spring', startDate: '2027-01-01', targetDate: '2027-03-01' },
    { status: 201, body: { status: 'backlog', health: null, lead: null }, events: ['project.created'] },
  );
  const path = `/projects/${project.id}`;
  await step('PATCH', path, { name: 'Spring' }, { status: 200, body: { version: 1 } });
  await step(
    'PATCH',
    path,
    { status: 'started', health: 'at_risk', leadId: app.workspace.userId },
    {
      status: 200,
      body: { version: 2, lead: { id: app.workspace.userId, name: 'Acme owner' } },
      events: ['project.updated'],
    },
  );
  await step('PATCH', path, { targetDate: '2026-12-31' }, invalid('targetDate too_small'));
  await step('PATCH', path, { startDate: '2027-02-30' }, invalid('startDate invalid_format'));
  await step('PATCH', path, { leadId: 'usr_00000000000000000000000001' }, invalid('leadId not_found'));
  const leaving = await make('/members', { name: 'Leaving' });
  await app.call('DELETE', `/api/v1/members/${leaving.id}`);
  await step('PATCH', path, { leadId: leaving.id }, invalid('leadId not_found'));
  await step('GET', '/projects?status=started', undefined, {
    status: 200,
    body: { data: [{ id: project.id }] },
  });
  await step('GET', '/projects?status=paused', undefined, { status: 200, body: { data: [] } });
  await step('DELETE', path, undefined, { status: 204, events: ['project.deleted'] });
});

test('a new team has its default states and accepts issues at once', async () => {
  const team = await step(
    'POST',
    '/teams',
    { key: 'DES', name: 'Design' },
    {
      status: 201,
      body: { key: 'DES', transitions: null },
      events: ['team.created', ...Array(7).fill('workflow.state_created')],
    },
  );
  await step('POST', '/teams', { key: 'DES' }, invalid('key already_exists'));
  for (const key of ['des', '1A', 'TOOLONGAKEY', '', 'É'])
    expect([key, (await app.call('POST', '/api/v1/teams', { key })).json.error.details[0]]).toMatchObject([
      key,
      { path: 'key', issue: 'invalid_format' },
    ]);
  await step('PATCH', `/teams/${team.id}`, { name: 'Design' }, { status: 200, body: { version: 1 } });
  await step('PATCH', `/teams/${team.id}`, { name: 'Looks' }, { status: 200, events: ['team.updated'] });
  await step('PATCH', `/teams/${team.id}`, { key: 'NEW' }, invalid('key unknown_field'));
  const { identifier } = await make('/issues', { team: 'DES', title: 'First' });
  expect(identifier).toBe('DES-1');
  expect(await race('/teams', { key: 'RACE' })).toBe(1);
});

test('a workflow state can be deleted only while it is unused', async () => {
  const list = async (): Promise<Json[]> => (await app.call('GET', '/api/v1/workflows?team=ENG')).json.data;
  const states = await list();
  expect(states.map(({ name, type, position }) => [name, type, position])).toEqual([
    ['Triage', 'triage', 0],
    ['Backlog', 'backlog', 1],
    ['Todo', 'unstarted', 2],
    ['In Progress', 'started', 3],
    ['Done', 'completed', 4],
    ['Canceled', 'canceled', 5],
    ['Duplicate', 'duplicate', 6],
  ]);
  const state = await step(
    'POST',
    '/workflows',
    { team: 'ENG', name: 'Dropped', type: 'cancelled', position: 1000 },
    { status: 201, body: { type: 'canceled' }, events: ['workflow.state_created'] },
  );
  const next = await make('/workflows', { team: 'ENG', name: 'After all', type: 'completed' });
  expect(next.position).toBe(1000);
  const path = `/workflows/${state.id}`;
  await step(
    'POST',
    '/workflows',
    { team: 'ENG', name: 'dropped', type: 'started' },
    invalid('name already_exists'),
  );
  await step('PATCH', path, { position: 1000 }, { status: 200, body: { version: 1 } });
  await step('PATCH', path, { name: 'Gone' }, { status: 200, events: ['workflow.state_updated'] });
  await step('PATCH', path, { type: 'started' }, invalid('type unknown_field'));
  const backlog = states.find(({ type }) => type === 'backlog')!;
  const issue = await make('/issues', { team: 'ENG', title: 'Standing', stateId: state.id });
  await step('DELETE', path, undefined, { status: 409, error: ['conflict'] });
  await step('DELETE', `/issues/${issue.id}`, undefined, { status: 204, events: ['issue.deleted'] });
  await step('DELETE', path, undefined, { status: 204, events: ['workflow.state_deleted'] });
  await step('DELETE', path, undefined, { status: 404, error: ['not_found'] });
  await step('POST', '/issues', { team: 'ENG', title: 'x', stateId: state.id }, invalid('stateId not_found'));
  // A deleted issue of a deleted state is restored to the default state.
  await step('POST', `/issues/${issue.id}/restore`, undefined, {
    status: 200,
    body: { state: { id: backlog.id, name: 'Backlog', type: 'backlog' } },
    events: ['issue.restored'],
  });
  for (const { id } of (await app.call('GET', '/api/v1/issues?team=ENG&state=backlog')).json.data)
    await app.call('DELETE', `/api/v1/issues/${id}`);
  await step('DELETE', `/workflows/${backlog.id}`, undefined, { status: 409, error: ['conflict'] });
  expect(await race('/workflows', { team: 'ENG', name: 'Contested', type: 'started' })).toBe(1);
});

test('an issue that moved into a state during the deletion of the state still shows the whole state', async () => {
  for (let round = 0; round < 10; round++) {
    const state = await make('/workflows', { team: 'ENG', name: `Fleeting ${round}`, type: 'started' });
    const issue = await make('/issues', { team: 'ENG', title: 'Mover' });
    await Promise.all([
      app.call('PATCH', `/api/v1/issues/${issue.id}`, { stateId: state.id }),
      app.call('DELETE', `/api/v1/workflows/${state.id}`),
    ]);
    const current = (await app.call('GET', `/api/v1/issues/${issue.id}`)).json.state;
    expect([current.name, current.type]).toEqual(
      current.id === state.id ? [`Fleeting ${round}`, 'started'] : ['Backlog', 'backlog'],
    );
  }
});

test('a removed member remains on old issues, is refused on new ones, and the last owner cannot be removed', async () => {
  const member = await step(
    'POST',
    '/members',
    { name: 'Ana', email: 'ana@acme.example' },
    { status: 201, body: { role: 'member' }, events: ['member.added'] },
  );
  const path = `/members/${member.id}`;
  await step('POST', '/members', { name: 'B', email: 'ANA@acme.example' }, invalid('email already_exists'));
  await step('POST', '/members', { name: 'B', email: 'nowhere' }, invalid('email invalid_format'));
  await step('PATCH', path, { role: 'member' }, { status: 200, body: { version: 1 } });
  await step('PATCH', path, { role: 'admin' }, { status: 200, events: ['member.updated'] });
  const issue = await make('/issues', { team: 'ENG', title: 'Hers', assigneeId: member.id });
  // Her notification follows.
  await app.settled();
  await step('DELETE', path, undefined, { status: 204, events: ['member.removed'] });
  await step('GET', path, undefined, { status: 404, error: ['not_found'] });
  await step('GET', `/issues/${issue.id}`, undefined, { status: 200, body: { assignee: { name: 'Ana' } } });
  await step(
    'POST',
    '/issues',
    { team: 'ENG', title: 'x', assigneeId: member.id },
    invalid('assigneeId not_found'),
  );
  const owner = `/members/${app.workspace.userId}`;
  await step('DELETE', owner, undefined, { status: 409, error: ['conflict'] });
  await step('PATCH', owner, { role: 'guest' }, { status: 409, error: ['conflict'] });
  expect(await race('/members', { name: 'Eve', email: 'eve@acme.example' })).toBe(1);
});

test('two owners who leave at the same time cannot leave the workspace without an owner', async () => {
  const { id: other } = await make('/members', { name: 'Co-owner', role: 'owner' });
  const scopes = ['members:write'];
  const { key } = await make('/api-keys', { name: 'Co-owner', scopes, memberId: other });
  const owners = [
    { id: other, call: app.clientOf(key) },
    { id: app.workspace.userId, call: app.call },
  ];
  for (let round = 0; round < 10; round++) {
    const replies = await Promise.all(
      owners.map(({ id, call }) => call('PATCH', `/api/v1/members/${id}`, { role: 'admin' })),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
    const left = owners[replies.findIndex(({ status }) => status === 409)]!;
    for (const { id } of owners)
      expect((await left.call('PATCH', `/api/v1/members/${id}`, { role: 'owner' })).status).toBe(200);
  }
});

test('the workspace can be renamed', async () => {
  await step('PATCH', '/workspace', { name: 'Acme' }, { status: 200, body: { version: 1 } });
  await step('PATCH', '/workspace', { name: 'Apex' }, { status: 200, events: ['workspace.updated'] });
  await step('GET', '/workspace', undefined, {
    status: 200,
    body: { id: app.workspace.workspaceId, name: 'Apex' },
  });
});
